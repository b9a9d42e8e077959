//! Tests of answers: what servers send in all their dialects, as turns.

use super::Said;
use crate::provider::wire::Answer;
use deputize_core::code;
use deputize_core::message::{Arguments, Stop, ToolCall, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::Reply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn read(chunks: &[Value]) -> Result<Reply, Failure> {
    let mut answer = Said::new(360, Arc::new(|_| {}));
    for chunk in chunks {
        answer.absorb(chunk.to_string().as_bytes())?;
    }
    answer.close()
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn calls(pieces: &[Value]) -> Vec<ToolCall> {
    let chunks: Vec<Value> = pieces.iter().map(|piece| delta(json!({"tool_calls": [piece]}))).collect();
    read(&chunks).unwrap().turn.calls
}

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall { name: name.to_string(), arguments: Arguments::Json(arguments) }
}

#[test]
fn text_comes_in_pieces_and_is_told_as_it_comes() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let mut answer = Said::new(0, Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string())));
    for piece in [
        json!({"role": "assistant", "content": ""}),
        json!({"reasoning_content": "hm"}),
        json!({"content": "He"}),
        json!({"content": null}),
        json!({"content": [{"type": "text", "text": "llo"}]}),
        json!({}),
    ] {
        answer.absorb(delta(piece).to_string().as_bytes()).unwrap();
    }
    answer.absorb(br#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#).unwrap();
    assert!(answer.finished());
    let turn = answer.close().unwrap().turn;
    assert_eq!(turn, Turn { text: "Hello".to_string(), calls: Vec::new(), stop: Stop::End, reasoning: None });
    assert_eq!(*heard.lock().unwrap(), ["He", "llo"]);
}

#[test]
fn calls_come_in_pieces_of_every_dialect() {
    let (a, b) = (call("a", json!({"x": 1})), call("b", json!({})));
    let whole =
        |id: &str, name: &str, arguments: &str| json!({"id": id, "function": {"name": name, "arguments": arguments}});
    // By index, the id only in the first piece.
    let by_index = [
        json!({"index": 0, "id": "1", "type": "function", "function": {"name": "a", "arguments": ""}}),
        json!({"index": 1, "id": "2", "function": {"name": "b"}}),
        json!({"index": 0, "function": {"arguments": "{\"x\""}}),
        json!({"index": 0, "function": {"arguments": ": 1}"}}),
        json!({"index": 1, "function": {"arguments": null}}),
    ];
    assert_eq!(calls(&by_index), [a.clone(), b.clone()]);
    // Out of order.
    let backwards = [
        json!({"index": 1, "id": "2", "function": {"name": "b", "arguments": "{}"}}),
        json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{\"x\":1}"}}),
    ];
    assert_eq!(calls(&backwards), [a.clone(), b.clone()]);
    // No index: whole calls with ids, whole calls without, pieces of one call.
    assert_eq!(calls(&[whole("1", "a", "{\"x\":1}"), whole("2", "b", "")]), [a.clone(), b.clone()]);
    assert_eq!(calls(&[whole("", "a", "{\"x\":1}"), whole("", "b", "{}")]), [a.clone(), b.clone()]);
    let more = json!({"function": {"arguments": "1}"}});
    assert_eq!(calls(&[whole("1", "a", "{\"x\":"), more]), std::slice::from_ref(&a));
    // Every call under index 0.
    let zero = [
        json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{\"x\":1}"}}),
        json!({"index": 0, "id": "2", "function": {"name": "b", "arguments": "{}"}}),
    ];
    assert_eq!(calls(&zero), [a.clone(), b.clone()]);
    // A new id with every piece, the name repeated in each.
    let restless = [
        json!({"index": 0, "id": "1", "function": {"name": "a", "arguments": "{\"x\":"}}),
        json!({"index": 0, "id": "9", "function": {"arguments": "1}"}}),
    ];
    assert_eq!(calls(&restless), std::slice::from_ref(&a));
    let repeated = [whole("1", "a", "{\"x\":"), whole("1", "a", "1}")];
    assert_eq!(calls(&repeated), std::slice::from_ref(&a));
    // Arguments as an object, and as no JSON.
    assert_eq!(calls(&[json!({"index": 0, "function": {"name": "a", "arguments": {"x": 1}}})]), [a]);
    let broken = calls(&[json!({"index": 0, "function": {"name": "a", "arguments": "{\"x\":"}})]);
    assert_eq!(broken[0].arguments, Arguments::Malformed("{\"x\":".to_string()));
}

