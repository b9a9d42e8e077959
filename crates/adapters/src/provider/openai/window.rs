//! The context window that a server really serves. Chat completions have no place for it, so the servers that run on
//! people's own machines each say it at a place of their own. What a model was trained with is not asked for: a server
//! often serves less.

use super::Chat;
use crate::provider::wire;
use crate::provider::{Config, Secret};
use deputize_core::step::Failure;
use serde_json::Value;

/// Asks all places at once; each answer is short.
pub(in crate::provider) async fn context_window(
    config: &Config,
    key: Option<&Secret>,
    model: &str,
) -> Result<Option<u64>, Failure> {
    let base = wire::base(config)?;
    let root = base.without("v1");
    let ask = async |url| wire::ask::<Chat>(config, key, model, url, None).await;
    let (props, list, studio) =
        tokio::join!(ask(root.at(&["props"])), ask(base.at(&["models"])), ask(root.at(&["api", "v0", "models"])),);
    let told = props.ok().and_then(|props| of_llama(&props));
    let told = told.or_else(|| list.as_ref().ok().and_then(|list| of_list(list, model, "max_model_len")));
    let told = told.or_else(|| studio.ok().and_then(|list| of_list(&list, model, "loaded_context_length")));
    // That it does not tell is no failure, that it does not answer is one.
    if told.is_some() { Ok(told) } else { list.map(|_| None) }
}

/// `/props` of llama.cpp: what one of its slots has.
fn of_llama(props: &Value) -> Option<u64> {
    wire::count(props.pointer("/default_generation_settings/n_ctx")).filter(|n| *n > 0)
}

/// The list of vLLM (`max_model_len`) or of LM Studio (`loaded_context_length`).
fn of_list(list: &Value, model: &str, key: &str) -> Option<u64> {
    let mut all = list.get("data")?.as_array()?.iter();
    let entry = all.find(|entry| entry.get("id").and_then(Value::as_str) == Some(model))?;
    wire::count(entry.get(key)).filter(|n| *n > 0)
}

#[cfg(test)]
mod tests;
