//! Model providers: the implementations of the runtime's `Model` port, and what they share (settings, secrets, redaction).
//!
//! Owns the bytes on the wire and what a provider's errors mean. Does not own retries, budgets or the layout of a
//! conversation: those are the core's, and one call here is one request.

mod anthropic;
mod config;
mod gemini;
mod layer;
mod limit;
mod ollama;
mod openai;
mod overlay;
pub mod redact;
mod router;
pub mod scripted;
mod tokens;
mod wire;

pub use config::{Config, ConfigError, Kind, Limits, Timeouts};
pub use deputize_runtime::secret::Secret;
pub use layer::{Layer, Look, Trouble};
pub use limit::Limiters;
pub use router::Router;
pub use scripted::Scripted;
pub use wire::Sse;

pub(crate) use tokens::estimate;

use anthropic::Messages;
use deputize_core::id::ModelName;
use deputize_core::message::{Message, Request, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Model, Who};
use gemini::Generate;
use ollama::Native;
use openai::Chat;
use std::path::Path;
use std::sync::Arc;
use wire::Http;

/// Output tokens of a call that only looks whether there is an answer.
const WORD: u64 = 16;

/// Makes the provider that a configuration describes; `folder` is what a script's path is relative to.
///
/// The caller decides whether `key` may go to this address; here it is sent wherever `base_url` points. The limits hold for
/// the whole process: [`build_within`] takes another register.
///
/// # Errors
/// The address, a header, the extra body or the script cannot be used; the text says which and what to write.
pub fn build(config: &Config, key: Option<Secret>, folder: &Path) -> Result<Arc<dyn Model>, ConfigError> {
    build_within(config, key, folder, Limiters::process())
}

/// As [`build`], under the limits of a register of the caller's.
///
/// # Errors
/// As [`build`].
pub fn build_within(
    config: &Config,
    key: Option<Secret>,
    folder: &Path,
    limiters: &Limiters,
) -> Result<Arc<dyn Model>, ConfigError> {
    let model = unlimited(config, key, folder)?;
    // A script has no server that could be asked too much.
    Ok(if config.kind == Kind::Scripted { model } else { limiters.limit(config, model) })
}

fn unlimited(config: &Config, key: Option<Secret>, folder: &Path) -> Result<Arc<dyn Model>, ConfigError> {
    match config.kind {
        Kind::Openai => Ok(Arc::new(Http::<Chat>::new(config, key)?)),
        Kind::Gemini => Ok(Arc::new(Http::<Generate>::new(config, key)?)),
        Kind::Ollama => Ok(Arc::new(Http::<Native>::new(config, key)?)),
        Kind::Anthropic => Ok(Arc::new(Http::<Messages>::new(config, key)?)),
        Kind::Scripted => {
            let script = config.script.as_ref().ok_or(ConfigError::NoScript)?;
            Ok(Arc::new(Scripted::load(&folder.join(script))?.forgetful()))
        }
    }
}

/// The names of the models behind an address, in its own order. For discovery: waits three seconds at most.
///
/// # Errors
/// The address cannot be used, does not answer in time, or answers with something else than a list of models.
pub async fn list_models(kind: Kind, base_url: &str, key: Option<&Secret>) -> Result<Vec<String>, Failure> {
    models_of(&Config { kind, base_url: base_url.to_string(), ..Config::default() }, key).await
}

/// As [`list_models`], by the way that these settings say: their certificates, their proxy.
///
/// # Errors
/// As [`list_models`].
pub async fn models_of(config: &Config, key: Option<&Secret>) -> Result<Vec<String>, Failure> {
    match config.kind {
        Kind::Openai => wire::list_models::<Chat>(config, key).await,
        Kind::Gemini => wire::list_models::<Generate>(config, key).await,
        Kind::Ollama => wire::list_models::<Native>(config, key).await,
        Kind::Anthropic => wire::list_models::<Messages>(config, key).await,
        Kind::Scripted => Ok(Vec::new()),
    }
}

/// The context window of a model in tokens, as its server tells; none when it does not tell. Waits three seconds at most.
///
/// # Errors
/// The address cannot be used, does not answer in time, or has no such model.
pub async fn context_window(config: &Config, key: Option<&Secret>, model: &str) -> Result<Option<u64>, Failure> {
    match config.kind {
        Kind::Gemini => gemini::context_window(config, key, model).await,
        Kind::Ollama => ollama::context_window(config, key, model).await,
        Kind::Openai => openai::context_window(config, key, model).await,
        // These have no place for it.
        Kind::Anthropic | Kind::Scripted => Ok(None),
    }
}

/// Looks at a provider without spending a token.
///
/// # Errors
/// The layer that fails, and why.
pub async fn examine(config: &Config, key: Option<&Secret>, look: Look) -> Result<Vec<String>, Trouble> {
    match config.kind {
        Kind::Openai => wire::examine::<Chat>(config, key, look).await,
        Kind::Gemini => wire::examine::<Generate>(config, key, look).await,
        Kind::Ollama => wire::examine::<Native>(config, key, look).await,
        Kind::Anthropic => wire::examine::<Messages>(config, key, look).await,
        Kind::Scripted => Ok(Vec::new()),
    }
}

/// One short call, to see whether a model answers: it spends tokens. `who` is who asks.
///
/// # Errors
/// The layer that fails, and why.
pub async fn say_a_word(config: &Config, key: Option<Secret>, who: &Who, model: &ModelName) -> Result<Usage, Trouble> {
    let unusable = |e: ConfigError| Trouble::new(Layer::of_settings(&e), e.to_string());
    let provider = unlimited(config, key, Path::new("")).map_err(unusable)?;
    let text = "Answer with the one word: ok".to_string();
    let request = Request {
        model: model.clone(),
        tools: Vec::new(),
        system: String::new(),
        messages: vec![Message::User { text }],
        schema: None,
        max_output: WORD,
        temperature: None,
        effort: None,
    };
    let said = provider.call(who, &request, Arc::new(|_| {})).await;
    said.map(|reply| reply.usage).map_err(|failed| Trouble::new(Layer::of_failure(&failed.failure), failed.failure.why))
}

/// Whether an address is this machine or one of a private network. A name is not looked up: it may be anybody's.
pub fn is_near(base_url: &str) -> bool {
    wire::Base::new(base_url).is_ok_and(|base| base.is_near())
}

/// Whether connections to an address take no proxy of the environment, whose `NO_PROXY` is this.
pub fn avoids_proxies(base_url: &str, no_proxy: &str) -> bool {
    wire::Base::new(base_url).is_ok_and(|base| base.avoids_proxies(no_proxy))
}

/// Whether a server on this machine says that it is Ollama, whatever else it speaks. Waits three seconds at most.
pub async fn is_ollama(base_url: &str) -> bool {
    ollama::is_there(base_url).await
}
