//! What a provider said so far: pieces of a stream, or a whole answer, into a turn and its usage.
//!
//! Lenient where servers differ (indexes, ids, arguments, finish reasons), strict where leniency would invent an answer.

use super::failure::{self, Complaint};
use crate::provider::estimate;
use deputize_core::code;
use deputize_core::message::{Arguments, Stop, ToolCall, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Reply};
use serde::Deserialize;
use serde_json::Value;

/// An answer on its way.
pub(super) struct Answer {
    text: String,
    refusal: String,
    calls: Vec<Slot>,
    finish: Option<String>,
    usage: Option<Usage>,
    /// Bytes of the request, for the estimate.
    sent: usize,
    /// Something of the answer was there, so the provider has read and will bill the request.
    begun: bool,
    delta: Delta,
}

/// One tool call on its way.
struct Slot {
    index: usize,
    id: String,
    name: String,
    text: String,
    whole: Option<Value>,
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Counted>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Said>,
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Called>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Called {
    index: Option<usize>,
    id: Option<String>,
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

#[derive(Deserialize)]
struct Counted {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Answer {
    pub(super) fn new(sent: usize, delta: Delta) -> Answer {
        let (text, refusal) = (String::new(), String::new());
        Answer { text, refusal, calls: Vec::new(), finish: None, usage: None, sent, begun: false, delta }
    }

    /// Whether the provider has said that it is done.
    pub(super) fn finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Takes in one event of a stream, or a whole answer.
    pub(super) fn absorb(&mut self, json: &[u8]) -> Result<(), Failure> {
        let chunk: Chunk = serde_json::from_slice(json).map_err(|e| unreadable(&e))?;
        if let Some(error) = chunk.error.filter(|e| !e.is_null()) {
            return Err(failure::of_complaint(&Complaint::read(&error)));
        }
        // The last count holds: some servers count up with every piece.
        self.usage = chunk.usage.and_then(|counted| counted.usage()).or(self.usage);
        // Only one answer is asked for; a server that sends more is read as far as its first.
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or_default() == 0 {
                self.choice(choice);
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice) {
        self.begun = true;
        if let Some(said) = choice.delta.or(choice.message) {
            let text = said.content.map(Content::text).unwrap_or_default();
            if !text.is_empty() {
                (self.delta)(&text);
                self.text.push_str(&text);
            }
            self.refusal.push_str(&said.refusal.unwrap_or_default());
            for called in said.tool_calls.unwrap_or_default() {
                self.called(called);
            }
        }
        if let Some(reason) = choice.finish_reason.filter(|r| !r.is_empty()) {
            self.finish = Some(reason);
        }
    }

    fn called(&mut self, called: Called) {
        let function = called.function.unwrap_or(Function { name: None, arguments: None });
        let (id, name) = (called.id.unwrap_or_default(), function.name.unwrap_or_default());
        let known = self.slot(called.index, &id, &name);
        let next = Slot {
            index: called.index.unwrap_or(self.calls.len()),
            id: String::new(),
            name: String::new(),
            text: String::new(),
            whole: None,
        };
        let slot = match known.and_then(|at| self.calls.get_mut(at)) {
            Some(slot) => slot,
            None => {
                self.calls.push(next);
                let Some(slot) = self.calls.last_mut() else {
                    return;
                };
                slot
            }
        };
        if slot.id.is_empty() {
            slot.id = id;
        }
        if slot.name.is_empty() {
            slot.name = name;
        }
        match function.arguments {
            Some(Value::String(piece)) => slot.text.push_str(&piece),
            Some(Value::Null) | None => {}
            Some(whole) => slot.whole = Some(whole),
        }
    }

    /// The call that a piece goes on with; none when it begins a new one.
    fn slot(&self, index: Option<usize>, id: &str, name: &str) -> Option<usize> {
        let at = match index {
            Some(index) => self.calls.iter().rposition(|s| s.index == index)?,
            None => {
                let same = self.calls.iter().rposition(|s| !id.is_empty() && s.id == id);
                same.or_else(|| self.calls.len().checked_sub(1))?
            }
        };
        let slot = self.calls.get(at)?;
        // A new id together with a name begins a call even under an old index: some servers number every call 0. An id
        // alone does not: some servers make up a new one for every piece.
        let named_again = !name.is_empty() && !slot.name.is_empty();
        let other_id = !id.is_empty() && !slot.id.is_empty() && slot.id != id;
        let begins = named_again && (other_id || (index.is_none() && id.is_empty()));
        (!begins).then_some(at)
    }

    /// Tokens that are known to be paid for, when the call fails after all.
    pub(super) fn paid(&self) -> Usage {
        match self.usage {
            Some(usage) => usage,
            None if self.begun => self.estimated(),
            None => Usage::default(),
        }
    }

    fn estimated(&self) -> Usage {
        let calls: usize = self.calls.iter().map(|s| s.name.len() + s.text.len()).sum();
        let output_tokens = estimate(self.text.len() + self.refusal.len() + calls);
        Usage { input_tokens: estimate(self.sent), cached_tokens: 0, output_tokens }
    }

    /// The answer is at its end.
    pub(super) fn close(mut self) -> Result<Reply, Failure> {
        if !self.begun {
            let why = "the provider's answer holds no choice";
            return Err(Failure::passing(code::MODEL_MALFORMED, why, None));
        }
        let usage = self.usage.unwrap_or_else(|| self.estimated());
        self.calls.sort_by_key(|slot| slot.index);
        let refused = !self.refusal.is_empty();
        let stop = if refused { Stop::Refusal } else { stop(self.finish.as_deref(), self.calls.is_empty()) };
        let text = if refused && self.text.is_empty() { self.refusal } else { self.text };
        let calls = self.calls.into_iter().map(Slot::call).collect();
        Ok(Reply { turn: Turn { text, calls, stop }, usage })
    }
}

impl Slot {
    fn call(self) -> ToolCall {
        let arguments = match self.whole {
            Some(whole) => Arguments::Json(whole),
            None => Arguments::from_text(&self.text),
        };
        ToolCall { name: self.name, arguments }
    }
}

impl Content {
    fn text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Parts(parts) => parts.into_iter().filter_map(|p| p.text).collect(),
        }
    }
}

impl Counted {
    /// None when it counts nothing.
    fn usage(&self) -> Option<Usage> {
        self.prompt_tokens.or(self.completion_tokens)?;
        let input_tokens = self.prompt_tokens.unwrap_or_default();
        let cached = self.prompt_tokens_details.as_ref().and_then(|d| d.cached_tokens).unwrap_or_default();
        let output_tokens = self.completion_tokens.unwrap_or_default();
        Some(Usage { input_tokens, cached_tokens: cached.min(input_tokens), output_tokens })
    }
}

fn stop(reason: Option<&str>, no_calls: bool) -> Stop {
    match reason {
        Some("length" | "max_tokens" | "max_output_tokens" | "model_length") => Stop::Length,
        Some("content_filter" | "safety" | "SAFETY") => Stop::Filter,
        Some("refusal") => Stop::Refusal,
        // Some servers say `stop` and call tools all the same.
        _ if !no_calls => Stop::ToolCalls,
        _ => Stop::End,
    }
}

fn unreadable(error: &serde_json::Error) -> Failure {
    Failure::passing(code::MODEL_MALFORMED, format!("the provider's answer cannot be read: {error}"), None)
}

#[cfg(test)]
mod tests;
