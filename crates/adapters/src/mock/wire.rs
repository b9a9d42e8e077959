//! A turn in the form of chat completions: as one object, or as the events of a stream.

use crate::provider::scripted::{PIECES, pieces};
use deputize_core::message::{Arguments, Stop, ToolCall, Turn, Usage};
use serde_json::{Value, json};

/// An answer in both forms. Ids and times are fixed, so that the same answer always has the same bytes.
pub(super) struct Wire<'a> {
    pub(super) turn: &'a Turn,
    pub(super) usage: Usage,
    pub(super) model: &'a str,
    /// The number of the request, from which the ids are made.
    pub(super) n: u64,
}

impl Wire<'_> {
    fn frame(&self, object: &str, choices: Value) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.n),
            "object": object,
            "created": 1_700_000_000,
            "model": self.model,
            "choices": choices,
        })
    }

    fn finish(&self) -> &'static str {
        match self.turn.stop {
            Stop::End | Stop::Refusal => "stop",
            Stop::ToolCalls => "tool_calls",
            Stop::Length => "length",
            Stop::Filter => "content_filter",
        }
    }

    fn usage(&self) -> Value {
        json!({
            "prompt_tokens": self.usage.input_tokens,
            "completion_tokens": self.usage.output_tokens,
            "total_tokens": self.usage.tokens(),
            "prompt_tokens_details": {"cached_tokens": self.usage.cached_tokens},
        })
    }

    fn id(&self, at: usize) -> String {
        format!("call_{}_{at}", self.n)
    }

    /// The key under which the text stands.
    fn key(&self) -> &'static str {
        if self.turn.stop == Stop::Refusal { "refusal" } else { "content" }
    }

    /// The whole answer.
    pub(super) fn whole(&self) -> Value {
        let text = Some(&self.turn.text).filter(|t| !t.is_empty() || self.turn.calls.is_empty());
        let mut message = json!({"role": "assistant", "content": null});
        let calls: Vec<Value> = self.turn.calls.iter().enumerate().map(|(at, call)| self.call(at, call)).collect();
        if let Some(map) = message.as_object_mut() {
            map.insert(self.key().to_string(), json!(text));
            if !calls.is_empty() {
                map.insert("tool_calls".to_string(), json!(calls));
            }
        }
        let choices = json!([{"index": 0, "message": message, "finish_reason": self.finish()}]);
        let mut whole = self.frame("chat.completion", choices);
        if let Some(map) = whole.as_object_mut() {
            map.insert("usage".to_string(), self.usage());
        }
        whole
    }

    fn call(&self, at: usize, call: &ToolCall) -> Value {
        let function = json!({"name": call.name, "arguments": arguments(call)});
        json!({"id": self.id(at), "type": "function", "function": function})
    }

    /// The events of a stream: role, text and calls in pieces, the reason of the end, the usage if it is asked for.
    pub(super) fn events(&self, with_usage: bool) -> Vec<String> {
        let chunk = |delta: Value, finish: Option<&str>| {
            let choices = json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
            self.frame("chat.completion.chunk", choices)
        };
        let mut chunks = vec![chunk(json!({"role": "assistant", "content": null}), None)];
        for piece in pieces(&self.turn.text, PIECES) {
            chunks.push(chunk(json!({self.key(): piece}), None));
        }
        for (at, call) in self.turn.calls.iter().enumerate() {
            let function = json!({"name": call.name, "arguments": ""});
            let begin = json!({"index": at, "id": self.id(at), "type": "function", "function": function});
            chunks.push(chunk(json!({"tool_calls": [begin]}), None));
            for piece in pieces(&arguments(call), 2) {
                let more = json!({"index": at, "function": {"arguments": piece}});
                chunks.push(chunk(json!({"tool_calls": [more]}), None));
            }
        }
        chunks.push(chunk(json!({}), Some(self.finish())));
        if with_usage {
            let mut last = self.frame("chat.completion.chunk", json!([]));
            if let Some(map) = last.as_object_mut() {
                map.insert("usage".to_string(), self.usage());
            }
            chunks.push(last);
        }
        // A comment first, as servers send it to keep a connection alive.
        let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
        std::iter::once(": waiting\n\n".to_string()).chain(events).collect()
    }
}

fn arguments(call: &ToolCall) -> String {
    match &call.arguments {
        Arguments::Json(value) => value.to_string(),
        Arguments::Malformed(text) => text.clone(),
    }
}
