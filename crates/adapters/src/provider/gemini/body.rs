//! The bytes of a request. The same request always gives the same bytes, and what changes least stands first: system
//! prompt, tools, the conversation, then the rest.

use crate::provider::overlay::overlay;
use deputize_core::message::{Message, Request, SentCall};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Fields that `body` in the settings may not replace: the adapter could not read the answer any more.
pub(super) const OWN: [&str; 3] = ["systemInstruction", "tools", "contents"];

/// What stands where a signature belongs and none was given, so that a conversation that another model began is taken. It
/// is the text that Google documents for this purpose.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The bytes; `extra` is `body` of the settings.
pub(super) fn bytes(request: &Request, extra: &Map<String, Value>) -> Result<Vec<u8>, serde_json::Error> {
    let mut all = Map::new();
    if !request.system.is_empty() {
        all.insert("systemInstruction".to_string(), json!({"parts": [{"text": request.system}]}));
    }
    if !request.tools.is_empty() {
        let declared = request.tools.iter().map(|tool| {
            json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.input_schema})
        });
        all.insert("tools".to_string(), json!([{"functionDeclarations": declared.collect::<Vec<_>>()}]));
    }
    all.insert("contents".to_string(), Value::Array(contents(request)));
    let mut rest = Map::new();
    let generation = generation(request);
    if !generation.is_empty() {
        rest.insert("generationConfig".to_string(), Value::Object(generation));
    }
    overlay(&mut rest, extra);
    all.extend(rest);
    serde_json::to_vec(&all)
}

fn generation(request: &Request) -> Map<String, Value> {
    let mut config = Map::new();
    let mut set = |key: &str, value: Value| drop(config.insert(key.to_string(), value));
    if request.max_output > 0 {
        set("maxOutputTokens", json!(request.max_output));
    }
    if let Some(temperature) = request.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(schema) = &request.schema {
        set("responseMimeType", json!("application/json"));
        set("responseJsonSchema", schema.clone());
    }
    if let Some(effort) = &request.effort {
        set("thinkingConfig", thinking(request.model.model(), effort));
    }
    config
}

/// Models up to 2.5 take a budget in tokens, later ones a level. The budgets are those that Google's own compatibility
/// layer gives to the same words.
fn thinking(model: &str, effort: &str) -> Value {
    if let Ok(budget) = effort.parse::<u64>() {
        return json!({"thinkingBudget": budget});
    }
    match (is_early(model), effort) {
        (true, "low") => json!({"thinkingBudget": 1024}),
        (true, "medium") => json!({"thinkingBudget": 8192}),
        (true, _) => json!({"thinkingBudget": 24576}),
        (false, "max") => json!({"thinkingLevel": "high"}),
        (false, level) => json!({"thinkingLevel": level}),
    }
}

/// Whether the model is of the generations before signatures became a must.
fn is_early(model: &str) -> bool {
    ["gemini-1", "gemini-2", "gemma"].iter().any(|early| model.starts_with(early))
}

fn contents(request: &Request) -> Vec<Value> {
    let mut conversation = Conversation { signs: !is_early(request.model.model()), ..Conversation::default() };
    for message in &request.messages {
        match message {
            Message::User { text } => conversation.say("user", vec![json!({"text": text})]),
            Message::Assistant { text, calls, reasoning } => conversation.model(text, calls, reasoning),
            Message::Tool { call, name, text } => conversation.result(call, name, text),
        }
    }
    conversation.end()
}

/// A conversation on its way: results of one turn gather to one content.
#[derive(Default)]
struct Conversation<'a> {
    contents: Vec<Value>,
    results: Vec<Value>,
    /// By our id of a call: the name and the id, if any, under which it was sent.
    calls: BTreeMap<&'a str, (String, Option<Value>)>,
    /// The model insists on signatures.
    signs: bool,
}

impl<'a> Conversation<'a> {
    fn say(&mut self, role: &str, parts: Vec<Value>) {
        let results = std::mem::take(&mut self.results);
        if !results.is_empty() {
            self.contents.push(json!({"role": "user", "parts": results}));
        }
        self.contents.push(json!({"role": role, "parts": parts}));
    }

    /// What the model said: its own parts, unchanged, where they were kept, since signatures hold for the parts they came
    /// with; else parts made of the text and the calls.
    fn model(&mut self, text: &str, calls: &'a [SentCall], kept: &[Value]) {
        let called = |parts: &[Value]| parts.iter().filter(|p| p.get("functionCall").is_some()).count();
        let parts = match kept {
            [_, ..] if called(kept) == calls.len() => kept.to_vec(),
            _ => self.made(text, calls),
        };
        let sent = parts.iter().filter_map(|part| part.get("functionCall"));
        for (call, sent) in calls.iter().zip(sent) {
            let name = sent.get("name").and_then(Value::as_str).unwrap_or(&call.name).to_string();
            self.calls.insert(&call.id, (name, sent.get("id").cloned()));
        }
        self.say("model", parts);
    }

    fn made(&self, text: &str, calls: &[SentCall]) -> Vec<Value> {
        let text = Some(text).filter(|text| !text.is_empty()).map(|text| json!({"text": text}));
        let call = |(at, call): (usize, &SentCall)| {
            let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": arguments}});
            if let (0, true, Some(part)) = (at, self.signs, part.as_object_mut()) {
                part.insert("thoughtSignature".to_string(), json!(NO_SIGNATURE));
            }
            part
        };
        text.into_iter().chain(calls.iter().enumerate().map(call)).collect()
    }

    fn result(&mut self, call: &str, name: &str, text: &str) {
        let (name, id) = self.calls.get(call).cloned().unwrap_or_else(|| (name.to_string(), None));
        let mut response = json!({"name": name, "response": {"output": text}});
        if let (Some(id), Some(response)) = (id, response.as_object_mut()) {
            response.insert("id".to_string(), id);
        }
        self.results.push(json!({"functionResponse": response}));
    }

    fn end(mut self) -> Vec<Value> {
        if !self.results.is_empty() {
            self.contents.push(json!({"role": "user", "parts": self.results}));
        }
        self.contents
    }
}

#[cfg(test)]
mod tests;
