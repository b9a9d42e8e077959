//! The rules of the protocol that a request must keep. The first that is broken is named, with its place.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Checks a request's body.
///
/// # Errors
/// Which rule is broken, and where.
pub(super) fn check(body: &Value) -> Result<(), String> {
    let body = body.as_object().ok_or("the body is no JSON object")?;
    if body.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Err("model is missing or empty".to_string());
    }
    match body.get("stream") {
        None | Some(Value::Bool(_)) => {}
        Some(other) => return Err(format!("stream is {other}, not true or false")),
    }
    tools(body)?;
    let messages = body.get("messages").and_then(Value::as_array).filter(|m| !m.is_empty());
    conversation(messages.ok_or("messages is missing or empty")?)
}

fn tools(body: &Map<String, Value>) -> Result<(), String> {
    let Some(tools) = body.get("tools") else {
        return Ok(());
    };
    let tools = tools.as_array().filter(|t| !t.is_empty()).ok_or("tools is no list, or empty: leave it out")?;
    let mut names = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Err(format!("tools[{at}].type is not `function`"));
        }
        let function = tool.get("function").ok_or_else(|| format!("tools[{at}].function is missing"))?;
        let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || name.len() > 64 || !name.chars().all(good) {
            return Err(format!("tools[{at}].function.name `{name}` is not 1 to 64 of a-z A-Z 0-9 _ -"));
        }
        if !names.insert(name) {
            return Err(format!("tools[{at}].function.name `{name}` stands there twice"));
        }
        let kind = function.get("parameters").and_then(|p| p.get("type")).and_then(Value::as_str);
        if kind != Some("object") {
            return Err(format!("tools[{at}].function.parameters of `{name}` is no schema of type object"));
        }
    }
    Ok(())
}

/// The calls that wait for their results, in order.
#[derive(Default)]
struct Open<'a> {
    waiting: Vec<&'a str>,
    seen: BTreeSet<&'a str>,
    spoken: bool,
}

fn conversation(messages: &[Value]) -> Result<(), String> {
    let mut open = Open::default();
    let mut last = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        open.next(at, role, message)?;
        last = role;
    }
    if let Some(id) = open.waiting.first() {
        return Err(format!("call `{id}` has no result"));
    }
    if !matches!(last, "user" | "tool") {
        return Err(format!("the last message is of role `{last}`, not user or tool"));
    }
    Ok(())
}

impl<'a> Open<'a> {
    fn next(&mut self, at: usize, role: &str, message: &'a Value) -> Result<(), String> {
        if role != "tool"
            && let Some(id) = self.waiting.first()
        {
            return Err(format!("messages[{at}] is of role `{role}`, but call `{id}` has no result yet"));
        }
        match role {
            "system" | "developer" if self.spoken => {
                Err(format!("messages[{at}]: a {role} message after the conversation began"))
            }
            "system" | "developer" => content(at, message),
            "user" => {
                self.spoken = true;
                content(at, message)
            }
            "assistant" if !self.spoken => Err(format!("messages[{at}]: the conversation begins with the assistant")),
            "assistant" => self.assistant(at, message),
            "tool" => self.result(at, message),
            other => Err(format!("messages[{at}].role is `{other}`")),
        }
    }

    fn assistant(&mut self, at: usize, message: &'a Value) -> Result<(), String> {
        let calls = message.get("tool_calls").filter(|c| !c.is_null());
        match message.get("content") {
            None | Some(Value::Null) if calls.is_some() => {}
            _ => content(at, message)?,
        }
        let Some(calls) = calls else {
            return Ok(());
        };
        let calls = calls.as_array().filter(|c| !c.is_empty());
        let calls = calls.ok_or_else(|| format!("messages[{at}].tool_calls is no list, or empty: leave it out"))?;
        for (index, call) in calls.iter().enumerate() {
            let place = format!("messages[{at}].tool_calls[{index}]");
            let id = checked_call(&place, call)?;
            if !self.seen.insert(id) {
                return Err(format!("{place}.id `{id}` was used before"));
            }
            self.waiting.push(id);
        }
        Ok(())
    }

    fn result(&mut self, at: usize, message: &'a Value) -> Result<(), String> {
        let id = message.get("tool_call_id").and_then(Value::as_str).unwrap_or_default();
        match self.waiting.first() {
            Some(next) if *next == id => {
                self.waiting.remove(0);
                content(at, message)
            }
            Some(next) => Err(format!("messages[{at}] answers call `{id}`, but call `{next}` is next")),
            None if self.seen.contains(id) => {
                Err(format!("messages[{at}] answers call `{id}` a second time or too late"))
            }
            None => Err(format!("messages[{at}] answers call `{id}`, which was never made")),
        }
    }
}

fn checked_call<'a>(place: &str, call: &'a Value) -> Result<&'a str, String> {
    let text = |value: Option<&'a Value>| value.and_then(Value::as_str).filter(|t| !t.is_empty());
    if text(call.get("type")) != Some("function") {
        return Err(format!("{place}.type is not `function`"));
    }
    let function = call.get("function").ok_or_else(|| format!("{place}.function is missing"))?;
    text(function.get("name")).ok_or_else(|| format!("{place}.function.name is missing or empty"))?;
    let arguments = text(function.get("arguments")).ok_or_else(|| format!("{place}.function.arguments is no text"))?;
    if !serde_json::from_str::<Value>(arguments).is_ok_and(|a| a.is_object()) {
        return Err(format!("{place}.function.arguments is no JSON object"));
    }
    text(call.get("id")).ok_or_else(|| format!("{place}.id is missing or empty"))
}

/// A content must be there and may nowhere be empty.
fn content(at: usize, message: &Value) -> Result<(), String> {
    let is_text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|t| !t.is_empty());
    let good = match message.get("content") {
        Some(Value::Array(parts)) => !parts.is_empty() && parts.iter().all(|part| is_text(part.get("text"))),
        other => is_text(other),
    };
    if good { Ok(()) } else { Err(format!("messages[{at}].content is missing or empty")) }
}

#[cfg(test)]
mod tests;
