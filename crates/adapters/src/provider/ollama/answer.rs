//! What the server said so far: lines of a stream, or a whole answer, into a turn and its usage.

use crate::provider::wire::failure::{self, Complaint};
use crate::provider::wire::{Answer, Tally, arguments, count, read};
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Stop, ToolCall, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Reply};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// An answer on its way.
pub(in crate::provider) struct Said {
    model: ModelName,
    text: String,
    thinking: String,
    calls: Vec<ToolCall>,
    done: bool,
    reason: Option<String>,
    tally: Tally,
    delta: Delta,
}

#[derive(Deserialize)]
struct Line {
    message: Option<Part>,
    #[serde(default)]
    done: bool,
    done_reason: Option<String>,
    /// A server that had the whole prompt in its cache has left this out.
    prompt_eval_count: Option<Value>,
    /// The part of them that came from the cache; only newer servers say so.
    prompt_eval_cached_count: Option<Value>,
    eval_count: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Part {
    content: Option<String>,
    thinking: Option<String>,
    tool_calls: Option<Vec<Called>>,
}

#[derive(Deserialize)]
struct Called {
    function: Option<Function>,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Value>,
}

impl Said {
    pub(super) fn new(model: ModelName, sent: usize, delta: Delta) -> Said {
        Said {
            model,
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            done: false,
            reason: None,
            tally: Tally::new(sent),
            delta,
        }
    }

    fn part(&mut self, said: Part) {
        let text = said.content.unwrap_or_default();
        if !text.is_empty() {
            (self.delta)(&text);
            self.text.push_str(&text);
        }
        let thinking = said.thinking.unwrap_or_default();
        self.tally.said(text.len() + thinking.len());
        self.thinking.push_str(&thinking);
        for function in said.tool_calls.unwrap_or_default().into_iter().filter_map(|called| called.function) {
            let name = function.name.unwrap_or_default();
            self.tally.said(name.len() + function.arguments.as_ref().map_or(0, |a| a.to_string().len()));
            let arguments = match function.arguments {
                None | Some(Value::Null) => Arguments::Json(Value::Object(Map::new())),
                Some(Value::String(text)) => arguments(&text),
                Some(whole) => Arguments::Json(whole),
            };
            self.calls.push(ToolCall { name, arguments });
        }
    }
}

impl Answer for Said {
    fn absorb(&mut self, json: &[u8]) -> Result<(), Failure> {
        let line: Line = read(json)?;
        if let Some(error) = line.error.filter(|e| !e.is_null()) {
            return Err(failure::of_complaint(&Complaint::read(&error)));
        }
        if let Some(said) = line.message {
            self.part(said);
        }
        if line.done {
            self.done = true;
            self.reason = line.done_reason;
            let of = |value: Option<Value>| count(value.as_ref());
            self.tally.counted(of(line.prompt_eval_count), of(line.prompt_eval_cached_count), of(line.eval_count));
        }
        self.tally.heard(json);
        Ok(())
    }

    fn finished(&self) -> bool {
        self.done
    }

    fn complete(&self) -> bool {
        self.done
    }

    fn paid(&self) -> Usage {
        self.tally.paid()
    }

    fn close(self) -> Result<Reply, Failure> {
        self.tally.any()?;
        if let Some(reason @ ("load" | "unload")) = self.reason.as_deref() {
            let why = format!("the server only did this with the model: {reason}");
            return Err(Failure::passing(code::MODEL_MALFORMED, why, None));
        }
        let stop = match self.reason.as_deref() {
            Some("length") => Stop::Length,
            _ if self.calls.is_empty() => Stop::End,
            _ => Stop::ToolCalls,
        };
        let thought = !self.thinking.is_empty();
        let reasoning = thought.then(|| Reasoning { by: self.model, blocks: vec![json!({"thinking": self.thinking})] });
        Ok(Reply { turn: Turn { text: self.text, calls: self.calls, stop, reasoning }, usage: self.tally.usage() })
    }
}

#[cfg(test)]
mod tests;
