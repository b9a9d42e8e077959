//! Tests of answers: what Ollama sends, as turns.

use super::Said;
use crate::provider::wire::Answer;
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Stop, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::Reply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn answer() -> Said {
    Said::new(ModelName::new("ollama:qwen3"), 360, Arc::new(|_| {}))
}

fn read(lines: &[Value]) -> Result<Reply, Failure> {
    let mut answer = answer();
    for line in lines {
        answer.absorb(line.to_string().as_bytes())?;
    }
    answer.close()
}

fn said(message: Value) -> Value {
    json!({"model": "qwen3", "created_at": "2025-10-26T17:21:21Z", "message": message, "done": false})
}

fn end(reason: &str) -> Value {
    json!({"model": "qwen3", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason,
        "total_duration": 5, "prompt_eval_count": 26, "eval_count": 3})
}

#[test]
fn text_comes_in_pieces_and_thinking_is_kept_apart() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string()));
    let mut answer = Said::new(ModelName::new("ollama:qwen3"), 0, delta);
    for message in [
        json!({"role": "assistant", "content": "", "thinking": "h"}),
        json!({"role": "assistant", "content": "", "thinking": "m"}),
        json!({"role": "assistant", "content": "He"}),
        json!({"role": "assistant", "content": "llo"}),
    ] {
        answer.absorb(said(message).to_string().as_bytes()).unwrap();
        assert!(!answer.finished());
    }
    answer.absorb(end("stop").to_string().as_bytes()).unwrap();
    assert!(answer.finished());
    let reply = answer.close().unwrap();
    assert_eq!((reply.turn.text.as_str(), reply.turn.stop), ("Hello", Stop::End));
    let kept = reply.turn.reasoning.unwrap();
    assert_eq!((kept.by.as_str(), kept.blocks), ("ollama:qwen3", vec![json!({"thinking": "hm"})]));
    assert_eq!(reply.usage, Usage { input_tokens: 26, cached_tokens: 0, output_tokens: 3 });
    assert_eq!(*heard.lock().unwrap(), ["He", "llo"]);
}

#[test]
fn calls_come_whole_and_in_order_over_several_lines() {
    let called = |name: &str, arguments: Value| {
        said(json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "call_x", "function": {"index": 0, "name": name, "arguments": arguments}}]}))
    };
    let turn = read(&[
        called("b", json!({"z": 1, "a": 2})),
        called("a", json!({})),
        called("c", json!("{\"x\": ")),
        end("stop"),
    ]);
    let turn = turn.unwrap().turn;
    assert_eq!((turn.stop, turn.reasoning), (Stop::ToolCalls, None));
    let calls: Vec<_> = turn.calls.into_iter().map(|c| (c.name, c.arguments)).collect();
    let expect = [
        ("b".to_string(), Arguments::Json(json!({"z": 1, "a": 2}))),
        ("a".to_string(), Arguments::Json(json!({}))),
        ("c".to_string(), Arguments::Malformed("{\"x\": ".to_string())),
    ];
    assert_eq!(calls, expect);
}

#[test]
fn every_end_has_its_meaning() {
    let text = || said(json!({"content": "half"}));
    for (reason, stop) in [("stop", Stop::End), ("length", Stop::Length)] {
        assert_eq!(read(&[text(), end(reason)]).unwrap().turn.stop, stop, "{reason}");
    }
    let loaded = read(&[end("load")]).unwrap_err();
    assert_eq!((loaded.code, loaded.retry), (code::MODEL_MALFORMED, Retry::After(None)));
    let old = json!({"message": {"content": "whole"}, "done": true});
    assert_eq!(read(&[old]).unwrap().turn.stop, Stop::End, "old servers give no reason");
}

#[test]
fn what_the_server_did_not_count_is_estimated() {
    let mut last = end("stop");
    last.as_object_mut().unwrap().remove("prompt_eval_count");
    let usage = read(&[said(json!({"content": "abcdefg"})), last]).unwrap().usage;
    assert_eq!(usage, Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 3 }, "a prompt out of the cache");
    let mut last = end("stop");
    last["prompt_eval_cached_count"] = json!(20);
    assert_eq!(read(&[last]).unwrap().usage.cached_tokens, 20);
    let mut cut = answer();
    assert_eq!(cut.paid(), Usage::default());
    cut.absorb(said(json!({"content": "abcdefg"})).to_string().as_bytes()).unwrap();
    assert_eq!(cut.paid(), Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 2 });
}

#[test]
fn errors_within_a_stream_and_empty_answers_are_failures() {
    let failure = read(&[said(json!({"content": "a"})), json!({"error": "the runner has died"})]).unwrap_err();
    assert_eq!((failure.code, failure.retry), (code::MODEL_OVERLOADED, Retry::After(None)));
    assert!(failure.why.contains("the runner has died"), "{}", failure.why);
    assert_eq!(read(&[json!({"done": true})]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!({"message": 3})]).unwrap_err().code, code::MODEL_MALFORMED);
}
