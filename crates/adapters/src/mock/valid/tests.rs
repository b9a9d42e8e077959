//! Tests of the rules: one good conversation, and every way to break it.

use super::check;
use serde_json::{Value, json};

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}})
}

fn good() -> Value {
    json!({
        "model": "m",
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": "more"},
        ],
        "stream": true,
    })
}

#[test]
fn a_good_request_passes() {
    assert_eq!(check(&good()), Ok(()));
}

#[test]
fn every_broken_rule_is_named() {
    let table: [(&str, Value, &str); 21] = [
        ("/model", json!(""), "model is missing"),
        ("/stream", json!("yes"), "stream is"),
        ("/tools", json!([]), "tools is no list, or empty"),
        ("/tools/0/type", json!("x"), "tools[0].type"),
        ("/tools/0/function/name", json!("a b"), "`a b` is not 1 to 64"),
        ("/tools/0/function/parameters", json!({"type": "string"}), "no schema of type object"),
        ("/messages", json!([]), "messages is missing or empty"),
        ("/messages/0/content", json!(""), "messages[0].content is missing or empty"),
        ("/messages/0/role", json!("boss"), "messages[0].role is `boss`"),
        ("/messages/1/content/0/text", json!(""), "messages[1].content"),
        ("/messages/1/role", json!("assistant"), "begins with the assistant"),
        ("/messages/2/content", json!(""), "messages[2].content"),
        ("/messages/2/tool_calls", json!([]), "tool_calls is no list, or empty"),
        ("/messages/2/tool_calls/1/id", json!("a"), "`a` was used before"),
        ("/messages/2/tool_calls/0/type", json!(null), "tool_calls[0].type"),
        ("/messages/2/tool_calls/0/function/arguments", json!("{"), "arguments is no JSON object"),
        ("/messages/3/tool_call_id", json!("b"), "answers call `b`, but call `a` is next"),
        ("/messages/4/role", json!("user"), "but call `b` has no result yet"),
        ("/messages/5", json!({"role": "tool", "tool_call_id": "b", "content": "x"}), "a second time or too late"),
        ("/messages/5", json!({"role": "tool", "tool_call_id": "z", "content": "x"}), "was never made"),
        ("/messages/6", json!({"role": "assistant", "content": "x"}), "the last message is of role `assistant`"),
    ];
    for (place, value, expect) in table {
        let mut body = good();
        *body.pointer_mut(place).unwrap() = value;
        let why = check(&body).unwrap_err();
        assert!(why.contains(expect), "{place}: {why}");
    }
    let mut twice = good();
    let tool = twice["tools"][0].clone();
    twice["tools"].as_array_mut().unwrap().push(tool);
    assert!(check(&twice).unwrap_err().contains("stands there twice"));
    let mut late = good();
    late["messages"].as_array_mut().unwrap().push(json!({"role": "system", "content": "x"}));
    assert!(check(&late).unwrap_err().contains("after the conversation began"));
    let mut open = good();
    open["messages"].as_array_mut().unwrap().truncate(4);
    assert!(check(&open).unwrap_err().contains("call `b` has no result"));
    assert!(check(&json!([])).is_err());
}
