//! Chat completions: how a server of that kind says things, and what its requests say.

use super::{Dialect, Said, Seen, Spoken, list, text};
use crate::fake::Sent;
use deputize_adapters::provider::Kind;
use deputize_core::message::Stop;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(crate) struct OpenAi;

impl OpenAi {
    fn finish(said: &Spoken) -> &'static str {
        match said.stop {
            Stop::End | Stop::Refusal => "stop",
            Stop::ToolCalls => "tool_calls",
            Stop::Length => "length",
            Stop::Filter => "content_filter",
        }
    }
    fn key(said: &Spoken) -> &'static str {
        if said.stop == Stop::Refusal { "refusal" } else { "content" }
    }
    fn calls(said: &Spoken) -> Vec<Value> {
        let call = |(at, (name, arguments)): (usize, &(&str, Value))| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"index": at, "id": format!("call_{at}"), "type": "function", "function": function})
        };
        said.calls.iter().enumerate().map(call).collect()
    }
    fn usage(said: &Spoken) -> Value {
        let Some([input, cached, output]) = &said.usage else { return Value::Null };
        json!({"prompt_tokens": input, "completion_tokens": output, "prompt_tokens_details": {"cached_tokens": cached}})
    }
}

impl Dialect for OpenAi {
    fn kind(&self) -> Kind {
        Kind::Openai
    }
    fn root(&self) -> &'static str {
        "/v1"
    }
    fn model(&self) -> &'static str {
        "small"
    }
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }
    fn whole(&self, said: &Spoken) -> Value {
        let mut message = json!({"role": "assistant", "content": null, "reasoning_content": "hm"});
        message[OpenAi::key(said)] = json!(said.text());
        if !said.calls.is_empty() {
            message["tool_calls"] = json!(OpenAi::calls(said));
        }
        let choices = json!([{"index": 0, "message": message, "finish_reason": OpenAi::finish(said)}]);
        json!({"id": "x", "object": "chat.completion", "choices": choices, "usage": OpenAi::usage(said)})
    }
    fn events(&self, said: &Spoken) -> Vec<Value> {
        let chunk = |delta: Value, finish: Option<&str>| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), None)];
        events.extend(said.pieces.iter().map(|piece| chunk(json!({OpenAi::key(said): piece}), None)));
        events.extend(OpenAi::calls(said).into_iter().map(|call| chunk(json!({"tool_calls": [call]}), None)));
        events.push(chunk(json!({}), Some(OpenAi::finish(said))));
        events.push(json!({"object": "chat.completion.chunk", "choices": [], "usage": OpenAi::usage(said)}));
        events
    }
    fn closing(&self) -> &'static str {
        "data: [DONE]\n\n"
    }
    fn error(&self, _: u16, message: &str) -> Value {
        json!({"error": {"message": message, "type": "some_error", "code": null}})
    }
    fn overloaded(&self) -> Value {
        json!({"error": {"message": "Overloaded", "type": "server_error", "code": 503}})
    }
    fn reasoning(&self) -> Vec<Value> {
        Vec::new()
    }
    fn ends(&self, _: Stop) -> bool {
        true
    }
    fn check(&self, sent: &Sent) -> Result<(), String> {
        if sent.target != "/v1/chat/completions" {
            return Err(format!("it went to {}", sent.target));
        }
        let messages = list(&sent.body, "/messages");
        let blank = |m: &&Value| m["content"] == "" || (m["content"].is_null() && m.get("tool_calls").is_none());
        if let Some(message) = messages.iter().find(blank) {
            return Err(format!("an empty message: {message}"));
        }
        let mut open: Vec<String> = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                let id = text(message, "/tool_call_id");
                if open.first() != Some(&id) {
                    return Err(format!("a result of {id} where {open:?} are due"));
                }
                open.remove(0);
            } else if !open.is_empty() {
                return Err(format!("no results of {open:?}"));
            }
            open.extend(list(message, "/tool_calls").iter().map(|call| text(call, "/id")));
        }
        if open.is_empty() { Ok(()) } else { Err(format!("no results of {open:?}")) }
    }
    fn read(&self, sent: &Sent) -> Seen {
        let body = &sent.body;
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        let (mut system, mut talk) = (String::new(), Vec::new());
        for message in list(body, "/messages") {
            let words = text(message, "/content");
            match text(message, "/role").as_str() {
                "system" => system = words,
                "user" => talk.push(Said::User(words)),
                "tool" => {
                    talk.push(Said::Result { name: names[&text(message, "/tool_call_id")].clone(), text: words });
                }
                _ => {
                    let mut calls = Vec::new();
                    for call in list(message, "/tool_calls") {
                        names.insert(text(call, "/id"), text(call, "/function/name"));
                        let arguments = serde_json::from_str(&text(call, "/function/arguments")).unwrap();
                        calls.push((text(call, "/function/name"), arguments));
                    }
                    talk.push(Said::Assistant { text: words, calls, reasoning: Vec::new() });
                }
            }
        }
        Seen {
            model: text(body, "/model"),
            stream: body["stream"] == true,
            system,
            tools: list(body, "/tools").iter().map(|tool| text(tool, "/function/name")).collect(),
            talk,
            schema: body.pointer("/response_format/json_schema/schema").cloned(),
            most: body["max_tokens"].as_u64(),
        }
    }
}
