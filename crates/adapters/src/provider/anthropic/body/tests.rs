//! Tests of the bytes of a request: their order, breakpoints, merged messages, and what the model's generation changes.

use super::bytes;
use crate::provider::wire::Asking;
use deputize_core::id::{ModelName, ToolName};
use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use serde_json::{Map, Value, json};

fn request() -> Request {
    let call = |id: &str| SentCall { id: id.into(), name: "ls".into(), arguments: "{\"path\":\"a\"}".into() };
    let result = |id: &str, text: &str| Message::Tool { call: id.into(), name: "ls".into(), text: text.into() };
    Request {
        model: ModelName::new("anthropic:claude-sonnet-4-5"),
        tools: vec![ToolOffer {
            name: ToolName::new("ls"),
            description: "Lists.".into(),
            input_schema: json!({"type": "object"}),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant { text: "I look.".into(), calls: vec![call("c0"), call("c1")], reasoning: Vec::new() },
            result("c0", "x"),
            result("c1", "y"),
        ],
        schema: None,
        max_output: 100,
        temperature: Some(0.5),
        effort: None,
    }
}

fn text(request: &Request, extra: &Value) -> String {
    let extra: Map<String, Value> = extra.as_object().unwrap().clone();
    String::from_utf8(bytes(&Asking { request, stream: true, extra: &extra }).unwrap()).unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&text(request, &json!({}))).unwrap()
}

#[test]
fn the_bytes_are_these() {
    // covers U-09
    let expect = concat!(
        r#"{"model":"claude-sonnet-4-5","#,
        r#""tools":[{"name":"ls","description":"Lists.","input_schema":{"type":"object"}}],"#,
        r#""system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],"#,
        r#""messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"I look."},"#,
        r#"{"type":"tool_use","id":"c0","name":"ls","input":{"path":"a"}},"#,
        r#"{"type":"tool_use","id":"c1","name":"ls","input":{"path":"a"}}]},"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":"x"},"#,
        r#"{"type":"tool_result","tool_use_id":"c1","content":"y","cache_control":{"type":"ephemeral"}}]}],"#,
        r#""stream":true,"max_tokens":100,"temperature":0.5}"#,
    );
    assert_eq!(text(&request(), &json!({})), expect);
}

#[test]
fn no_more_breakpoints_than_the_api_takes() {
    // covers U-09
    let mut long = request();
    for _ in 0..20 {
        long.messages.push(Message::Assistant { text: "ok".into(), calls: Vec::new(), reasoning: Vec::new() });
        long.messages.push(Message::User { text: "more".into() });
    }
    assert_eq!(text(&long, &json!({})).matches("cache_control").count(), 3);
    let bare = Request { system: " ".into(), ..request() };
    assert!(body(&bare)["tools"][0].get("cache_control").is_some(), "without a system prompt the tools end it");
    assert!(body(&bare).get("system").is_none());
}

#[test]
fn two_briefs_share_all_bytes_before_them() {
    // covers U-09
    let with = |brief: &str| {
        let messages = vec![Message::User { text: brief.into() }];
        text(&Request { messages, ..request() }, &json!({}))
    };
    let (one, two) = (with("read the left file"), with("read the right file"));
    let shared = one.bytes().zip(two.bytes()).take_while(|(a, b)| a == b).count();
    let (prefix, _) = one.split_at(shared);
    assert!(prefix.ends_with("\"text\":\"read the "), "{prefix}");
    assert!(prefix.contains("\"text\":\"Be brief.\""));
}

#[test]
fn neighbours_are_merged_and_nothing_is_empty() {
    // covers X-03
    let said = |text: &str| Message::Assistant { text: text.into(), calls: Vec::new(), reasoning: Vec::new() };
    let user = |text: &str| Message::User { text: text.into() };
    let mut asked = request();
    asked.messages.extend([user("close"), said(" \n"), user("again"), said("a"), said("b"), user("end")]);
    let body = body(&asked);
    let roles: Vec<&str> = body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
    let kinds: Vec<&str> =
        body["messages"][2]["content"].as_array().unwrap().iter().map(|b| b["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_result", "tool_result", "text", "text"], "results first");
}