#[test]
fn a_whole_answer_is_read_like_a_stream() {
    let reply = read(&[json!({
        "id": "x", "object": "chat.completion",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "hi", "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}},
                {"id": "2", "type": "function", "function": {"name": "b", "arguments": ""}},
            ]}, "finish_reason": "tool_calls"},
            {"index": 1, "message": {"content": "another"}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 60}},
    })]);
    let reply = reply.unwrap();
    assert_eq!(reply.turn.text, "hi");
    assert_eq!(reply.turn.calls, [call("a", json!({"x": 1})), call("b", json!({}))]);
    assert_eq!(reply.turn.stop, Stop::ToolCalls);
    assert_eq!(reply.usage, Usage { input_tokens: 100, cached_tokens: 60, output_tokens: 7 });
}

#[test]
fn the_reason_of_the_end_is_read_in_every_dialect() {
    let end = |reason: &str, message: Value| {
        read(&[json!({"choices": [{"message": message, "finish_reason": reason}]})]).unwrap().turn
    };
    let called = json!({"tool_calls": [{"function": {"name": "a"}}]});
    let table = [
        ("stop", json!({"content": "x"}), Stop::End),
        ("anything", json!({"content": "x"}), Stop::End),
        ("length", json!({"content": "x"}), Stop::Length),
        ("length", called.clone(), Stop::Length),
        ("content_filter", json!({"content": "x"}), Stop::Filter),
        ("tool_calls", called.clone(), Stop::ToolCalls),
        ("stop", called, Stop::ToolCalls),
        ("stop", json!({"content": null, "refusal": "no"}), Stop::Refusal),
    ];
    for (reason, message, expect) in table {
        assert_eq!(end(reason, message.clone()).stop, expect, "{reason} {message}");
    }
    assert_eq!(end("stop", json!({"content": null, "refusal": "no"})).text, "no");
}

#[test]
fn the_last_usage_holds_and_a_missing_one_is_estimated() {
    let said = delta(json!({"content": "twelve bytes"}));
    let count = |n: u64| json!({"choices": [], "usage": {"prompt_tokens": n, "completion_tokens": 1}});
    let reply = read(&[said.clone(), count(5), count(9), json!({"choices": [], "usage": null})]).unwrap();
    assert_eq!(reply.usage, Usage { input_tokens: 9, cached_tokens: 0, output_tokens: 1 });
    let reply = read(&[said, json!({"choices": [], "usage": {}})]).unwrap();
    assert_eq!(reply.usage, Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 4 });
    let more = json!({"choices": [{"delta": {}}], "usage": {"prompt_tokens": 5, "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 50}}});
    let usage = read(&[more]).unwrap().usage;
    assert_eq!((usage.input_tokens, usage.cached_tokens), (55, 50), "what was cached was counted apart");
}

#[test]
fn what_is_paid_is_known_even_when_the_call_fails() {
    let mut answer = Said::new(360, Arc::new(|_| {}));
    assert_eq!(answer.paid(), Usage::default());
    answer.absorb(delta(json!({"content": "twelve bytes"})).to_string().as_bytes()).unwrap();
    assert_eq!(answer.paid(), Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 4 });
    answer.absorb(br#"{"usage":{"prompt_tokens":3,"completion_tokens":2}}"#).unwrap();
    assert_eq!(answer.paid(), Usage { input_tokens: 3, cached_tokens: 0, output_tokens: 2 });
}

#[test]
fn errors_in_place_of_an_answer_are_failures() {
    // covers F-07
    let error = |error: Value| read(&[json!({"error": error})]).unwrap_err();
    let table = [
        (json!({"message": "x", "type": "server_error"}), code::MODEL_OVERLOADED),
        (json!({"message": "x", "code": 429}), code::MODEL_RATE_LIMITED),
        (json!({"message": "x", "type": "rate_limit_error"}), code::MODEL_RATE_LIMITED),
        (json!({"message": "x", "code": 401}), code::MODEL_AUTH),
        (json!({"message": "x", "type": "exceed_context_size_error", "code": 400}), code::CONTEXT_FULL),
        (json!({"message": "prompt is too long", "type": "invalid_request_error"}), code::CONTEXT_FULL),
        (json!("plain text"), code::MODEL_OVERLOADED),
    ];
    for (value, expect) in table {
        assert_eq!(error(value.clone()).code, expect, "{value}");
    }
    assert_eq!(read(&[]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!({"choices": []})]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!([1])]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!({"choices": [{"delta": {"content": 7}}]})]).unwrap_err().code, code::MODEL_MALFORMED);
}
