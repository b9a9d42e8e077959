//! Ollama's own interface (`/api/chat`): what it shares with the others is in [`super::wire`].
//!
//! Servers of this kind speak chat completions too, but there the context window cannot be set, and a prompt that is longer
//! than it is cut without a word.

mod answer;
mod body;
mod window;

use super::wire::{self, Asking, Base, Protocol, credential};
use super::{Config, ConfigError, Secret};
pub(super) use answer::Said;
use body::Body;
use deputize_core::message::Request;
use deputize_core::step::Failure;
use deputize_runtime::port::Delta;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Value, json};
use window::Windows;

/// The protocol of `/api/chat`.
pub(super) struct Native {
    windows: Windows,
}

impl Protocol for Native {
    type Answer = Said;
    const OWN: &'static [&'static str] = &body::OWN;
    const LINES: bool = true;

    fn new(config: &Config, _: &Base) -> Native {
        Native { windows: Windows::new(config.context.clone()) }
    }

    /// A server of one's own needs no key; one behind a gateway may.
    fn headers(key: Option<&Secret>) -> Result<HeaderMap, ConfigError> {
        let key = key.map(|key| credential("Bearer ", key)).transpose()?;
        Ok(key.map(|key| (AUTHORIZATION, key)).into_iter().collect())
    }

    fn url(&self, base: &Base, _: &str, _: bool) -> Url {
        root(base).at(&["api", "chat"])
    }

    fn list(base: &Base) -> Url {
        root(base).at(&["api", "tags"])
    }

    fn body(&self, asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error> {
        let Asking { request, stream, extra } = *asking;
        let bare = Body { request, stream, num_ctx: None, extra }.bytes()?;
        let num_ctx = Some(self.windows.fitting(request.model.model(), bare.len(), request.max_output));
        Body { request, stream, num_ctx, extra }.bytes()
    }

    fn answer(&self, request: &Request, sent: usize, delta: Delta) -> Said {
        Said::new(request.model.clone(), sent, delta)
    }

    fn hint(model: &str) -> String {
        if model.is_empty() { "is Ollama there?".to_string() } else { format!("`ollama pull {model}` gets the model") }
    }

    fn names(list: &Value) -> Option<Vec<String>> {
        let list = list.get("models")?.as_array()?;
        Some(list.iter().filter_map(|model| model.get("name")?.as_str().map(String::from)).collect())
    }
}

/// The window that the model's own file sets, else the one it was trained with.
pub(super) async fn context_window(config: &Config, key: Option<&Secret>, model: &str) -> Result<Option<u64>, Failure> {
    let url = root(&wire::base(config)?).at(&["api", "show"]);
    let about = wire::ask::<Native>(config, key, model, url, Some(&json!({ "model": model }))).await?;
    Ok(window::shown(&about))
}

/// Whether the server at the address says its version as only Ollama does: others imitate its list of models.
pub(super) async fn is_there(base_url: &str) -> bool {
    let config = Config { base_url: base_url.to_string(), ..Config::default() };
    let Ok(base) = wire::base(&config) else { return false };
    let said = wire::ask::<Native>(&config, None, "", root(&base).at(&["api", "version"]), None).await;
    said.is_ok_and(|said| said.get("version").is_some_and(Value::is_string))
}

/// The address without the `/v1` at its end, which only the other interface has.
fn root(base: &Base) -> Base {
    base.without("v1")
}

#[cfg(test)]
mod tests;
