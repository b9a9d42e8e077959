//! What the model said so far: the events of a stream, or a whole message, into a turn and its usage.
//!
//! Blocks of thinking are kept whole, signature included: `{"type": "thinking", ..}` as it came if it led the answer, else as
//! `{"after": {"text", "calls"}, "block"}` with how many bytes of text and how many calls stood before it.

use crate::provider::wire::failure::{self, Complaint};
use crate::provider::wire::{Answer, Tally, arguments, count, read};
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Stop, ToolCall, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Reply};
use serde_json::{Map, Value, json};

/// An answer on its way.
pub(in crate::provider) struct Said {
    model: ModelName,
    blocks: Vec<Block>,
    stop: Option<String>,
    over: bool,
    /// Input, written to the cache, read from it: the API counts them apart, and may tell them in several events.
    input: [Option<u64>; 3],
    tally: Tally,
    delta: Delta,
}

/// One block of content on its way.
struct Block {
    index: u64,
    fields: Map<String, Value>,
    /// The arguments of a call, which come as pieces of JSON text.
    partial: String,
}

impl Said {
    pub(super) fn new(model: ModelName, sent: usize, delta: Delta) -> Said {
        let (blocks, tally) = (Vec::new(), Tally::new(sent));
        Said { model, blocks, stop: None, over: false, input: [None; 3], tally, delta }
    }

    fn start(&mut self, index: u64, fields: Map<String, Value>) {
        let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("type") == "text" && !text("text").is_empty() {
            (self.delta)(text("text"));
        }
        let input = fields.get("input").filter(|input| input.as_object().is_some_and(|map| !map.is_empty()));
        let input = input.map_or(0, |input| input.to_string().len());
        self.tally.said(text("text").len() + text("thinking").len() + text("name").len() + input);
        self.blocks.push(Block { index, fields, partial: String::new() });
    }

    /// A piece of a block: appended to the field of its kind. Pieces of other kinds are no part of an answer.
    fn more(&mut self, index: u64, piece: &Map<String, Value>) {
        let text = |key: &str| piece.get(key).and_then(Value::as_str).unwrap_or_default();
        let (key, words) = match text("type") {
            "text_delta" => ("text", text("text")),
            "thinking_delta" => ("thinking", text("thinking")),
            "signature_delta" => ("signature", text("signature")),
            "input_json_delta" => ("", text("partial_json")),
            _ => return,
        };
        let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index) else { return };
        if key == "text" && !words.is_empty() {
            (self.delta)(words);
        }
        self.tally.said(if key == "signature" { 0 } else { words.len() });
        match block.fields.get_mut(key) {
            _ if key.is_empty() => block.partial.push_str(words),
            Some(Value::String(whole)) => whole.push_str(words),
            _ => drop(block.fields.insert(key.to_string(), json!(words))),
        }
    }

    /// Input tokens are what was neither read from the cache nor written to it: the sum is what was sent.
    fn counted(&mut self, usage: Option<&Value>, with_output: bool) {
        let Some(usage) = usage else { return };
        let of = |key: &str| count(usage.get(key));
        let now = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"].map(of);
        for (known, now) in self.input.iter_mut().zip(now) {
            *known = now.or(*known);
        }
        let [fresh, written, cached] = self.input;
        let sum = fresh.map(|n| n.saturating_add(written.unwrap_or(0)).saturating_add(cached.unwrap_or(0)));
        self.tally.counted(sum, cached, of("output_tokens").filter(|_| with_output));
    }

    fn event(&mut self, mut event: Map<String, Value>) -> Result<(), Failure> {
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default().to_string();
        if let Some(error) = event.get("error").filter(|error| !error.is_null()) {
            return Err(failure::of_complaint(&Complaint::read(error)));
        }
        let index = event.get("index").and_then(Value::as_u64).unwrap_or_default();
        let object = |value: Option<Value>| match value {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        match kind.as_str() {
            "message_start" => {
                self.tally.said(0);
                // Its count of output is that of the first piece.
                self.counted(event.get("message").and_then(|message| message.get("usage")), false);
            }
            "content_block_start" => self.start(index, object(event.remove("content_block"))),
            "content_block_delta" => self.more(index, &object(event.remove("delta"))),
            "message_delta" => {
                self.ended(event.get("delta").and_then(|delta| delta.get("stop_reason")));
                self.counted(event.get("usage"), true);
            }
            "message_stop" => self.over = true,
            "message" => {
                self.tally.said(0);
                self.counted(event.get("usage"), true);
                self.ended(event.get("stop_reason"));
                let Some(Value::Array(blocks)) = event.remove("content") else { return Ok(()) };
                (0..).zip(blocks).for_each(|(index, block)| self.start(index, object(Some(block))));
            }
            // `ping`, the end of a block, and whatever the API will add.
            _ => {}
        }
        Ok(())
    }

    fn ended(&mut self, reason: Option<&Value>) {
        self.stop = reason.and_then(Value::as_str).map(String::from).or(self.stop.take());
    }
}

impl Answer for Said {
    fn absorb(&mut self, json: &[u8]) -> Result<(), Failure> {
        let event = read(json)?;
        self.event(event)?;
        self.tally.heard(json);
        Ok(())
    }

    fn finished(&self) -> bool {
        self.stop.is_some()
    }

    fn complete(&self) -> bool {
        self.over
    }

    fn paid(&self) -> Usage {
        self.tally.paid()
    }

    fn close(mut self) -> Result<Reply, Failure> {
        self.tally.any()?;
        self.blocks.sort_by_key(|block| block.index);
        let (mut turn, mut kept) = (Turn::default(), Vec::new());
        for block in self.blocks {
            match block.fields.get("type").and_then(Value::as_str) {
                Some("text") => {
                    turn.text.push_str(block.fields.get("text").and_then(Value::as_str).unwrap_or_default())
                }
                Some("tool_use") => turn.calls.push(block.call()),
                Some("thinking" | "redacted_thinking") => kept.push(placed(block.fields, &turn)),
                // Blocks of tools that run at the provider; none is offered.
                _ => {}
            }
        }
        turn.stop = match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => Stop::Length,
            Some("refusal") => Stop::Refusal,
            _ if !turn.calls.is_empty() => Stop::ToolCalls,
            _ => Stop::End,
        };
        turn.reasoning = (!kept.is_empty()).then_some(Reasoning { by: self.model, blocks: kept });
        Ok(Reply { turn, usage: self.tally.usage() })
    }
}

impl Block {
    fn call(mut self) -> ToolCall {
        let name = self.fields.get("name").and_then(Value::as_str).unwrap_or_default().to_string();
        let arguments = match self.fields.remove("input").filter(|_| self.partial.trim().is_empty()) {
            Some(input) if !input.is_null() => Arguments::Json(input),
            _ => arguments(&self.partial),
        };
        ToolCall { name, arguments }
    }
}

/// A block of thinking with its place.
fn placed(block: Map<String, Value>, before: &Turn) -> Value {
    let (text, calls) = (before.text.len(), before.calls.len());
    if text + calls == 0 {
        return Value::Object(block);
    }
    json!({"after": {"text": text, "calls": calls}, "block": block})
}

#[cfg(test)]
mod tests;
