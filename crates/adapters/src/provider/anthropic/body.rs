//! The bytes of a request: tools, system, messages, then the rest, so that what changes least stands first.
//!
//! Cache breakpoints, of which the API takes four: one ends tools and system (so that all runs of an agent share it, and the
//! brief stands right behind it), one ends each of the last two user messages (so that every turn finds what the turn before
//! has written, however many results lie between: the API looks back twenty blocks only).

use super::generation::{Generation, Thinking};
use super::schema;
use crate::provider::wire::Asking;
use deputize_core::message::{Message, Request, SentCall};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The output limit where none is set: the API wants one.
const MOST: u64 = 8192;
/// The least budget that the API takes.
const LEAST_BUDGET: u64 = 1024;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Value>,
    messages: Vec<Said>,
    stream: bool,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Serialize)]
struct Said {
    role: &'static str,
    content: Vec<Value>,
}

pub(super) fn bytes(asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let request = asking.request;
    let tool = |offer: &deputize_core::message::ToolOffer| {
        let (name, description) = (offer.name.as_str(), offer.description.as_str());
        json!({"name": name, "description": description, "input_schema": offer.input_schema})
    };
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    let mut system: Vec<Value> = text(&request.system).into_iter().collect();
    let mut messages = conversation(&request.messages);
    mark(system.last_mut().or(tools.last_mut()));
    let users = messages.iter_mut().rev().filter(|said| said.role == "user");
    users.take(2).for_each(|said| mark(said.content.last_mut()));
    let (model, stream) = (request.model.model(), asking.stream);
    let rest = rest(request, asking.extra);
    serde_json::to_vec(&Body { model, tools, system, messages, stream, rest })
}

fn mark(block: Option<&mut Value>) {
    if let Some(map) = block.and_then(Value::as_object_mut) {
        map.insert("cache_control".to_string(), json!({"type": "ephemeral"}));
    }
}

/// A text as a block; none for a blank one, which the API refuses.
fn text(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

/// The messages: neighbours of one role are one message, so all results of a turn stand together right behind their calls.
fn conversation(messages: &[Message]) -> Vec<Said> {
    let mut out: Vec<Said> = Vec::new();
    for message in messages {
        let (role, blocks) = match message {
            Message::User { text: words } => ("user", text(words).into_iter().collect()),
            Message::Assistant { text, calls, reasoning } => ("assistant", spoken(text, calls, reasoning)),
            Message::Tool { call, text, .. } => {
                ("user", vec![json!({"type": "tool_result", "tool_use_id": call, "content": text})])
            }
        };
        match out.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => out.push(Said { role, content: blocks }),
        }
    }
    out
}

/// An earlier answer. Its blocks of reasoning come back as they were and where they were; alone they are no message.
fn spoken(words: &str, calls: &[SentCall], reasoning: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut said, mut called) = (0, 0);
    let mut until = |out: &mut Vec<Value>, words_to: usize, calls_to: usize| {
        out.extend(words.get(said..words_to).and_then(text));
        out.extend(calls.get(called..calls_to).unwrap_or_default().iter().map(call));
        (said, called) = (said.max(words_to), called.max(calls_to));
    };
    for kept in reasoning {
        let at = |key: &str| kept.get("after").and_then(|after| after.get(key)?.as_u64()).unwrap_or_default();
        let place = |n: u64, most: usize| usize::try_from(n).unwrap_or(most).min(most);
        until(&mut out, place(at("text"), words.len()), place(at("calls"), calls.len()));
        out.push(kept.get("block").unwrap_or(kept).clone());
    }
    until(&mut out, words.len(), calls.len());
    let speaks = out.iter().any(|block| matches!(block.get("type").and_then(Value::as_str), Some("text" | "tool_use")));
    if speaks { out } else { Vec::new() }
}

fn call(call: &SentCall) -> Value {
    let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
}

/// What follows the messages, without what the settings replace.
fn rest(request: &Request, extra: &Map<String, Value>) -> Map<String, Value> {
    let generation = Generation::of(request.model.model());
    let most = if request.max_output > 0 { request.max_output } else { MOST };
    let mut rest = Map::new();
    rest.insert("max_tokens".to_string(), json!(most));
    // With a budget, the API answers 400 where the turn whose results it now reads does not begin with thinking.
    let may = generation.thinking != Thinking::Budget || !lacks_thinking(&request.messages);
    let effort = request.effort.as_deref().filter(|_| may);
    let thinking = effort.and_then(|effort| thinking(effort, generation.thinking, most));
    let mut output = Map::new();
    if let Some(effort) = request.effort.as_deref().filter(|_| generation.thinking == Thinking::Adaptive) {
        // A number is a budget, of which these models have none.
        if effort.parse::<u64>().is_err() {
            output.insert("effort".to_string(), json!(effort));
        }
    }
    if let Some(fit) = request.schema.as_ref().filter(|_| generation.structured).and_then(schema::fit) {
        output.insert("format".to_string(), json!({"type": "json_schema", "schema": fit}));
    }
    // Thinking and a temperature exclude each other; the scale ends at 1 here.
    if let Some(t) = request.temperature.filter(|_| thinking.is_none() && generation.temperature) {
        rest.insert("temperature".to_string(), json!(t.clamp(0.0, 1.0)));
    }
    rest.extend(thinking.map(|thinking| ("thinking".to_string(), thinking)));
    if !output.is_empty() {
        rest.insert("output_config".to_string(), Value::Object(output));
    }
    rest.retain(|key, _| !extra.contains_key(key));
    rest.extend(extra.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), v.clone())));
    rest
}

/// Whether the newest turn made calls and has no thinking that led to them: another model said it, or this one when it was
/// not asked to think.
fn lacks_thinking(messages: &[Message]) -> bool {
    let newest = messages.iter().rev().find_map(|message| match message {
        Message::Assistant { calls, reasoning, .. } => Some((calls, reasoning)),
        Message::User { .. } | Message::Tool { .. } => None,
    });
    newest.is_some_and(|(calls, reasoning)| {
        !calls.is_empty() && reasoning.first().is_none_or(|first| first.get("type").is_none())
    })
}

/// How an effort is asked for. A budget is part of the output limit, and half of that is left for the answer.
fn thinking(effort: &str, how: Thinking, most: u64) -> Option<Value> {
    match how {
        Thinking::Never => None,
        Thinking::Adaptive => Some(json!({"type": "adaptive"})),
        Thinking::Budget => {
            let budget = match effort {
                "low" => LEAST_BUDGET,
                "medium" => 4096,
                "high" => 16_384,
                "max" => 32_768,
                number => number.parse().ok()?,
            };
            let budget = budget.min(most / 2);
            (budget >= LEAST_BUDGET).then(|| json!({"type": "enabled", "budget_tokens": budget}))
        }
    }
}

#[cfg(test)]
mod tests;
