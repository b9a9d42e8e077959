//! Chat completions: a thin adapter of our own, since the bytes of a request are what the product promises (see
//! docs/adr/0001-thin-provider-adapters.md). What it shares with the others is in [`super::wire`].

mod answer;
mod body;
mod window;

use super::wire::{Asking, Base, Protocol, credential};
use super::{Config, ConfigError, Secret};
pub(super) use answer::Said;
use body::Body;
use deputize_core::message::Request;
use deputize_runtime::port::Delta;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::Value;
pub(super) use window::context_window;

/// The protocol of chat completions. Blocks of reasoning are never sent: it has no place for them.
pub(super) struct Chat {
    limit: &'static str,
}

impl Protocol for Chat {
    type Answer = Said;
    const OWN: &'static [&'static str] = &["model", "tools", "messages", "stream"];

    fn new(_: &Config, base: &Base) -> Chat {
        // OpenAI itself has renamed the limit; every other server knows the old name, few the new one.
        Chat { limit: if base.host() == "api.openai.com" { "max_completion_tokens" } else { "max_tokens" } }
    }

    fn headers(key: Option<&Secret>) -> Result<HeaderMap, ConfigError> {
        let key = key.map(|key| credential("Bearer ", key)).transpose()?;
        Ok(key.map(|key| (AUTHORIZATION, key)).into_iter().collect())
    }

    fn url(&self, base: &Base, _: &str, _: bool) -> Url {
        base.at(&["chat", "completions"])
    }

    fn body(&self, asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error> {
        let Asking { request, stream, extra } = *asking;
        Body { request, stream, limit: self.limit, extra }.bytes()
    }

    fn answer(&self, _: &Request, sent: usize, delta: Delta) -> Said {
        Said::new(sent, delta)
    }

    fn names(list: &Value) -> Option<Vec<String>> {
        let list = list.get("data")?.as_array()?;
        Some(list.iter().filter_map(|model| model.get("id")?.as_str().map(String::from)).collect())
    }
}
