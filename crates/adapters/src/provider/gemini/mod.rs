//! Gemini's own interface (`generateContent`): what it shares with the others is in [`super::wire`].

mod answer;
mod body;
mod parts;

use super::wire::{self, Asking, Base, Protocol, credential};
use super::{Config, ConfigError, Secret};
pub(super) use answer::Said;
use deputize_core::message::Request;
use deputize_core::step::Failure;
use deputize_runtime::port::Delta;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName};
use serde_json::Value;
use std::time::Duration;

/// The protocol of `generateContent`.
pub(super) struct Generate;

impl Protocol for Generate {
    type Answer = Said;
    const OWN: &'static [&'static str] = &body::OWN;

    fn new(_: &Config, _: &Base) -> Generate {
        Generate
    }

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, ConfigError> {
        // In the address it would stand in every log on the way.
        let key = key.map(|key| credential("", key)).transpose()?;
        Ok(key.map(|key| (HeaderName::from_static("x-goog-api-key"), key)).into_iter().collect())
    }

    fn url(&self, base: &Base, model: &str, stream: bool) -> Url {
        let method = if stream { "streamGenerateContent" } else { "generateContent" };
        let mut url = base.at(&resource(&format!("{model}:{method}")));
        if stream {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        url
    }

    fn hint(_: &str) -> String {
        "is its /v1beta missing?".to_string()
    }

    fn list(base: &Base) -> Url {
        let mut url = base.at(&["models"]);
        // More than there are; a page without this holds fifty.
        url.query_pairs_mut().append_pair("pageSize", "1000");
        url
    }

    fn body(&self, asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error> {
        body::bytes(asking.request, asking.extra)
    }

    fn answer(&self, request: &Request, sent: usize, delta: Delta) -> Said {
        Said::new(request.model.clone(), sent, delta)
    }

    fn wait(_: &HeaderMap, body: &[u8]) -> Option<Duration> {
        let body: Value = serde_json::from_slice(body).ok()?;
        // A stream's error is a list with one element.
        wait(body.get(0).unwrap_or(&body).get("error")?)
    }

    fn names(list: &Value) -> Option<Vec<String>> {
        let answers = |model: &&Value| {
            let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
            methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"))
        };
        let name = |model: &Value| {
            let name = model.get("name")?.as_str()?;
            Some(name.strip_prefix("models/").unwrap_or(name).to_string())
        };
        Some(list.get("models")?.as_array()?.iter().filter(answers).filter_map(name).collect())
    }
}

/// The most tokens that a model takes in.
pub(super) async fn context_window(config: &Config, key: Option<&Secret>, model: &str) -> Result<Option<u64>, Failure> {
    let url = wire::base(config)?.at(&resource(model));
    let about = wire::ask::<Generate>(config, key, model, url, None).await?;
    Ok(wire::count(about.get("inputTokenLimit")))
}

/// Where a model is: below `models` unless its name says otherwise, as those of tuned models do.
fn resource(model: &str) -> Vec<&str> {
    if model.contains('/') { model.split('/').collect() } else { vec!["models", model] }
}

/// How long an error asks to wait: a duration such as `45.8s` in its details, since there is no header for it.
fn wait(error: &Value) -> Option<Duration> {
    let delay = error.get("details")?.as_array()?.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(delay.strip_suffix('s')?.parse().ok()?).ok()
}

#[cfg(test)]
mod tests;
