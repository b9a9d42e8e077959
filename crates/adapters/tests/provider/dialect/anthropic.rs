//! The Messages API: how its server says things, and what its requests say.

use super::{Dialect, Said, Seen, Spoken, list, text};
use crate::fake::Sent;
use deputize_adapters::provider::Kind;
use deputize_core::message::Stop;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct Anthropic;

impl Anthropic {
    fn reason(said: &Spoken) -> &'static str {
        match said.stop {
            Stop::End | Stop::Filter => "end_turn",
            Stop::ToolCalls => "tool_use",
            Stop::Length => "max_tokens",
            Stop::Refusal => "refusal",
        }
    }
    /// What was cached is counted apart from the rest of the input.
    fn usage(said: &Spoken) -> Value {
        let Some([input, cached, output]) = &said.usage else { return Value::Null };
        let fresh = match (input.as_u64(), cached.as_u64()) {
            (Some(input), Some(cached)) if cached <= input => json!(input - cached),
            _ => input.clone(),
        };
        json!({"input_tokens": fresh, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached,
            "output_tokens": output})
    }
    fn content(&self, said: &Spoken) -> Vec<Value> {
        let mut content = if said.reasoning { self.reasoning() } else { Vec::new() };
        if !said.pieces.is_empty() {
            content.push(json!({"type": "text", "text": said.text()}));
        }
        content.extend(said.calls.iter().enumerate().map(|(at, (name, input))| {
            json!({"type": "tool_use", "id": format!("toolu_{at}"), "name": name, "input": input})
        }));
        content
    }
}

/// Which rule of alternation and of results a conversation breaks.
fn conversation(messages: &[Value]) -> Result<(), String> {
    let mut before = "assistant".to_string();
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let role = text(message, "/role");
        let content = list(message, "/content");
        if role == before || content.is_empty() {
            return Err(format!("{role} follows {before}, or is empty: {message}"));
        }
        let results = content.iter().filter(|b| b["type"] == "tool_result").map(|b| text(b, "/tool_use_id"));
        let results: Vec<String> = results.collect();
        if results != open || content.iter().take(open.len()).any(|b| b["type"] != "tool_result") {
            return Err(format!("{open:?} are answered by {results:?}"));
        }
        open = content.iter().filter(|b| b["type"] == "tool_use").map(|b| text(b, "/id")).collect();
        before = role;
    }
    if before == "user" && open.is_empty() { Ok(()) } else { Err("it ends with the assistant".to_string()) }
}

impl Dialect for Anthropic {
    fn kind(&self) -> Kind {
        Kind::Anthropic
    }
    fn root(&self) -> &'static str {
        "/v1"
    }
    fn model(&self) -> &'static str {
        "claude-sonnet-5"
    }
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_string())
    }
    fn whole(&self, said: &Spoken) -> Value {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-5",
            "content": self.content(said), "stop_reason": Anthropic::reason(said), "usage": Anthropic::usage(said)})
    }
    fn events(&self, said: &Spoken) -> Vec<Value> {
        let mut usage = Anthropic::usage(said);
        let output = usage.as_object_mut().and_then(|usage| usage.insert("output_tokens".to_string(), json!(1)));
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": usage});
        let mut events = vec![json!({"type": "message_start", "message": message}), json!({"type": "ping"})];
        for (index, mut block) in self.content(said).into_iter().enumerate() {
            let deltas: Vec<Value> = match text(&block, "/type").as_str() {
                "text" => said.pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect(),
                "tool_use" => {
                    let input = block["input"].to_string();
                    let (one, two) = input.split_at(1);
                    [one, two].map(|piece| json!({"type": "input_json_delta", "partial_json": piece})).into()
                }
                "thinking" => vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ],
                _ => Vec::new(),
            };
            for key in ["text", "thinking", "signature"].iter().filter(|_| !deltas.is_empty()) {
                block.as_object_mut().unwrap().entry(*key).and_modify(|field| *field = json!(""));
            }
            if block.get("input").is_some() {
                block["input"] = json!({});
            }
            events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
            let more = |delta| json!({"type": "content_block_delta", "index": index, "delta": delta});
            events.extend(deltas.into_iter().map(more));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let delta = json!({"stop_reason": Anthropic::reason(said), "stop_sequence": null});
        events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}}));
        events.push(json!({"type": "message_stop"}));
        events
    }
    fn framed(&self, event: &Value) -> String {
        format!("event: {}\ndata: {event}\n\n", text(event, "/type"))
    }
    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
    }
    fn overloaded(&self) -> Value {
        self.error(529, "Overloaded")
    }
    fn reasoning(&self) -> Vec<Value> {
        vec![
            json!({"type": "thinking", "thinking": "Let me see.", "signature": "c2lnbmVk"}),
            json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}),
        ]
    }
    fn ends(&self, stop: Stop) -> bool {
        stop != Stop::Filter
    }
    fn check(&self, sent: &Sent) -> Result<(), String> {
        if sent.target != "/v1/messages" || sent.headers.get("anthropic-version").is_none_or(|v| v != "2023-06-01") {
            return Err(format!("it went to {} with {:?}", sent.target, sent.headers));
        }
        if sent.text.matches("cache_control").count() > 4 {
            return Err("more than four breakpoints".to_string());
        }
        if sent.body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
            return Err("no max_tokens".to_string());
        }
        let messages = list(&sent.body, "/messages");
        let blocks = messages.iter().flat_map(|message| list(message, "/content"));
        let blank = |block: &&Value| block["type"] == "text" && text(block, "/text").trim().is_empty();
        if let Some(block) = blocks.chain(list(&sent.body, "/system")).find(blank) {
            return Err(format!("an empty block: {block}"));
        }
        conversation(messages)
    }
    fn read(&self, sent: &Sent) -> Seen {
        let body = &sent.body;
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let mut talk = Vec::new();
        for message in list(body, "/messages") {
            let (mut words, mut calls, mut reasoning) = (String::new(), Vec::new(), Vec::new());
            for block in list(message, "/content") {
                match text(block, "/type").as_str() {
                    "text" if text(message, "/role") == "user" => talk.push(Said::User(text(block, "/text"))),
                    "text" => words.push_str(&text(block, "/text")),
                    "tool_use" => {
                        names.insert(text(block, "/id"), text(block, "/name"));
                        calls.push((text(block, "/name"), block["input"].clone()));
                    }
                    "tool_result" => {
                        let name = names[&text(block, "/tool_use_id")].clone();
                        talk.push(Said::Result { name, text: text(block, "/content") });
                    }
                    _ => reasoning.push(block.clone()),
                }
            }
            if text(message, "/role") == "assistant" {
                talk.push(Said::Assistant { text: words, calls, reasoning });
            }
        }
        Seen {
            model: text(body, "/model"),
            stream: body["stream"] == true,
            system: list(body, "/system").iter().map(|block| text(block, "/text")).collect(),
            tools: list(body, "/tools").iter().map(|tool| text(tool, "/name")).collect(),
            talk,
            schema: body.pointer("/output_config/format/schema").cloned(),
            most: body["max_tokens"].as_u64(),
        }
    }
}
