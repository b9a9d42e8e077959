//! Tests of reading bodies: ends of every kind, bounds, and time-outs on the virtual clock.

use super::{Frames, Reader};
use crate::provider::Timeouts;
use crate::provider::openai::Said;
use crate::provider::wire::Answer;
use bytes::Bytes;
use deputize_core::code;
use deputize_core::message::Usage;
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::Reply;
use futures_util::{Stream, StreamExt, stream};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SAID: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\n";
const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

type Piece = io::Result<Bytes>;

fn pieces(texts: &[&'static str]) -> Vec<Piece> {
    texts.iter().map(|t| Ok(Bytes::from_static(t.as_bytes()))).collect()
}

async fn read(body: impl Stream<Item = Piece> + Unpin) -> (Result<Reply, Failure>, Usage) {
    let mut answer = Said::new(36, Arc::new(|_| {}));
    let times = Timeouts::default();
    let result = Reader::new(body, &times, 1000).events(Frames::events(), &mut answer).await;
    let paid = answer.paid();
    (result.and_then(|()| answer.close()), paid)
}

async fn whole(texts: &[&'static str]) -> (Result<Reply, Failure>, Usage) {
    read(stream::iter(pieces(texts))).await
}

fn broken() -> Piece {
    Err(io::Error::other("reset"))
}

#[tokio::test]
async fn a_stream_is_complete_when_the_model_said_so() {
    for texts in [
        vec![SAID, END, USAGE, DONE],
        vec![SAID, END, USAGE],
        vec![SAID, END],
        vec![SAID, DONE],
        vec![SAID, END, "data: [DONE]"],
        vec![SAID, END.trim_end()],
        vec![": hello\n\n", SAID, END, DONE, "data: what comes after is not read\n\n"],
    ] {
        let (reply, _) = whole(&texts).await;
        assert_eq!(reply.unwrap().turn.text, "Hi", "{texts:?}");
    }
    let (reply, _) = whole(&[SAID, END, USAGE, DONE]).await;
    assert_eq!(reply.unwrap().usage.input_tokens, 5);
    let after_the_end = pieces(&[SAID, END]).into_iter().chain([broken()]);
    assert!(read(stream::iter(after_the_end)).await.0.is_ok());
}

#[tokio::test]
async fn a_stream_that_ends_early_is_cut_and_paid_for() {
    let cases = [
        pieces(&[SAID]),
        pieces(&[SAID, "data: {\"choices\":[{\"del"]),
        pieces(&[SAID]).into_iter().chain([broken()]).collect(),
    ];
    for case in cases {
        let shown = format!("{case:?}");
        let (reply, paid) = read(stream::iter(case)).await;
        let failure = reply.unwrap_err();
        assert_eq!((failure.code, failure.retry), (code::MODEL_CUT, Retry::After(None)), "{shown}");
        assert_eq!(paid, Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 1 }, "{shown}");
    }
    let (reply, paid) = whole(&[": waiting\n\n"]).await;
    assert_eq!(reply.unwrap_err().code, code::MODEL_CUT);
    assert_eq!(paid, Usage::default());
    let (reply, paid) = whole(&[SAID, USAGE]).await;
    assert_eq!(reply.unwrap_err().code, code::MODEL_CUT);
    assert_eq!(paid.input_tokens, 5, "the provider's own count is kept");
}

#[tokio::test]
async fn unreadable_endless_and_failing_streams_have_their_codes() {
    let (reply, _) = whole(&[SAID, "data: {nonsense}\n\n"]).await;
    assert_eq!(reply.unwrap_err().code, code::MODEL_MALFORMED);
    let endless = stream::repeat_with(|| Ok(Bytes::from_static(SAID.as_bytes())));
    let failure = read(Box::pin(endless)).await.0.unwrap_err();
    assert_eq!(failure.code, code::MODEL_MALFORMED);
    let (reply, _) = whole(&[SAID, "data: {\"error\":{\"message\":\"busy\",\"code\":503}}\n\n"]).await;
    let failure = reply.unwrap_err();
    assert_eq!(failure.code, code::MODEL_OVERLOADED);
    assert!(failure.why.contains("busy"), "{}", failure.why);
    let (reply, _) = whole(&[SAID, "data: {\"error\":{\"message\":\"busy\",\"code\":503}}"]).await;
    assert_eq!(reply.unwrap_err().code, code::MODEL_OVERLOADED, "also as the last event without a blank line");
}

#[tokio::test(start_paused = true)]
async fn each_wait_has_its_own_limit() {
    let times = Timeouts::default();
    let start = Instant::now();
    let failure = read(stream::pending()).await.0.unwrap_err();
    assert_eq!((failure.code, failure.retry), (code::MODEL_TIMEOUT, Retry::Ambiguous));
    assert_eq!(start.elapsed(), times.first_byte);

    let start = Instant::now();
    let (reply, paid) = read(stream::iter(pieces(&[SAID])).chain(stream::pending())).await;
    assert_eq!(reply.unwrap_err().code, code::MODEL_TIMEOUT);
    assert_eq!(start.elapsed(), times.idle);
    assert_eq!(paid.input_tokens, 10);

    // Only the count is missing: a short wait, and no error.
    let start = Instant::now();
    let (reply, _) = read(stream::iter(pieces(&[SAID, END])).chain(stream::pending())).await;
    assert_eq!(reply.unwrap().turn.text, "Hi");
    assert_eq!(start.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn the_idle_limit_is_for_each_piece() {
    let slow = stream::iter(pieces(&[SAID, ": still here\n\n", ": still here\n\n", END, DONE]));
    let second = Duration::from_secs(1);
    let slow = slow.then(move |piece| async move {
        // Nearly the whole limit, before every piece.
        let limit = Timeouts::default().idle - second;
        tokio::time::timeout(limit, std::future::pending::<()>()).await.unwrap_err();
        piece
    });
    let start = Instant::now();
    assert_eq!(read(Box::pin(slow)).await.0.unwrap().turn.text, "Hi");
    assert!(start.elapsed() > Timeouts::default().idle * 3);
}
