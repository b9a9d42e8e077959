//! Model providers: the implementations of the runtime's `Model` port, and what they share (settings, secrets, redaction).
//!
//! Owns the bytes on the wire and what a provider's errors mean. Does not own retries, budgets or the layout of a
//! conversation: those are the core's, and one call here is one request.

mod config;
mod openai;
pub mod redact;
mod router;
pub mod scripted;
mod tokens;

pub use config::{Config, ConfigError, Kind, Limits, Timeouts};
pub use deputize_runtime::secret::Secret;
pub use openai::{OpenAi, list_models};
pub use router::Router;
pub use scripted::Scripted;

pub(crate) use tokens::estimate;

use deputize_runtime::port::Model;
use std::path::Path;
use std::sync::Arc;

/// Makes the provider that a configuration describes; `folder` is what a script's path is relative to.
///
/// The caller decides whether `key` may go to this address; here it is sent wherever `base_url` points.
///
/// # Errors
/// The address, a header, the extra body or the script cannot be used; the text says which and what to write.
pub fn build(config: &Config, key: Option<Secret>, folder: &Path) -> Result<Arc<dyn Model>, ConfigError> {
    match config.kind {
        Kind::Openai => Ok(Arc::new(OpenAi::new(config, key)?)),
        Kind::Scripted => {
            let script = config.script.as_ref().ok_or(ConfigError::NoScript)?;
            Ok(Arc::new(Scripted::load(&folder.join(script))?.forgetful()))
        }
    }
}
