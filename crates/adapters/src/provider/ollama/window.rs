//! The context window: what the server says about a model, and what a call asks for.
//!
//! Ollama loads a model with the window that the call names (`num_ctx`), and without one with a small window of its own.
//! Memory is taken for the whole window, and another size means loading the model again. So a call asks for what it needs
//! in steps of twice the size, at least [`LEAST`], at most the window that is known, and never for less than before.

use crate::provider::estimate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Enough for the first turns of most agents.
const LEAST: u64 = 16 * 1024;

/// The windows of the models of one provider.
pub(super) struct Windows {
    /// By model, in tokens: the most that is asked for.
    known: BTreeMap<String, u64>,
    /// What was asked for last.
    asked: Mutex<BTreeMap<String, u64>>,
}

impl Windows {
    pub(super) fn new(known: BTreeMap<String, u64>) -> Windows {
        Windows { known, asked: Mutex::default() }
    }

    /// The window for a request of so many bytes with so many tokens of output.
    pub(super) fn fitting(&self, model: &str, bytes: usize, max_output: u64) -> u64 {
        // The estimate is one; a quarter more costs less than a refusal.
        let input = estimate(bytes).saturating_mul(5).div_ceil(4);
        let need = input.saturating_add(max_output).max(LEAST);
        let step = need.checked_next_power_of_two().unwrap_or(u64::MAX);
        let most = self.known.get(model).copied().unwrap_or(u64::MAX);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let last = asked.entry(model.to_string()).or_default();
        *last = step.min(most).max(*last);
        *last
    }
}

/// The window in an answer of `/api/show`: the one that the model's own file sets, else the one it was trained with.
pub(super) fn shown(answer: &Value) -> Option<u64> {
    let parameters = answer.get("parameters").and_then(Value::as_str).unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    set.or_else(|| trained(answer.get("model_info")?))
}

fn trained(info: &Value) -> Option<u64> {
    let family = info.get("general.architecture").and_then(Value::as_str).unwrap_or_default();
    let of_family = info.get(format!("{family}.context_length")).and_then(Value::as_u64);
    let any = || info.as_object()?.iter().find(|(key, _)| key.ends_with(".context_length"))?.1.as_u64();
    of_family.or_else(any)
}

#[cfg(test)]
mod tests;
