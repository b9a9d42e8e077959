//! The bytes of a request in Ollama's own form. The same request always gives the same bytes, and what changes least
//! stands first: model, tools, messages, then the rest.

use crate::provider::overlay::overlay;
use deputize_core::message::{Message, Request, SentCall};
use serde_json::{Map, Value, json};

/// Fields that `body` in the settings may not replace: the adapter could not read the answer any more.
pub(super) const OWN: [&str; 4] = ["model", "tools", "messages", "stream"];

/// A request on its way to bytes.
pub(super) struct Body<'a> {
    pub(super) request: &'a Request,
    pub(super) stream: bool,
    /// The context window that the model is to be loaded with, in tokens; none: the server's own.
    pub(super) num_ctx: Option<u64>,
    pub(super) extra: &'a Map<String, Value>,
}

impl Body<'_> {
    /// The bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let request = self.request;
        let mut all = Map::new();
        all.insert("model".to_string(), json!(request.model.model()));
        if !request.tools.is_empty() {
            let tool = |tool: &deputize_core::message::ToolOffer| {
                let (name, description) = (&tool.name, &tool.description);
                let function = json!({"name": name, "description": description, "parameters": tool.input_schema});
                json!({"type": "function", "function": function})
            };
            all.insert("tools".to_string(), request.tools.iter().map(tool).collect());
        }
        all.insert("messages".to_string(), Value::Array(messages(request)));
        all.insert("stream".to_string(), json!(self.stream));
        let mut rest = self.rest();
        overlay(&mut rest, self.extra);
        all.extend(rest);
        serde_json::to_vec(&all)
    }

    /// What follows the messages.
    fn rest(&self) -> Map<String, Value> {
        let request = self.request;
        let mut options = Map::new();
        let mut option = |key: &str, value: Option<Value>| drop(value.map(|v| options.insert(key.to_string(), v)));
        option("num_ctx", self.num_ctx.map(|tokens| json!(tokens)));
        option("num_predict", (request.max_output > 0).then(|| json!(request.max_output)));
        option("temperature", request.temperature.map(|t| json!(t)));
        let mut rest = Map::new();
        let mut set = |key: &str, value: Option<Value>| drop(value.map(|v| rest.insert(key.to_string(), v)));
        set("think", request.effort.as_deref().map(think));
        set("format", request.schema.clone());
        set("options", (!options.is_empty()).then_some(Value::Object(options)));
        // A prompt that does not fit is refused instead of cut: a cut one would be answered as if it had been whole.
        set("truncate", Some(json!(false)));
        set("shift", Some(json!(false)));
        rest
    }
}

/// The levels that all versions know; there is no level `max`, and no budget in tokens.
fn think(effort: &str) -> Value {
    match effort {
        "max" => json!("high"),
        "0" => json!(false),
        level if level.parse::<u64>().is_ok() => json!(true),
        level => json!(level),
    }
}

fn messages(request: &Request) -> Vec<Value> {
    let system = Some(&request.system).filter(|text| !text.is_empty());
    let system = system.map(|text| json!({"role": "system", "content": text}));
    let rest = request.messages.iter().map(|message| match message {
        Message::User { text } => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls, reasoning } => assistant(text, calls, reasoning),
        Message::Tool { call, name, text } => {
            json!({"role": "tool", "content": text, "tool_name": name, "tool_call_id": call})
        }
    });
    system.into_iter().chain(rest).collect()
}

fn assistant(text: &str, calls: &[SentCall], reasoning: &[Value]) -> Value {
    let mut said = Map::new();
    said.insert("role".to_string(), json!("assistant"));
    said.insert("content".to_string(), json!(text));
    let thought = reasoning.iter().filter_map(|block| block.get("thinking")?.as_str()).collect::<String>();
    if !thought.is_empty() {
        said.insert("thinking".to_string(), json!(thought));
    }
    if !calls.is_empty() {
        said.insert("tool_calls".to_string(), calls.iter().map(call).collect());
    }
    Value::Object(said)
}

/// Arguments are an object here, not its text.
fn call(call: &SentCall) -> Value {
    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

#[cfg(test)]
mod tests;
