//! Tests of the bytes of a request: their order, their stability, and what the settings change.

use super::{Body, is_strict};
use deputize_core::id::{ModelName, ToolName};
use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use serde_json::{Map, Value, json};

fn request() -> Request {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let call = SentCall { id: "t1.c0".into(), name: "read_file".into(), arguments: "{\"path\":\"a\"}".into() };
    Request {
        model: ModelName::new("lab:small:latest"),
        tools: vec![ToolOffer {
            name: ToolName::new("read_file"),
            description: "Reads.".into(),
            input_schema: schema.clone(),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant { text: String::new(), calls: vec![call], reasoning: vec![json!({"signature": "s"})] },
            Message::Tool { call: "t1.c0".into(), name: "read_file".into(), text: "hello".into() },
            Message::Assistant { text: "done".into(), calls: Vec::new(), reasoning: Vec::new() },
            Message::User { text: "more".into() },
        ],
        schema: None,
        max_output: 100,
        temperature: Some(0.5),
        effort: Some("high".into()),
    }
}

fn bytes(request: &Request, stream: bool, extra: &Value) -> String {
    let extra: Map<String, Value> = extra.as_object().unwrap().clone();
    String::from_utf8(Body { request, stream, limit: "max_tokens", extra: &extra }.bytes().unwrap()).unwrap()
}

#[test]
fn the_bytes_are_these() {
    let expect = concat!(
        r#"{"model":"small:latest","#,
        r#""tools":[{"type":"function","function":{"name":"read_file","description":"Reads.","parameters":"#,
        r#"{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],"#,
        r#""messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"go"},"#,
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"t1.c0","type":"function","#,
        r#""function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]},"#,
        r#"{"role":"tool","tool_call_id":"t1.c0","content":"hello"},"#,
        r#"{"role":"assistant","content":"done"},{"role":"user","content":"more"}],"#,
        r#""stream":true,"max_tokens":100,"temperature":0.5,"reasoning_effort":"high","#,
        r#""stream_options":{"include_usage":true}}"#,
    );
    assert_eq!(bytes(&request(), true, &json!({})), expect);
}

#[test]
fn the_same_request_has_the_same_bytes_and_two_turns_share_their_beginning() {
    // covers U-09
    let (first, mut next) = (request(), request());
    assert_eq!(bytes(&first, true, &json!({"top_k": 20})), bytes(&request(), true, &json!({"top_k": 20})));
    next.messages.push(Message::Assistant { text: "more text".into(), calls: Vec::new(), reasoning: Vec::new() });
    next.messages.push(Message::User { text: "and on".into() });
    next.max_output = 7;
    next.temperature = None;
    let (a, b) = (bytes(&first, true, &json!({})), bytes(&next, true, &json!({})));
    let shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    assert_eq!(a.split_at(shared).1.split(']').next().unwrap(), "", "they part where the messages of the first end");
}

#[test]
fn a_request_without_tools_system_or_limits_has_no_empty_fields() {
    let bare = Request {
        tools: Vec::new(),
        system: String::new(),
        messages: vec![Message::User { text: "go".into() }],
        max_output: 0,
        temperature: None,
        effort: None,
        ..request()
    };
    let expect = r#"{"model":"small:latest","messages":[{"role":"user","content":"go"}],"stream":false}"#;
    assert_eq!(bytes(&bare, false, &json!({})), expect);
}

#[test]
fn the_settings_add_replace_and_take_out() {
    let extra = json!({"top_k": 20, "temperature": 1, "stream_options": null, "max_tokens": 3});
    let all: Value = serde_json::from_str(&bytes(&request(), true, &extra)).unwrap();
    assert_eq!(all["top_k"], 20);
    assert_eq!(all["temperature"], 1);
    assert_eq!(all["max_tokens"], 3);
    assert_eq!(all.get("stream_options"), None);
    assert_eq!(bytes(&request(), true, &extra).matches("temperature").count(), 1);
}

#[test]
fn a_schema_is_strict_only_if_the_provider_would_take_it() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"],
        "additionalProperties": false});
    let open = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    let table = [
        (closed.clone(), true),
        (open.clone(), false),
        (json!({"type": "object"}), false),
        (json!({"type": "array", "items": closed}), true),
        (json!({"type": "array", "items": open}), false),
        (json!({"type": "string", "minLength": 1}), false),
        (json!({"anyOf": [{"type": "string"}, open]}), false),
        (json!(true), false),
    ];
    for (schema, expect) in table {
        assert_eq!(is_strict(&schema), expect, "{schema}");
    }
    let asked = Request { schema: Some(closed.clone()), ..request() };
    let body: Value = serde_json::from_str(&bytes(&asked, false, &json!({}))).unwrap();
    let expect = json!({"type": "json_schema", "json_schema": {"name": "output", "strict": true, "schema": closed}});
    assert_eq!(body["response_format"], expect);
}