#[test]
fn reasoning_stands_where_it_stood() {
    // covers X-03
    let thought = |n: u64| json!({"type": "thinking", "thinking": "hm", "signature": n.to_string()});
    let redacted = json!({"type": "redacted_thinking", "data": "xyz"});
    let mut asked = request();
    let Message::Assistant { reasoning, .. } = &mut asked.messages[1] else { panic!() };
    *reasoning = vec![
        thought(1),
        redacted.clone(),
        json!({"after": {"text": 2, "calls": 0}, "block": thought(2)}),
        json!({"after": {"text": 7, "calls": 1}, "block": thought(3)}),
    ];
    let content = body(&asked)["messages"][1]["content"].clone();
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {"path": "a"}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let expect =
        json!([thought(1), redacted, text("I "), thought(2), text("look."), call("c0"), thought(3), call("c1"),]);
    assert_eq!(content, expect);
    // A place that the text no longer has does not lose the text.
    let Message::Assistant { reasoning, .. } = &mut asked.messages[1] else { panic!() };
    *reasoning = vec![json!({"after": {"text": 700, "calls": 9}, "block": thought(1)})];
    let content = body(&asked)["messages"][1]["content"].clone();
    assert_eq!(content, json!([text("I look."), call("c0"), call("c1"), thought(1)]));
    let alone = Message::Assistant { text: String::new(), calls: Vec::new(), reasoning: vec![thought(1)] };
    asked.messages = vec![Message::User { text: "go".into() }, alone, Message::User { text: "on".into() }];
    assert_eq!(body(&asked)["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn effort_temperature_and_schema_by_generation() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2}}});
    let ask = |model: &str, effort: Option<&str>, max_output: u64| {
        let model = ModelName::new(format!("anthropic:{model}"));
        let effort = effort.map(String::from);
        let messages = request().messages[..1].to_vec();
        let schema = Some(schema.clone());
        body(&Request { model, effort, max_output, messages, temperature: Some(1.5), schema, ..request() })
    };
    let fitted = json!({"type": "json_schema", "schema": {"type": "object", "additionalProperties": false,
        "properties": {"a": {"type": "string"}}}});
    let old = ask("claude-3-5-haiku-latest", Some("high"), 8000);
    assert_eq!((old.get("thinking"), old.get("output_config")), (None, None));
    assert_eq!(old["temperature"], 1.0);
    let middle = ask("claude-sonnet-4-5", Some("high"), 64_000);
    assert_eq!(middle["thinking"], json!({"type": "enabled", "budget_tokens": 16_384}));
    assert_eq!(middle["output_config"], json!({ "format": fitted }));
    assert_eq!(middle.get("temperature"), None, "thinking and a temperature exclude each other");
    assert_eq!(ask("claude-sonnet-4-5", Some("high"), 8000)["thinking"]["budget_tokens"], 4000);
    assert_eq!(ask("claude-sonnet-4-5", Some("2000"), 8000)["thinking"]["budget_tokens"], 2000);
    assert_eq!(ask("claude-sonnet-4-5", Some("high"), 2000).get("thinking"), None, "no room to think in");
    let new = ask("claude-sonnet-5", Some("max"), 8000);
    assert_eq!(new["thinking"], json!({"type": "adaptive"}));
    assert_eq!(new["output_config"], json!({"effort": "max", "format": fitted}));
    assert_eq!(new.get("temperature"), None);
    assert_eq!(ask("claude-sonnet-5", Some("4000"), 8000)["output_config"].get("effort"), None);
    let silent = ask("claude-sonnet-5", None, 0);
    assert_eq!((silent.get("thinking"), &silent["max_tokens"]), (None, &json!(8192)));
    assert_eq!(silent.get("temperature"), None, "the newest models refuse one");
    assert_eq!(ask("claude-sonnet-4-6", None, 100)["temperature"], 1.0);
}

#[test]
fn the_settings_add_replace_and_take_out() {
    let extra = json!({"top_k": 20, "temperature": null, "max_tokens": 3});
    let all: Value = serde_json::from_str(&text(&request(), &extra)).unwrap();
    assert_eq!((all["top_k"].clone(), all["max_tokens"].clone()), (json!(20), json!(3)));
    assert_eq!(all.get("temperature"), None);
}

// Another model made the calls whose results this one reads: the API refuses to think about them within a budget.
#[test]
fn no_budget_to_think_for_a_turn_without_thinking() {
    let ask = |model: &str, reasoning: Vec<Value>, upto: usize| {
        let mut asked = request();
        if let Message::Assistant { reasoning: own, .. } = &mut asked.messages[1] {
            *own = reasoning;
        }
        asked.messages.truncate(upto);
        let (model, effort) = (ModelName::new(format!("anthropic:{model}")), Some("high".to_string()));
        body(&Request { model, effort, max_output: 8000, temperature: None, ..asked }).get("thinking").is_some()
    };
    let own = || vec![json!({"type": "thinking", "thinking": "hm", "signature": "s"})];
    let late = vec![json!({"after": {"text": 2, "calls": 0}, "block": own()[0]})];
    assert!(ask("claude-sonnet-4-5", own(), 4) && ask("claude-sonnet-4-5", Vec::new(), 1));
    assert!(!ask("claude-sonnet-4-5", Vec::new(), 4) && !ask("claude-sonnet-4-5", late, 4));
    assert!(ask("claude-sonnet-5", Vec::new(), 4), "adaptive thinking has no such rule");
}
