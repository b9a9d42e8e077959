//! What a provider said so far: pieces of a stream, or a whole answer, into a turn and its usage.
//!
//! Lenient where servers differ (indexes, ids, arguments, finish reasons), strict where leniency would invent an answer.

use crate::provider::wire::failure::{self, Complaint};
use crate::provider::wire::{Answer, Tally, arguments, count, read};
use deputize_core::message::{Arguments, Stop, ToolCall, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Reply};
use serde::Deserialize;
use serde_json::Value;

/// An answer on its way.
pub(in crate::provider) struct Said {
    text: String,
    refusal: String,
    calls: Vec<Slot>,
    finish: Option<String>,
    tally: Tally,
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
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    index: Option<u64>,
    delta: Option<Part>,
    message: Option<Part>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Called>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Piece>),
}

#[derive(Deserialize)]
struct Piece {
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

impl Answer for Said {
    fn absorb(&mut self, json: &[u8]) -> Result<(), Failure> {
        let chunk: Chunk = read(json)?;
        if let Some(error) = chunk.error.filter(|e| !e.is_null()) {
            return Err(failure::of_complaint(&Complaint::read(&error)));
        }
        if let Some(usage) = chunk.usage {
            let cached = usage.get("prompt_tokens_details").and_then(|details| details.get("cached_tokens"));
            let of = |key: &str| count(usage.get(key));
            let (prompt, cached) = (of("prompt_tokens"), count(cached));
            // Gateways before other APIs count what was cached apart. More than the whole of it cannot have been cached.
            let apart = cached.filter(|cached| prompt.is_some_and(|prompt| *cached > prompt)).unwrap_or_default();
            self.tally.counted(prompt.map(|prompt| prompt.saturating_add(apart)), cached, of("completion_tokens"));
        }
        // Only one answer is asked for; a server that sends more is read as far as its first.
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index.unwrap_or_default() == 0 {
                self.choice(choice);
            }
        }
        self.tally.heard(json);
        Ok(())
    }

    fn finished(&self) -> bool {
        self.finish.is_some()
    }

    fn paid(&self) -> Usage {
        self.tally.paid()
    }

    fn close(mut self) -> Result<Reply, Failure> {
        self.tally.any()?;
        self.calls.sort_by_key(|slot| slot.index);
        let refused = !self.refusal.is_empty();
        let stop = if refused { Stop::Refusal } else { stop(self.finish.as_deref(), self.calls.is_empty()) };
        let text = if refused && self.text.is_empty() { self.refusal } else { self.text };
        let calls = self.calls.into_iter().map(Slot::call).collect();
        Ok(Reply { turn: Turn { text, calls, stop, reasoning: None }, usage: self.tally.usage() })
    }
}

impl Said {
    pub(in crate::provider) fn new(sent: usize, delta: Delta) -> Said {
        let (text, refusal) = (String::new(), String::new());
        Said { text, refusal, calls: Vec::new(), finish: None, tally: Tally::new(sent), delta }
    }

    fn choice(&mut self, choice: Choice) {
        self.tally.said(0);
        if let Some(said) = choice.delta.or(choice.message) {
            let text = said.content.map(Content::text).unwrap_or_default();
            if !text.is_empty() {
                (self.delta)(&text);
                self.text.push_str(&text);
            }
            let refusal = said.refusal.unwrap_or_default();
            self.tally.said(text.len() + refusal.len());
            self.refusal.push_str(&refusal);
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
        self.tally.said(name.len() + function.arguments.as_ref().map_or(0, length));
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
}

impl Slot {
    fn call(self) -> ToolCall {
        let arguments = match self.whole {
            Some(whole) => Arguments::Json(whole),
            None => arguments(&self.text),
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

/// About how many bytes the model wrote for these arguments.
fn length(arguments: &Value) -> usize {
    arguments.as_str().map_or_else(|| arguments.to_string().len(), str::len)
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

#[cfg(test)]
mod tests;
