//! Streams that are cut, noisy, late or wrong.

use super::{USAGE, call, call_with, calls, request, says};
use crate::dialect::{Dialect, Spoken, all};
use crate::fake::{End, Given};
use deputize_adapters::provider::Timeouts;
use deputize_core::code;
use deputize_core::message::{Stop, Turn, Usage};
use deputize_core::step::Retry;
use serde_json::json;
use std::time::Duration;

fn text(given: &Given) -> String {
    String::from_utf8(given.pieces.concat()).unwrap()
}

async fn turn(dialect: &dyn Dialect, given: Given) -> Turn {
    let reply = call(dialect, given, true).await.reply();
    assert_eq!(reply.usage, USAGE, "{:?}", dialect.kind());
    reply.turn
}

#[tokio::test]
async fn pieces_of_any_size_and_noise_between_events_change_nothing() {
    for dialect in all() {
        let said = Spoken { pieces: vec!["Grüße 🦀, ", "zwei"], ..calls(&[("ls", json!({"path": "ä"}))]) };
        let given = dialect.given(&said, true);
        let expect = turn(&*dialect, given.clone()).await;
        assert_eq!((expect.text.as_str(), expect.stop), ("Grüße 🦀, zwei", Stop::ToolCalls));
        let whole = text(&given);
        let bytes = |text: &str| text.bytes().map(|b| vec![b]).collect::<Vec<_>>();
        let mut shapes = vec![bytes(&whole), vec![whole.clone().into_bytes()], bytes(&whole.replace('\n', "\r\n"))];
        if dialect.is_sse() {
            let noisy = whole.replace("\n\n", "\n\n: keep-alive\n\nevent: ping\nid: 7\nretry: 10\n\n");
            shapes.push(bytes(&format!(": first\n\n{noisy}")));
            shapes.push(vec![format!("\u{feff}{whole}").into_bytes()]);
            shapes.push(vec![whole.replace("data: ", "data:").into_bytes()]);
            shapes.push(vec![whole.replace('\n', "\r").into_bytes()]);
        }
        for (at, pieces) in shapes.into_iter().enumerate() {
            assert_eq!(turn(&*dialect, Given { pieces, ..given.clone() }).await, expect, "{:?} {at}", dialect.kind());
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_cut_and_paid_for() {
    for dialect in all() {
        let given = dialect.given(&says(&["one ", "two ", "three ", "four ", "five ", "six"]), true);
        for end in [End::Cut, End::Whole] {
            let half = given.pieces.iter().take(given.pieces.len() / 2).cloned().collect();
            let called = call(&*dialect, Given { pieces: half, end, ..given.clone() }, true).await;
            let failure = called.failure();
            let shown = format!("{:?} {end:?} {failure:?}", dialect.kind());
            assert_eq!(failure.failure.code, code::MODEL_CUT, "{shown}");
            assert_eq!(failure.failure.retry, Retry::After(None), "{shown}");
            assert!(called.heard.concat().starts_with("one "), "{shown}");
            assert!(failure.usage.input_tokens > 50 && failure.usage.output_tokens > 0, "{shown}");
        }
        // In the middle of an event.
        let mut half = text(&given).into_bytes();
        half.truncate(half.len() / 2);
        let called = call(&*dialect, Given { pieces: vec![half], end: End::Cut, ..given.clone() }, true).await;
        assert_eq!(called.failure().failure.code, code::MODEL_CUT, "{:?}", dialect.kind());
    }
}

#[tokio::test]
async fn an_end_without_the_last_words_is_an_end() {
    for dialect in all() {
        for end in [End::Cut, End::Whole] {
            let mut given = Given { end, ..dialect.given(&says(&["all"]), true) };
            given.pieces.retain(|piece| piece != dialect.closing().as_bytes());
            assert_eq!(turn(&*dialect, given).await.text, "all", "{:?} {end:?}", dialect.kind());
        }
    }
}

#[tokio::test]
async fn a_stream_that_stalls_is_left_and_may_have_been_paid() {
    let short = Duration::from_millis(100);
    for dialect in all() {
        let given = dialect.given(&says(&["one ", "two ", "three ", "four"]), true);
        let half: Vec<Vec<u8>> = given.pieces.iter().take(given.pieces.len() / 2).cloned().collect();
        let stalled = Given { pieces: half, end: End::Stall, ..given.clone() };
        let silent = Given { pieces: Vec::new(), end: End::Stall, ..given };
        let idle = Timeouts { idle: short, ..Timeouts::default() };
        let first = Timeouts { first_byte: short, ..Timeouts::default() };
        for (given, timeouts, words) in [(stalled, idle, "no further part"), (silent, first, "no further part")] {
            let called = call_with(&*dialect, given, true, &request(&*dialect), timeouts).await;
            let failure = called.failure();
            let shown = format!("{:?} {failure:?}", dialect.kind());
            assert_eq!(failure.failure.code, code::MODEL_TIMEOUT, "{shown}");
            assert_eq!(failure.failure.retry, Retry::Ambiguous, "{shown}");
            assert!(failure.failure.why.contains(words), "{shown}");
            assert_eq!(failure.usage == Usage::default(), called.heard.is_empty(), "{shown}");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_ends_the_answer_with_its_reason() {
    for dialect in all() {
        let mut given = dialect.given(&says(&["one ", "two ", "three ", "four"]), true);
        let half = given.pieces.len() / 2;
        given.pieces.truncate(half);
        given.pieces.push(dialect.framed(&dialect.overloaded()).into_bytes());
        let called = call(&*dialect, given, true).await;
        let failure = called.failure();
        let shown = format!("{:?} {failure:?}", dialect.kind());
        assert_eq!(failure.failure.code, code::MODEL_OVERLOADED, "{shown}");
        assert_eq!(failure.failure.retry, Retry::After(None), "{shown}");
        assert!(failure.failure.why.contains("Overloaded"), "{shown}");
        assert!(failure.usage.output_tokens > 0, "{shown}");
    }
}
