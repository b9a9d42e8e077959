//! Looking at a provider without spending a token: the list of its models is asked for, and what goes wrong is told by its
//! layer.

use super::address::{self, Base, Headers};
use super::failure::{self, Asked};
use super::stream::{self, Reader};
use super::{Protocol, client};
use crate::provider::layer::{Layer, Look, Trouble};
use crate::provider::redact::redact;
use crate::provider::{Config, ConfigError, Secret, Timeouts};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use tokio::time::timeout;

/// The names of the models, or the layer that fails.
pub(in crate::provider) async fn examine<P: Protocol>(
    config: &Config,
    key: Option<&Secret>,
    look: Look,
) -> Result<Vec<String>, Trouble> {
    let mut secrets = address::secrets(config);
    secrets.extend(key.cloned());
    secrets.extend(config.proxy_auth.clone());
    let found = match timeout(look.patience, exchange::<P>(config, key, look)).await {
        Ok(found) => found,
        Err(_) => {
            let why = format!("{} is reached and says nothing for {} s", config.base_url, look.patience.as_secs_f64());
            Err(Trouble::new(Layer::Answer, why))
        }
    };
    found.map_err(|trouble| Trouble { why: redact(&trouble.why, &secrets), ..trouble })
}

fn unusable(error: ConfigError) -> Trouble {
    Trouble::new(Layer::of_settings(&error), error.to_string())
}

async fn exchange<P: Protocol>(config: &Config, key: Option<&Secret>, look: Look) -> Result<Vec<String>, Trouble> {
    let base = Base::new(&config.base_url).map_err(unusable)?;
    let url = P::list(&base);
    let shown = address::shown(&url);
    let headers = Headers::new(config, P::headers(key).map_err(unusable)?).map_err(unusable)?.plain();
    // Shorter than the whole, so that a connection that never stands is told from an answer that never comes.
    let client = client::new(config, &base, look.patience / 2).map_err(unusable)?;
    let proxied = config.proxy.as_ref().map_or(look.proxied, |proxy| proxy != client::NO_PROXY);
    let sent = client.get(url).headers(headers).send().await;
    let response = sent.map_err(|e| {
        let layer = Layer::of_broken(&e, proxied);
        let late = if e.is_timeout() { "no connection in time: " } else { "" };
        Trouble::new(layer, format!("{shown} cannot be reached: {late}{}", failure::causes(&e)))
    })?;
    let (status, headers, times) = (response.status(), response.headers().clone(), Timeouts::default());
    let reader = Reader::new(response.bytes_stream(), &times, stream::LONGEST);
    if !status.is_success() {
        let layer = Layer::of_status(status.as_u16());
        let body = reader.beginning().await;
        if layer == Layer::Address && is_page(&headers, &body) {
            return Err(page(&shown));
        }
        if status.as_u16() == 404 {
            return Err(Trouble::new(layer, format!("{shown} is not there, the server answers 404")));
        }
        let asked = Asked { model: "", address: &shown, hint: "" };
        let failure = failure::of_response(status.as_u16(), &headers, &body, failure::wait(&headers), &asked);
        return Err(Trouble::new(layer, failure.why.replacen(" for ``", "", 1)));
    }
    let whole = reader.whole().await.map_err(|failure| Trouble::new(Layer::Answer, failure.why))?;
    if is_page(&headers, &whole) {
        return Err(page(&shown));
    }
    let list = serde_json::from_slice(&whole).unwrap_or_default();
    let wrong = || Trouble::new(Layer::Answer, format!("{shown} does not answer with a list of models"));
    P::names(&list).ok_or_else(wrong)
}

/// A page for people, as a web server or a login of the network gives it.
fn is_page(headers: &HeaderMap, body: &[u8]) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.contains("html") || body.trim_ascii_start().starts_with(b"<")
}

fn page(shown: &str) -> Trouble {
    Trouble::new(Layer::Answer, format!("{shown} answers with a web page, not as a model server does"))
}
