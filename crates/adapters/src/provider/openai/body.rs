//! The bytes of a request. The same request always gives the same bytes, and what changes least stands first: model, tools,
//! messages, then the rest, so that two requests of a conversation share the longest prefix a provider can cache.

use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A request on its way to bytes.
pub(super) struct Body<'a> {
    pub(super) request: &'a Request,
    pub(super) stream: bool,
    /// `max_completion_tokens`, or `max_tokens` for every server but OpenAI's own.
    pub(super) limit: &'static str,
    pub(super) extra: &'a Map<String, Value>,
}

impl Body<'_> {
    /// The bytes.
    pub(super) fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(self)
    }

    /// What follows the messages, in its order, without what the settings replace.
    fn rest(&self) -> Vec<(&str, Value)> {
        let request = self.request;
        let mut rest: Vec<(&str, Value)> = Vec::new();
        if request.max_output > 0 {
            rest.push((self.limit, json!(request.max_output)));
        }
        if let Some(temperature) = request.temperature {
            rest.push(("temperature", json!(temperature)));
        }
        if let Some(effort) = &request.effort {
            rest.push(("reasoning_effort", json!(effort)));
        }
        if let Some(schema) = &request.schema {
            let inner = json!({"name": "output", "strict": is_strict(schema), "schema": schema});
            rest.push(("response_format", json!({"type": "json_schema", "json_schema": inner})));
        }
        if self.stream {
            rest.push(("stream_options", json!({"include_usage": true})));
        }
        rest.retain(|(key, _)| !self.extra.contains_key(*key));
        rest.extend(self.extra.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.as_str(), v.clone())));
        rest
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", request.model.model())?;
        if !request.tools.is_empty() {
            let tools: Vec<Tool<'_>> = request.tools.iter().map(Tool::of).collect();
            map.serialize_entry("tools", &tools)?;
        }
        map.serialize_entry("messages", &messages(request))?;
        map.serialize_entry("stream", &self.stream)?;
        for (key, value) in self.rest() {
            map.serialize_entry(key, &value)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn of(offer: &'a ToolOffer) -> Tool<'a> {
        let (name, description) = (offer.name.as_str(), offer.description.as_str());
        Tool { r#type: "function", function: Function { name, description, parameters: &offer.input_schema } }
    }
}

#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    /// Null, never empty: some servers refuse an empty text, some a missing key.
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

fn messages(request: &Request) -> Vec<Said<'_>> {
    let system = Some(request.system.as_str()).filter(|text| !text.is_empty());
    let system = system.map(|text| said("system", text, None, &[]));
    let rest = request.messages.iter().map(|message| match message {
        Message::User { text } => said("user", text, None, &[]),
        Message::Assistant { text, calls, .. } => said("assistant", text, None, calls),
        Message::Tool { call, text, .. } => said("tool", text, Some(call), &[]),
    });
    system.into_iter().chain(rest).collect()
}

fn said<'a>(role: &'static str, text: &'a str, tool_call_id: Option<&'a str>, calls: &'a [SentCall]) -> Said<'a> {
    let call = |c: &'a SentCall| {
        let function = Called { name: &c.name, arguments: &c.arguments };
        Call { id: &c.id, r#type: "function", function }
    };
    let content = Some(text).filter(|t| !t.is_empty());
    Said { role, tool_call_id, content, tool_calls: calls.iter().map(call).collect() }
}

/// Keywords that OpenAI's strict mode takes. With any other one, `strict` would turn a good request into a 400.
const STRICT: [&str; 24] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "description",
    "title",
    "$defs",
    "definitions",
    "$ref",
    "$schema",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "$id",
];

/// Whether a provider can be asked to hold to the schema strictly: every object is closed and all its fields required.
fn is_strict(schema: &Value) -> bool {
    let Some(map) = schema.as_object() else {
        return false;
    };
    let properties = map.get("properties").and_then(Value::as_object);
    let is_object = properties.is_some() || map.get("type").is_some_and(|t| t == "object");
    let closed = map.get("additionalProperties") == Some(&Value::Bool(false));
    let required: Vec<&str> = map
        .get("required")
        .and_then(Value::as_array)
        .map_or(Vec::new(), |r| r.iter().filter_map(Value::as_str).collect());
    let complete = properties.is_some_and(|p| p.keys().all(|k| required.contains(&k.as_str())));
    if map.keys().any(|k| !STRICT.contains(&k.as_str())) || (is_object && !(closed && complete)) {
        return false;
    }
    let maps = ["properties", "$defs", "definitions"];
    let in_maps = maps.iter().filter_map(|k| map.get(*k)?.as_object()).flat_map(Map::values);
    let in_lists = map.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    in_maps.chain(in_lists).chain(map.get("items")).all(is_strict)
}

#[cfg(test)]
mod tests;
