//! Tests of answers: streams and whole messages as turns.

use super::Said;
use crate::provider::wire::Answer;
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Stop, Turn, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::Reply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn said() -> Said {
    Said::new(ModelName::new("anthropic:claude"), 360, Arc::new(|_| {}))
}

fn read(events: &[Value]) -> Result<Reply, Failure> {
    let mut answer = said();
    for event in events {
        answer.absorb(event.to_string().as_bytes())?;
    }
    answer.close()
}

fn message(content: Value, stop: &str) -> Turn {
    read(&[json!({"type": "message", "content": content, "stop_reason": stop, "usage": {"input_tokens": 1}})])
        .unwrap()
        .turn
}

#[test]
fn a_stream_with_everything_in_it() {
    // covers X-03
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string()));
    let mut answer = Said::new(ModelName::new("anthropic:claude"), 360, delta);
    let start =
        |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let more = |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u64| json!({"type": "content_block_stop", "index": index});
    let events = [
        json!({"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 10,
            "cache_creation_input_tokens": 20, "cache_read_input_tokens": 70, "output_tokens": 1}}}),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        more(0, json!({"type": "thinking_delta", "thinking": "let me "})),
        more(0, json!({"type": "thinking_delta", "thinking": "see"})),
        more(0, json!({"type": "signature_delta", "signature": "c2ln"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "ZGF0YQ"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        more(2, json!({"type": "text_delta", "text": "Hel"})),
        more(2, json!({"type": "text_delta", "text": "lo"})),
        more(2, json!({"type": "citations_delta", "citation": {}})),
        start(3, json!({"type": "thinking", "thinking": "", "signature": "MTI"})),
        start(4, json!({"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}})),
        more(4, json!({"type": "input_json_delta", "partial_json": ""})),
        more(4, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
        more(4, json!({"type": "input_json_delta", "partial_json": " \"ä\"}"})),
        start(5, json!({"type": "tool_use", "id": "toolu_2", "name": "pwd", "input": {}})),
        start(6, json!({"type": "something_new"})),
        more(6, json!({"type": "new_delta", "text": "no"})),
        json!({"type": "new_event"}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 42}}),
    ];
    for event in &events {
        answer.absorb(event.to_string().as_bytes()).unwrap();
        assert_eq!(answer.finished(), event["type"] == "message_delta");
    }
    assert!(!answer.complete());
    answer.absorb(br#"{"type":"message_stop"}"#).unwrap();
    assert!(answer.complete());
    let Reply { turn, usage } = answer.close().unwrap();
    assert_eq!(usage, Usage { input_tokens: 100, cached_tokens: 70, output_tokens: 42 });
    assert_eq!((turn.text.as_str(), turn.stop), ("Hello", Stop::ToolCalls));
    assert_eq!(turn.calls[0].arguments, Arguments::Json(json!({"path": "ä"})));
    assert_eq!((turn.calls[1].name.as_str(), &turn.calls[1].arguments), ("pwd", &Arguments::Json(json!({}))));
    assert_eq!(turn.calls.len(), 2);
    assert_eq!(*heard.lock().unwrap(), ["Hel", "lo"]);
    let blocks = vec![
        json!({"type": "thinking", "thinking": "let me see", "signature": "c2ln"}),
        json!({"type": "redacted_thinking", "data": "ZGF0YQ"}),
        json!({"after": {"text": 5, "calls": 0}, "block": {"type": "thinking", "thinking": "", "signature": "MTI"}}),
    ];
    assert_eq!(turn.reasoning, Some(Reasoning { by: ModelName::new("anthropic:claude"), blocks }));
}

#[test]
fn the_reason_of_the_end() {
    let text = json!([{"type": "text", "text": "x"}]);
    let call = json!([{"type": "tool_use", "name": "a", "input": {"b": 1}}]);
    let table = [
        ("end_turn", &text, Stop::End),
        ("stop_sequence", &text, Stop::End),
        ("anything", &text, Stop::End),
        ("tool_use", &call, Stop::ToolCalls),
        ("max_tokens", &text, Stop::Length),
        ("max_tokens", &call, Stop::Length),
        ("model_context_window_exceeded", &text, Stop::Length),
        ("pause_turn", &text, Stop::Length),
        ("refusal", &text, Stop::Refusal),
    ];
    for (reason, content, expect) in table {
        assert_eq!(message(content.clone(), reason).stop, expect, "{reason} {content}");
    }
    assert_eq!(message(call, "tool_use").calls[0].arguments, Arguments::Json(json!({"b": 1})));
}

#[test]
fn what_is_paid_is_known_even_when_the_call_fails() {
    let mut answer = said();
    assert_eq!(answer.paid(), Usage::default());
    answer.absorb(br#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#).unwrap();
    answer.absorb(br#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#).unwrap();
    let more = br#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"twelve bytes"}}"#;
    answer.absorb(more).unwrap();
    // What it has said is more than the count of its first piece.
    assert_eq!(answer.paid(), Usage { input_tokens: 7, cached_tokens: 0, output_tokens: 4 });
}

#[test]
fn errors_in_a_stream_are_failures() {
    // covers F-07
    let table = [
        ("overloaded_error", code::MODEL_OVERLOADED, Retry::After(None)),
        ("api_error", code::MODEL_OVERLOADED, Retry::After(None)),
        ("rate_limit_error", code::MODEL_RATE_LIMITED, Retry::After(None)),
        ("authentication_error", code::MODEL_AUTH, Retry::Never),
        ("permission_error", code::MODEL_AUTH, Retry::Never),
        ("not_found_error", code::MODEL_NOT_FOUND, Retry::Never),
        ("invalid_request_error", code::MODEL_REQUEST, Retry::Never),
        ("request_too_large", code::CONTEXT_FULL, Retry::Never),
        ("billing_error", code::MODEL_RATE_LIMITED, Retry::Never),
    ];
    for (kind, expect, retry) in table {
        let failure = read(&[json!({"type": "error", "error": {"type": kind, "message": "Oh no"}})]).unwrap_err();
        assert_eq!((failure.code, failure.retry), (expect, retry), "{kind}");
        assert!(failure.why.contains("Oh no"), "{}", failure.why);
    }
}

#[test]
fn what_is_no_message_is_shown() {
    let other = read(&[json!({"type": "completion", "completion": "Hi"})]).unwrap_err();
    assert_eq!(other.code, code::MODEL_MALFORMED);
    assert!(other.why.contains("completion"), "{}", other.why);
    assert_eq!(read(&[]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!([1])]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(message(json!([]), "end_turn"), Turn::default(), "an empty answer is one");
}
