//! Tests of answers: what Gemini sends, as turns.

use super::Said;
use crate::provider::wire::Answer;
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Stop, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::Reply;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn read(chunks: &[Value]) -> Result<Reply, Failure> {
    let mut answer = Said::new(ModelName::new("gemini:g3"), 360, Arc::new(|_| {}));
    for chunk in chunks {
        answer.absorb(chunk.to_string().as_bytes())?;
    }
    answer.close()
}

fn said(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

#[test]
fn text_comes_in_pieces_and_thoughts_are_no_text() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string()));
    let mut answer = Said::new(ModelName::new("gemini:g3"), 0, delta);
    for parts in [json!([{"text": "hm", "thought": true}]), json!([{"text": "He"}]), json!([{"text": "llo"}])] {
        answer.absorb(said(parts).to_string().as_bytes()).unwrap();
        assert!(!answer.finished());
    }
    answer.absorb(end("STOP").to_string().as_bytes()).unwrap();
    assert!(answer.finished());
    let turn = answer.close().unwrap().turn;
    assert_eq!((turn.text.as_str(), turn.stop, turn.reasoning), ("Hello", Stop::End, None));
    assert_eq!(*heard.lock().unwrap(), ["He", "llo"]);
}

#[test]
fn calls_keep_their_order_and_signatures_are_kept_with_their_places() {
    let reply = read(&[
        said(json!([{"text": "a", "thought": true}, {"text": "b", "thought": true}])),
        said(json!([{"text": "Let me"}])),
        said(json!([{"text": " look."}])),
        said(json!([
            {"functionCall": {"id": "1", "name": "ls", "args": {"z": 1, "a": 2}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "grep"}},
        ])),
        said(json!([{"text": "", "thoughtSignature": "ZW5k"}])),
        end("STOP"),
    ]);
    let turn = reply.unwrap().turn;
    assert_eq!((turn.text.as_str(), turn.stop), ("Let me look.", Stop::ToolCalls));
    let calls: Vec<_> = turn.calls.iter().map(|c| (c.name.as_str(), c.arguments.clone())).collect();
    let expect = [("ls", Arguments::Json(json!({"z": 1, "a": 2}))), ("grep", Arguments::Json(json!({})))];
    assert_eq!(calls, expect);
    let kept = turn.reasoning.unwrap();
    assert_eq!(kept.by.as_str(), "gemini:g3");
    let expect = json!([
        {"text": "ab", "thought": true},
        {"call": 0, "id": "1", "thoughtSignature": "c2ln"},
        {"call": 1},
        {"text": [12, 12], "thoughtSignature": "ZW5k"},
    ]);
    assert_eq!(Value::Array(kept.blocks).to_string(), expect.to_string());
}

#[test]
fn a_signed_text_is_not_joined_with_what_follows() {
    let reply =
        read(&[said(json!([{"text": "a", "thoughtSignature": "c2ln"}])), said(json!([{"text": "b"}])), end("STOP")]);
    let turn = reply.unwrap().turn;
    assert_eq!(turn.text, "ab");
    let expect = [json!({"text": [0, 1], "thoughtSignature": "c2ln"})];
    assert_eq!(turn.reasoning.unwrap().blocks, expect);
}

#[test]
fn every_end_has_its_meaning() {
    let text = || said(json!([{"text": "half"}]));
    for (reason, stop) in [
        ("STOP", Stop::End),
        ("MAX_TOKENS", Stop::Length),
        ("SAFETY", Stop::Filter),
        ("RECITATION", Stop::Filter),
        ("PROHIBITED_CONTENT", Stop::Filter),
        ("BLOCKLIST", Stop::Filter),
        ("SPII", Stop::Filter),
    ] {
        assert_eq!(read(&[text(), end(reason)]).unwrap().turn.stop, stop, "{reason}");
    }
    let again = Retry::After(None);
    for (reason, code, retry) in [
        ("MALFORMED_FUNCTION_CALL", code::MODEL_MALFORMED, again),
        ("UNEXPECTED_TOOL_CALL", code::MODEL_MALFORMED, again),
        ("MISSING_THOUGHT_SIGNATURE", code::MODEL_REQUEST, Retry::Never),
        ("OTHER", code::MODEL_CUT, again),
        ("SOMETHING_NEW", code::MODEL_CUT, again),
    ] {
        let mut last = end(reason);
        last["candidates"][0]["finishMessage"] = json!("because");
        let failure = read(&[text(), last]).unwrap_err();
        assert_eq!((failure.code, failure.retry), (code, retry), "{reason}");
        assert!(failure.why.contains(reason) && failure.why.contains("because"), "{}", failure.why);
    }
}

#[test]
fn what_a_filter_stopped_says_so() {
    let blocked =
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 7}});
    let reply = read(&[blocked]).unwrap();
    assert_eq!(reply.turn.stop, Stop::Filter);
    assert!(reply.turn.text.contains("blocked the prompt: PROHIBITED_CONTENT"), "{}", reply.turn.text);
    assert_eq!(reply.usage.input_tokens, 7);
    assert!(read(&[end("SAFETY")]).unwrap().turn.text.contains("SAFETY"));
}

#[test]
fn usage_is_the_last_count_with_thoughts_as_output() {
    let count = |usage: Value| json!({"usageMetadata": usage});
    let reply = read(&[
        count(json!({"promptTokenCount": 120, "candidatesTokenCount": 1})),
        said(json!([{"text": "abcdefg"}])),
        count(json!({"promptTokenCount": 120, "cachedContentTokenCount": 64, "candidatesTokenCount": 9,
            "thoughtsTokenCount": 30, "totalTokenCount": 159})),
        end("STOP"),
    ]);
    let expect = Usage { input_tokens: 120, cached_tokens: 64, output_tokens: 39 };
    assert_eq!(reply.unwrap().usage, expect);
    let reply = read(&[said(json!([{"text": "abcdefg"}])), end("STOP")]);
    let expect = Usage { input_tokens: 100, cached_tokens: 0, output_tokens: 2 };
    assert_eq!(reply.unwrap().usage, expect, "estimated, when nothing was counted");
}

#[test]
fn errors_and_answers_without_a_candidate_are_failures() {
    let failure =
        read(&[json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "overloaded"}})]).unwrap_err();
    assert_eq!((failure.code, failure.retry), (code::MODEL_OVERLOADED, Retry::After(None)));
    assert!(failure.why.contains("overloaded"), "{}", failure.why);
    let limit = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": [
        {"@type": "type.googleapis.com/google.rpc.Help"},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.837906927s"},
    ]}});
    let failure = read(&[limit]).unwrap_err();
    assert_eq!((failure.code, failure.retry), (code::MODEL_RATE_LIMITED, Retry::After(Some(45_837))));
    assert_eq!(read(&[json!({"candidates": []})]).unwrap_err().code, code::MODEL_MALFORMED);
    assert_eq!(read(&[json!({"candidates": 3})]).unwrap_err().code, code::MODEL_MALFORMED);
}
