//! Questions beside the calls: which models there are, what is known about one. Each waits three seconds at most.

use super::address::{self, Base, Headers};
use super::failure::{self, Asked};
use super::stream::{self, Reader};
use super::{Protocol, client};
use crate::provider::redact::redact;
use crate::provider::{Config, ConfigError, Secret, Timeouts};
use deputize_core::code;
use deputize_core::step::Failure;
use reqwest::Url;
use serde_json::Value;
use std::time::Duration;
use tokio::time::timeout;

/// How long an answer may take, all in all.
const WAIT: Duration = Duration::from_secs(3);

/// The address of these settings.
pub(in crate::provider) fn base(config: &Config) -> Result<Base, Failure> {
    Base::new(&config.base_url).map_err(unusable)
}

fn unusable(error: ConfigError) -> Failure {
    Failure::fixed(code::MODEL_REQUEST, error.to_string())
}

/// The names of the models behind an address, in its own order.
pub(in crate::provider) async fn list_models<P: Protocol>(
    config: &Config,
    key: Option<&Secret>,
) -> Result<Vec<String>, Failure> {
    let url = P::list(&base(config)?);
    let shown = address::shown(&url);
    let list = ask::<P>(config, key, "", url, None).await?;
    let wrong = || Failure::fixed(code::MODEL_MALFORMED, format!("{shown} does not answer with a list of models"));
    P::names(&list).ok_or_else(wrong)
}

/// What an address answers, as JSON; null when it is none. With a body it is posted. `model` is for messages.
pub(in crate::provider) async fn ask<P: Protocol>(
    config: &Config,
    key: Option<&Secret>,
    model: &str,
    url: Url,
    body: Option<&Value>,
) -> Result<Value, Failure> {
    let mut secrets = address::secrets(config);
    secrets.extend(key.cloned());
    secrets.extend(config.proxy_auth.clone());
    let answer = match timeout(WAIT, exchange::<P>(config, key, model, url, body)).await {
        Ok(answer) => answer,
        Err(_) => Err(failure::late("answer", WAIT)),
    };
    answer.map_err(|failure| Failure { why: redact(&failure.why, &secrets), ..failure })
}

async fn exchange<P: Protocol>(
    config: &Config,
    key: Option<&Secret>,
    model: &str,
    url: Url,
    body: Option<&Value>,
) -> Result<Value, Failure> {
    let (address, hint) = (address::shown(&url), P::hint(model));
    let asked = Asked { model, address: &address, hint: &hint };
    let fixed = P::headers(key).map_err(unusable)?;
    let headers = Headers::new(config, fixed).map_err(unusable)?.plain();
    let client = client::new(config, &base(config)?, WAIT).map_err(unusable)?;
    let request = match body {
        Some(body) => client.post(url).body(body.to_string()),
        None => client.get(url),
    };
    let response = request.headers(headers).send().await.map_err(|e| failure::of_send(&e, &asked))?;
    let (status, headers, times) = (response.status(), response.headers().clone(), Timeouts::default());
    let reader = Reader::new(response.bytes_stream(), &times, stream::LONGEST);
    if !status.is_success() {
        let body = reader.beginning().await;
        return Err(failure::of_response(status.as_u16(), &headers, &body, failure::wait(&headers), &asked));
    }
    Ok(serde_json::from_slice(&reader.whole().await?).unwrap_or_default())
}
