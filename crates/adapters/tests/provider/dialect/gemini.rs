//! `generateContent` as Gemini speaks it: its answers and errors, the rules that its requests keep, and what they say.

use super::{Dialect, Said, Seen, Spoken, list, text};
use crate::fake::Sent;
use deputize_adapters::provider::Kind;
use deputize_core::message::Stop;
use serde_json::{Value, json};

pub(crate) struct Gemini;

/// What a model that insists on signatures takes for "there was none".
const NONE: &str = "skip_thought_signature_validator";

impl Gemini {
    fn finish(said: &Spoken) -> &'static str {
        match said.stop {
            Stop::End | Stop::ToolCalls | Stop::Refusal => "STOP",
            Stop::Length => "MAX_TOKENS",
            Stop::Filter => "SAFETY",
        }
    }
    fn usage(said: &Spoken) -> Value {
        let Some([input, cached, output]) = &said.usage else { return Value::Null };
        json!({"promptTokenCount": input, "cachedContentTokenCount": cached, "candidatesTokenCount": output})
    }
    fn thought(said: &Spoken) -> Option<Value> {
        said.reasoning.then(|| json!({"text": "Let me see.", "thought": true}))
    }
    /// The first call carries the signature of the turn.
    fn calls(said: &Spoken) -> Vec<Value> {
        let call = |(at, (name, args)): (usize, &(&str, Value))| {
            let mut part = json!({"functionCall": {"name": name, "args": args}});
            if said.reasoning && at == 0 {
                part["thoughtSignature"] = json!("c2lnbmVk");
            }
            part
        };
        said.calls.iter().enumerate().map(call).collect()
    }
    fn chunk(parts: Vec<Value>) -> Value {
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "g"})
    }
}

/// Which rule of turns, of results and of signatures a conversation breaks.
fn conversation(contents: &[Value]) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    for content in contents {
        let parts = list(content, "/parts");
        let blank = |part: &Value| part["text"] == "" && part.get("thoughtSignature").is_none();
        if parts.is_empty() || parts.iter().any(blank) {
            return Err(format!("an empty part: {content}"));
        }
        let ids = |pointer: &str| -> Vec<String> {
            parts.iter().filter(|part| part.pointer(pointer).is_some()).map(|part| text(part, pointer)).collect()
        };
        let results = ids("/functionResponse/id");
        if results != open {
            return Err(format!("{open:?} are answered by {results:?}"));
        }
        open = ids("/functionCall/id");
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        if first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
            return Err(format!("the first call is not signed: {content}"));
        }
    }
    let user = contents.first().is_some_and(|content| content["role"] == "user");
    if user && open.is_empty() { Ok(()) } else { Err("it begins with the model, or ends with its calls".to_string()) }
}

impl Dialect for Gemini {
    fn kind(&self) -> Kind {
        Kind::Gemini
    }
    fn root(&self) -> &'static str {
        "/v1beta"
    }
    fn model(&self) -> &'static str {
        "gemini-3.8-flash"
    }
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_string())
    }
    fn whole(&self, said: &Spoken) -> Value {
        let text = Some(json!({"text": said.text()})).filter(|_| !said.pieces.is_empty());
        let parts = Gemini::thought(said).into_iter().chain(text).chain(Gemini::calls(said)).collect();
        let mut whole = Gemini::chunk(parts);
        whole["candidates"][0]["finishReason"] = json!(Gemini::finish(said));
        whole["usageMetadata"] = Gemini::usage(said);
        whole
    }
    fn events(&self, said: &Spoken) -> Vec<Value> {
        let mut events: Vec<Value> = Gemini::thought(said).into_iter().map(|part| Gemini::chunk(vec![part])).collect();
        events.extend(said.pieces.iter().map(|piece| Gemini::chunk(vec![json!({"text": piece})])));
        if !said.calls.is_empty() {
            events.push(Gemini::chunk(Gemini::calls(said)));
        }
        let mut last = json!({"candidates": [{"finishReason": Gemini::finish(said), "index": 0}]});
        last["usageMetadata"] = Gemini::usage(said);
        events.push(last);
        events
    }
    fn error(&self, status: u16, message: &str) -> Value {
        let word = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": status, "message": message, "status": word}})
    }
    fn overloaded(&self) -> Value {
        self.error(503, "Overloaded")
    }
    fn reasoning(&self) -> Vec<Value> {
        vec![json!({"text": "Let me see.", "thought": true}), json!({"call": 0, "thoughtSignature": "c2lnbmVk"})]
    }
    fn ends(&self, stop: Stop) -> bool {
        // A model that declines says so in its text.
        stop != Stop::Refusal
    }
    fn check(&self, sent: &Sent) -> Result<(), String> {
        let methods = ["generateContent", "streamGenerateContent?alt=sse"];
        if !methods.iter().any(|method| sent.target == format!("/v1beta/models/{}:{method}", self.model())) {
            return Err(format!("it went to {}", sent.target));
        }
        conversation(list(&sent.body, "/contents"))
    }
    fn read(&self, sent: &Sent) -> Seen {
        let body = &sent.body;
        let mut talk = Vec::new();
        for content in list(body, "/contents") {
            let (mut words, mut calls, mut reasoning) = (String::new(), Vec::new(), Vec::new());
            for part in list(content, "/parts") {
                let signature = part.get("thoughtSignature").filter(|signature| *signature != NONE);
                if part["thought"] == true {
                    reasoning.push(part.clone());
                } else if let Some(response) = part.get("functionResponse") {
                    let (name, text) = (text(response, "/name"), text(response, "/response/output"));
                    talk.push(Said::Result { name, text });
                } else if let Some(call) = part.get("functionCall") {
                    reasoning.extend(signature.map(|s| json!({"call": calls.len(), "thoughtSignature": s})));
                    calls.push((text(call, "/name"), call["args"].clone()));
                } else if content["role"] == "user" {
                    talk.push(Said::User(text(part, "/text")));
                } else {
                    words.push_str(&text(part, "/text"));
                }
            }
            if content["role"] == "model" {
                talk.push(Said::Assistant { text: words, calls, reasoning });
            }
        }
        let generation = &body["generationConfig"];
        let schema = generation.get("responseJsonSchema").cloned();
        assert_eq!(schema.is_some(), generation["responseMimeType"] == "application/json");
        Seen {
            model: sent.target.split(['/', ':']).nth(3).unwrap_or_default().to_string(),
            stream: sent.target.contains(":streamGenerateContent"),
            system: text(body, "/systemInstruction/parts/0/text"),
            tools: list(body, "/tools/0/functionDeclarations").iter().map(|tool| text(tool, "/name")).collect(),
            talk,
            schema,
            most: generation["maxOutputTokens"].as_u64(),
        }
    }
}
