//! `/api/chat` as Ollama speaks it: its answers and errors, the rules that its requests keep, and what they say.

use super::{Dialect, Said, Seen, Spoken, list, text};
use crate::fake::Sent;
use deputize_adapters::provider::Kind;
use deputize_core::message::Stop;
use serde_json::{Value, json};

pub(crate) struct Ollama;

impl Ollama {
    fn line(message: Value) -> Value {
        json!({"model": "qwen3:8b", "created_at": "2026-11-30T08:00:00Z", "message": message, "done": false})
    }
    fn calls(said: &Spoken) -> Vec<Value> {
        let call = |(at, (name, arguments)): (usize, &(&str, Value))| json!({"id": format!("call_{at}"), "function": {"index": at, "name": name, "arguments": arguments}});
        said.calls.iter().enumerate().map(call).collect()
    }
    fn end(said: &Spoken, mut line: Value) -> Value {
        line["done"] = json!(true);
        line["done_reason"] = json!(if said.stop == Stop::Length { "length" } else { "stop" });
        if let Some([input, cached, output]) = &said.usage {
            line["prompt_eval_count"] = input.clone();
            line["prompt_eval_cached_count"] = cached.clone();
            line["eval_count"] = output.clone();
        }
        line
    }
}

impl Dialect for Ollama {
    fn kind(&self) -> Kind {
        Kind::Ollama
    }
    fn root(&self) -> &'static str {
        ""
    }
    fn model(&self) -> &'static str {
        "qwen3:8b"
    }
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }
    fn whole(&self, said: &Spoken) -> Value {
        let mut message = json!({"role": "assistant", "content": said.text()});
        if said.reasoning {
            message["thinking"] = json!("Let me see.");
        }
        if !said.calls.is_empty() {
            message["tool_calls"] = json!(Ollama::calls(said));
        }
        Ollama::end(said, Ollama::line(message))
    }
    fn events(&self, said: &Spoken) -> Vec<Value> {
        let mut lines = Vec::new();
        if said.reasoning {
            let thoughts =
                ["Let me ", "see."].map(|piece| json!({"role": "assistant", "content": "", "thinking": piece}));
            lines.extend(thoughts.map(Ollama::line));
        }
        let text = |piece: &&str| Ollama::line(json!({"role": "assistant", "content": piece}));
        lines.extend(said.pieces.iter().map(text));
        // Each call has its line.
        let called = |call| Ollama::line(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
        lines.extend(Ollama::calls(said).into_iter().map(called));
        lines.push(Ollama::end(said, Ollama::line(json!({"role": "assistant", "content": ""}))));
        lines
    }
    fn framed(&self, event: &Value) -> String {
        format!("{event}\n")
    }
    fn stream_type(&self) -> &'static str {
        "application/x-ndjson"
    }
    fn error(&self, _: u16, message: &str) -> Value {
        json!({ "error": message })
    }
    fn overloaded(&self) -> Value {
        json!({"error": "Overloaded"})
    }
    fn reasoning(&self) -> Vec<Value> {
        vec![json!({"thinking": "Let me see."})]
    }
    fn ends(&self, stop: Stop) -> bool {
        // It filters nothing, and a model that declines says so in its text.
        matches!(stop, Stop::End | Stop::ToolCalls | Stop::Length)
    }
    fn check(&self, sent: &Sent) -> Result<(), String> {
        if sent.target != "/api/chat" {
            return Err(format!("it went to {}", sent.target));
        }
        let body = &sent.body;
        if body["truncate"] != false || body["shift"] != false || !body["options"]["num_ctx"].is_u64() {
            return Err("the prompt might be cut".to_string());
        }
        let mut open: Vec<String> = Vec::new();
        for message in list(body, "/messages") {
            let calls = list(message, "/tool_calls");
            if !message["content"].is_string() || (message["content"] == "" && calls.is_empty()) {
                return Err(format!("an empty message: {message}"));
            }
            if calls.iter().any(|call| !call["function"]["arguments"].is_object()) {
                return Err(format!("arguments are no object: {message}"));
            }
            if message["role"] == "tool" {
                let id = text(message, "/tool_call_id");
                if open.first() != Some(&id) {
                    return Err(format!("a result of {id} where {open:?} are due"));
                }
                open.remove(0);
            } else if !open.is_empty() {
                return Err(format!("no results of {open:?}"));
            }
            open.extend(calls.iter().map(|call| text(call, "/id")));
        }
        if open.is_empty() { Ok(()) } else { Err(format!("no results of {open:?}")) }
    }
    fn read(&self, sent: &Sent) -> Seen {
        let body = &sent.body;
        let (mut system, mut talk) = (String::new(), Vec::new());
        for message in list(body, "/messages") {
            let words = text(message, "/content");
            match text(message, "/role").as_str() {
                "system" => system = words,
                "user" => talk.push(Said::User(words)),
                "tool" => talk.push(Said::Result { name: text(message, "/tool_name"), text: words }),
                _ => {
                    let calls = list(message, "/tool_calls").iter().map(|call| &call["function"]);
                    let calls = calls.map(|call| (text(call, "/name"), call["arguments"].clone())).collect();
                    let thought = message.get("thinking").map(|thinking| json!({ "thinking": thinking }));
                    talk.push(Said::Assistant { text: words, calls, reasoning: thought.into_iter().collect() });
                }
            }
        }
        Seen {
            model: text(body, "/model"),
            stream: body["stream"] == true,
            system,
            tools: list(body, "/tools").iter().map(|tool| text(tool, "/function/name")).collect(),
            talk,
            schema: body.get("format").cloned(),
            most: body["options"]["num_predict"].as_u64(),
        }
    }
}
