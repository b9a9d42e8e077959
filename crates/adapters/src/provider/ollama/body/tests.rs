//! Tests of the bytes that are sent to Ollama.

use super::Body;
use deputize_core::id::{ModelName, ToolName};
use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use serde_json::{Value, json};

fn request() -> Request {
    let call = SentCall { id: "t1_c0".into(), name: "ls".into(), arguments: r#"{"path":"a"}"#.into() };
    Request {
        model: ModelName::new("ollama:qwen3:8b"),
        tools: vec![ToolOffer {
            name: ToolName::new("ls"),
            description: "Lists.".into(),
            input_schema: json!({"type": "object"}),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: String::new(),
                calls: vec![call],
                reasoning: vec![json!({"thinking": "I look first."})],
            },
            Message::Tool { call: "t1_c0".into(), name: "ls".into(), text: "x".into() },
        ],
        schema: None,
        max_output: 100,
        temperature: Some(0.5),
        effort: Some("high".into()),
    }
}

fn text(request: &Request, extra: &Value) -> String {
    let body = Body { request, stream: true, num_ctx: Some(16384), extra: extra.as_object().unwrap() };
    String::from_utf8(body.bytes().unwrap()).unwrap()
}

#[test]
fn every_kind_of_message_has_its_form() {
    let expect = concat!(
        r#"{"model":"qwen3:8b","tools":[{"type":"function","function":{"name":"ls","description":"Lists.","#,
        r#""parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be brief."},"#,
        r#"{"role":"user","content":"go"},{"role":"assistant","content":"","thinking":"I look first.","#,
        r#""tool_calls":[{"id":"t1_c0","type":"function","function":{"name":"ls","arguments":{"path":"a"}}}]},"#,
        r#"{"role":"tool","content":"x","tool_name":"ls","tool_call_id":"t1_c0"}],"stream":true,"think":"high","#,
        r#""options":{"num_ctx":16384,"num_predict":100,"temperature":0.5},"truncate":false,"shift":false}"#,
    );
    assert_eq!(text(&request(), &json!({})), expect);
}

#[test]
fn two_turns_share_their_beginning() {
    // covers U-09
    let mut next = request();
    next.messages.push(Message::Assistant { text: "more".into(), calls: Vec::new(), reasoning: Vec::new() });
    next.messages.push(Message::User { text: "and on".into() });
    let (a, b) = (text(&request(), &json!({})), text(&next, &json!({})));
    let shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    assert!(a.split_at(shared).1.starts_with("],\"stream\""), "they part where the messages of the first end");
}

#[test]
fn effort_becomes_a_level_or_yes_and_no() {
    for (effort, expect) in [
        ("low", json!("low")),
        ("medium", json!("medium")),
        ("max", json!("high")),
        ("0", json!(false)),
        ("4000", json!(true)),
    ] {
        let request = Request { effort: Some(effort.into()), ..request() };
        let all: Value = serde_json::from_str(&text(&request, &json!({}))).unwrap();
        assert_eq!(all["think"], expect, "{effort}");
    }
}

#[test]
fn a_schema_is_the_format_and_settings_are_laid_over() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = Request { schema: Some(schema.clone()), effort: None, ..request() };
    let extra = json!({"keep_alive": "10m", "truncate": null, "options": {"num_ctx": 4096, "top_k": 20}});
    let all: Value = serde_json::from_str(&text(&request, &extra)).unwrap();
    assert_eq!(all["format"], schema);
    assert_eq!(all["options"], json!({"num_ctx": 4096, "num_predict": 100, "temperature": 0.5, "top_k": 20}));
    assert_eq!((all["keep_alive"].as_str(), all.get("truncate"), all.get("think")), (Some("10m"), None, None));
}
