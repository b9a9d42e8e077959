//! Anthropic's Messages API: which headers it wants, where it is, and what its rate limits say. The bytes of a request are in
//! `body`, the reading of an answer in `answer`, what differs between models in `generation`.

mod answer;
mod body;
mod generation;
mod moment;
mod schema;

use super::wire::{Asking, Base, Protocol, credential, now};
use super::{Config, ConfigError, Secret};
use answer::Said;
use deputize_core::message::Request;
use deputize_runtime::port::Delta;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use std::time::Duration;

/// The version of the API that this adapter speaks.
const VERSION: &str = "2023-06-01";
/// The limits that error responses tell about, each with what is left of it and when it is full again.
const LIMITS: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

/// The protocol of the Messages API.
pub(super) struct Messages;

impl Protocol for Messages {
    type Answer = Said;
    const OWN: &'static [&'static str] = &["model", "tools", "system", "messages", "stream"];

    fn new(_: &Config, _: &Base) -> Messages {
        Messages
    }

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, ConfigError> {
        let version = (HeaderName::from_static("anthropic-version"), HeaderValue::from_static(VERSION));
        let key = key.map(|key| credential("", key)).transpose()?;
        let key = key.map(|key| (HeaderName::from_static("x-api-key"), key));
        Ok([version].into_iter().chain(key).collect())
    }

    fn url(&self, base: &Base, _: &str, _: bool) -> Url {
        base.at(&["messages"])
    }

    fn body(&self, asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error> {
        body::bytes(asking)
    }

    fn answer(&self, request: &Request, sent: usize, delta: Delta) -> Said {
        Said::new(request.model.clone(), sent, delta)
    }

    /// Until the last of the limits that are used up is full again.
    fn wait(headers: &HeaderMap, _: &[u8]) -> Option<Duration> {
        let text = |limit: &str, what: &str| headers.get(format!("anthropic-ratelimit-{limit}-{what}"))?.to_str().ok();
        let spent = LIMITS.into_iter().filter(|limit| text(limit, "remaining") == Some("0"));
        let full = spent.filter_map(|limit| moment::parse(text(limit, "reset")?)).max()?;
        Some(full.duration_since(now(headers)).unwrap_or_default())
    }

    fn names(list: &Value) -> Option<Vec<String>> {
        let list = list.get("data")?.as_array()?;
        Some(list.iter().filter_map(|model| model.get("id")?.as_str().map(String::from)).collect())
    }
}
