//! Tests of the bytes that are sent to Gemini.

use super::bytes;
use deputize_core::id::{ModelName, ToolName};
use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use serde_json::{Value, json};

fn call(id: &str, name: &str, arguments: &str) -> SentCall {
    SentCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

fn result(id: &str, name: &str, text: &str) -> Message {
    Message::Tool { call: id.into(), name: name.into(), text: text.into() }
}

fn request(model: &str) -> Request {
    Request {
        model: ModelName::new(model),
        tools: vec![ToolOffer {
            name: ToolName::new("ls"),
            description: "Lists.".into(),
            input_schema: json!({"type": "object"}),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: "Let me look.".into(),
                calls: vec![call("t1_c0", "ls", r#"{"path":"a"}"#), call("t1_c1", "grep", "{}")],
                reasoning: Vec::new(),
            },
            result("t1_c0", "ls", "x"),
            result("t1_c1", "grep", "y"),
        ],
        schema: None,
        max_output: 100,
        temperature: Some(0.5),
        effort: None,
    }
}

fn sent(request: &Request, extra: &Value) -> Value {
    serde_json::from_slice(&bytes(request, extra.as_object().unwrap()).unwrap()).unwrap()
}

#[test]
fn a_conversation_has_two_roles_and_results_in_the_order_of_the_calls() {
    let text = String::from_utf8(bytes(&request("gemini:gemini-2.5-flash"), &Default::default()).unwrap()).unwrap();
    let expect = concat!(
        r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"#,
        r#""tools":[{"functionDeclarations":[{"name":"ls","description":"Lists.","#,
        r#""parametersJsonSchema":{"type":"object"}}]}],"#,
        r#""contents":[{"role":"user","parts":[{"text":"go"}]},"#,
        r#"{"role":"model","parts":[{"text":"Let me look."},"#,
        r#"{"functionCall":{"id":"t1_c0","name":"ls","args":{"path":"a"}}},"#,
        r#"{"functionCall":{"id":"t1_c1","name":"grep","args":{}}}]},"#,
        r#"{"role":"user","parts":["#,
        r#"{"functionResponse":{"id":"t1_c0","name":"ls","response":{"output":"x"}}},"#,
        r#"{"functionResponse":{"id":"t1_c1","name":"grep","response":{"output":"y"}}}]}],"#,
        r#""generationConfig":{"maxOutputTokens":100,"temperature":0.5}}"#,
    );
    assert_eq!(text, expect);
}

#[test]
fn two_turns_share_their_beginning() {
    // covers U-09
    let (first, mut next) = (request("gemini:gemini-3-pro"), request("gemini:gemini-3-pro"));
    next.messages.push(Message::Assistant { text: "more".into(), calls: Vec::new(), reasoning: Vec::new() });
    next.messages.push(Message::User { text: "and on".into() });
    let text = |request: &Request| String::from_utf8(bytes(request, &Default::default()).unwrap()).unwrap();
    let (a, b) = (text(&first), text(&next));
    let shared = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    assert_eq!(a.split_at(shared).1.split(']').next().unwrap(), "", "they part where the contents of the first end");
}

fn answered(text: &str, calls: Vec<SentCall>, reasoning: Value) -> Value {
    let mut request = request("gemini:gemini-3-pro");
    let results: Vec<Message> = calls.iter().map(|call| result(&call.id, &call.name, "r")).collect();
    let reasoning = reasoning.as_array().unwrap().clone();
    request.messages = vec![Message::User { text: "go".into() }];
    request.messages.push(Message::Assistant { text: text.into(), calls, reasoning });
    request.messages.extend(results);
    sent(&request, &json!({}))["contents"].clone()
}

#[test]
fn signatures_go_back_with_their_parts_and_results_name_the_providers_ids() {
    let calls = || vec![call("t1_c0", "ls", r#"{"z":1,"path":"a"}"#), call("t1_c1", "grep", "{}")];
    let blocks = json!([
        {"text": "thinking about it", "thought": true},
        {"text": [0, 3], "thoughtSignature": "Zmlyc3Q="},
        {"call": 0, "id": "g-1", "thoughtSignature": "c2lnbmVk"},
        {"call": 1},
        {"text": [12, 12], "thoughtSignature": "ZW5k"},
    ]);
    let contents = answered("Let me look.", calls(), blocks);
    let expect = json!([
        {"text": "thinking about it", "thought": true},
        {"text": "Let", "thoughtSignature": "Zmlyc3Q="},
        {"text": " me look."},
        {"functionCall": {"id": "g-1", "name": "ls", "args": {"z": 1, "path": "a"}}, "thoughtSignature": "c2lnbmVk"},
        {"functionCall": {"id": "t1_c1", "name": "grep", "args": {}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]);
    assert_eq!(contents[1]["parts"].to_string(), expect.to_string(), "byte for byte");
    assert_eq!(contents[2]["parts"][0]["functionResponse"]["id"], "g-1");
    assert_eq!(contents[2]["parts"][1]["functionResponse"]["id"], "t1_c1", "ours, where the provider gave none");
}

#[test]
fn blocks_that_do_not_fit_lose_nothing_else() {
    // A text that was changed, and calls that nobody answers.
    let blocks = json!([{"text": [2, 90], "thoughtSignature": "eA=="}, {"call": 3, "thoughtSignature": "eQ=="}, 7]);
    let contents = answered("né", vec![call("t1_c0", "ls", "{}")], blocks.clone());
    let called = json!({"functionCall": {"id": "t1_c0", "name": "ls", "args": {}}});
    assert_eq!(contents[1]["parts"], json!([{"text": "né"}, called]));
    assert_eq!(answered("no", Vec::new(), blocks)[1]["parts"], json!([{"text": "no"}]));
}

#[test]
fn a_turn_of_another_model_carries_the_mark_for_no_signature() {
    let parts = |model: &str| sent(&request(model), &json!({}))["contents"][1]["parts"].clone();
    let late = parts("gemini:gemini-3-pro-preview");
    assert_eq!(late[1]["thoughtSignature"], "skip_thought_signature_validator");
    assert_eq!(late[2].get("thoughtSignature"), None, "only the first of parallel calls");
    assert_eq!(parts("gemini:gemini-2.5-flash")[1].get("thoughtSignature"), None);
}

#[test]
fn effort_is_a_budget_for_early_models_and_a_level_for_later_ones() {
    let table = [
        ("gemini-2.5-flash", "low", json!({"thinkingBudget": 1024})),
        ("gemini-2.5-pro", "max", json!({"thinkingBudget": 24576})),
        ("gemini-2.5-pro", "2000", json!({"thinkingBudget": 2000})),
        ("gemini-3-pro-preview", "low", json!({"thinkingLevel": "low"})),
        ("gemini-3-pro-preview", "max", json!({"thinkingLevel": "high"})),
        ("gemini-3-pro-preview", "2000", json!({"thinkingBudget": 2000})),
    ];
    for (model, effort, expect) in table {
        let request = Request { effort: Some(effort.into()), max_output: 0, ..request(&format!("gemini:{model}")) };
        assert_eq!(sent(&request, &json!({}))["generationConfig"]["thinkingConfig"], expect, "{model} {effort}");
    }
    let short = Request { effort: Some("high".into()), ..request("gemini:gemini-2.5-pro") };
    let expect = json!({"thinkingBudget": 50});
    assert_eq!(sent(&short, &json!({}))["generationConfig"]["thinkingConfig"], expect, "half is for the answer");
}

#[test]
fn a_schema_is_sent_with_its_media_type_and_settings_are_laid_over() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = Request { schema: Some(schema.clone()), tools: Vec::new(), ..request("gemini:gemini-3-pro") };
    let extra = json!({"safetySettings": [], "generationConfig": {"temperature": null, "topK": 20}});
    let all = sent(&request, &extra);
    let expect = json!({"maxOutputTokens": 100, "responseMimeType": "application/json",
        "responseJsonSchema": schema, "topK": 20});
    assert_eq!(all["generationConfig"], expect);
    assert_eq!(all["safetySettings"], json!([]));
    assert_eq!(all.get("tools"), None);
}

#[test]
fn a_bare_request_has_no_empty_fields() {
    let bare = Request {
        tools: Vec::new(),
        system: String::new(),
        messages: vec![Message::User { text: "go".into() }],
        max_output: 0,
        temperature: None,
        ..request("gemini:gemini-3-pro")
    };
    assert_eq!(sent(&bare, &json!({})), json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}]}));
}
