//! The bytes of a request. The same request always gives the same bytes, and what changes least stands first: system
//! prompt, tools, the conversation, then the rest.

use super::parts;
use crate::provider::overlay::overlay;
use deputize_core::message::{Message, Request, SentCall};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Fields that `body` in the settings may not replace: the adapter could not read the answer any more.
pub(super) const OWN: [&str; 3] = ["systemInstruction", "tools", "contents"];

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
        set("thinkingConfig", thinking(request.model.model(), effort, request.max_output));
    }
    config
}

/// Models up to 2.5 take a budget in tokens, later ones a level or a budget. The budgets are those that Google's own
/// compatibility layer gives to the same words. One is part of the output limit, and half of that is left for the answer.
fn thinking(model: &str, effort: &str, most: u64) -> Value {
    let number = effort.parse::<u64>().ok();
    let budget = match (is_early(model) || number.is_some(), effort) {
        (true, "low") => 1024,
        (true, "medium") => 8192,
        (true, _) => number.unwrap_or(24_576),
        (false, "max") => return json!({"thinkingLevel": "high"}),
        (false, level) => return json!({"thinkingLevel": level}),
    };
    json!({"thinkingBudget": if most > 0 { budget.min(most / 2) } else { budget }})
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
    /// By our id of a call: the id under which it was sent.
    ids: BTreeMap<&'a str, Value>,
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

    /// What the model said. Its signatures go back with the parts they came with.
    fn model(&mut self, text: &str, calls: &'a [SentCall], blocks: &[Value]) {
        let parts = parts::of(text, calls, blocks, self.signs);
        let sent = parts.iter().filter_map(|part| part.get("functionCall")?.get("id"));
        self.ids.extend(calls.iter().map(|call| call.id.as_str()).zip(sent.cloned()));
        self.say("model", parts);
    }

    fn result(&mut self, call: &str, name: &str, text: &str) {
        let id = self.ids.get(call).cloned().unwrap_or_else(|| json!(call));
        self.results.push(json!({"functionResponse": {"id": id, "name": name, "response": {"output": text}}}));
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
