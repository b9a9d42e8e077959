//! Errors: statuses, waits, answers that are none, and what their texts must not say.

use super::{KEY, call, request, says};
use crate::dialect::{Dialect, all};
use crate::fake::Given;
use deputize_core::code::{self, Code};
use deputize_core::step::{Failure, Retry};
use serde_json::json;

async fn refused(dialect: &dyn Dialect, given: Given) -> Failure {
    let streamed = call(dialect, given.clone(), true).await.failure().failure.clone();
    let whole = call(dialect, given, false).await.failure().failure.clone();
    assert_eq!((&streamed.code, streamed.retry), (&whole.code, whole.retry), "{:?} {whole:?}", dialect.kind());
    streamed
}

fn error(dialect: &dyn Dialect, status: u16, message: &str) -> Given {
    Given::body(status, "application/json", dialect.error(status, message).to_string())
}

#[tokio::test]
async fn every_status_has_its_code_and_says_what_the_provider_said() {
    // covers F-07
    let again = Retry::After(None);
    let table: [(u16, Code, Retry); 11] = [
        (400, code::MODEL_REQUEST, Retry::Never),
        (401, code::MODEL_AUTH, Retry::Never),
        (402, code::MODEL_RATE_LIMITED, Retry::Never),
        (403, code::MODEL_AUTH, Retry::Never),
        (404, code::MODEL_NOT_FOUND, Retry::Never),
        (422, code::MODEL_REQUEST, Retry::Never),
        (429, code::MODEL_RATE_LIMITED, again),
        (500, code::MODEL_OVERLOADED, again),
        (502, code::MODEL_OVERLOADED, again),
        (503, code::MODEL_OVERLOADED, again),
        (529, code::MODEL_OVERLOADED, again),
    ];
    for dialect in all() {
        for (status, code, retry) in &table {
            let said = refused(&*dialect, error(&*dialect, *status, "These are the words")).await;
            let shown = format!("{:?} {status} {said:?}", dialect.kind());
            assert_eq!((&said.code, said.retry), (code, *retry), "{shown}");
            for part in ["These are the words", dialect.model(), &status.to_string()] {
                assert!(said.why.contains(part), "{part}: {shown}");
            }
            // No JSON, and nothing at all.
            for body in ["<html><h1>Oh no</h1></html>", ""] {
                let said = refused(&*dialect, Given::body(*status, "text/html", body)).await;
                assert_eq!((&said.code, said.retry), (code, *retry), "{shown}");
            }
        }
        let long = error(&*dialect, 400, "prompt is too long: 210000 tokens > 200000 maximum");
        assert_eq!(refused(&*dialect, long).await.code, code::CONTEXT_FULL, "{:?}", dialect.kind());
    }
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_kept_and_named() {
    let date = [("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 11:50:37 GMT")];
    type Headers<'a> = &'a [(&'static str, &'a str)];
    let table: [(Headers<'_>, Option<u64>, &str); 5] = [
        (&[], None, "for"),
        (&[("retry-after", "7")], Some(7000), "asks to wait 7 s"),
        (&[("retry-after-ms", "250"), ("retry-after", "1")], Some(250), "asks to wait 0.25 s"),
        (&[("retry-after", "18000")], Some(18_000_000), "asks to wait 5 h"),
        (&date, Some(10_860_000), "asks to wait 3 h 1 min"),
    ];
    for dialect in all() {
        for (headers, wait, words) in &table {
            for status in [429, 503] {
                let mut given = error(&*dialect, status, "Slow down");
                for (name, value) in *headers {
                    given = given.header(name, *value);
                }
                let said = refused(&*dialect, given).await;
                let shown = format!("{:?} {status} {headers:?} {said:?}", dialect.kind());
                assert_eq!(said.retry, Retry::After(*wait), "{shown}");
                assert!(said.why.contains(words) && said.why.contains("Slow down"), "{shown}");
            }
        }
    }
}

#[tokio::test]
async fn a_good_status_without_an_answer_says_what_came() {
    let page = format!("<!doctype html>\n<h1>Sign in to the network</h1>{}", "x".repeat(5000));
    for dialect in all() {
        for stream in [true, false] {
            let table = [
                ("text/html", page.as_str(), "Sign in to the network"),
                ("application/json", page.as_str(), "Sign in to the network"),
                ("", "", "it is empty"),
                ("application/json", "", "it is empty"),
                ("application/json", "{\"status\": \"all is well\"}", "all is well"),
                ("application/json", "[1, 2]", "[1, 2]"),
                ("application/json", "{\"cut\": tru", "{\"cut\": tru"),
                ("text/plain", "upstream timed out", "upstream timed out"),
            ];
            for (kind, body, words) in table {
                let called = call(&*dialect, Given::body(200, kind, body), stream).await;
                let said = &called.failure().failure;
                let shown = format!("{:?} {stream} {kind} {said:?}", dialect.kind());
                assert_eq!((&said.code, said.retry), (&code::MODEL_MALFORMED, Retry::After(None)), "{shown}");
                assert!(said.why.contains(words) && said.why.chars().count() < 400, "{shown}");
            }
            let wrong = dialect.framed(&json!("no object")).replace("\"no object\"", "{nonsense}");
            let given = Given::body(200, dialect.stream_type(), wrong);
            let said = call(&*dialect, given, true).await.failure().failure.clone();
            assert_eq!(said.code, code::MODEL_MALFORMED, "{:?} {said:?}", dialect.kind());
            assert!(said.why.contains("nonsense"), "{said:?}");
        }
    }
}

#[tokio::test]
async fn no_text_gives_the_key_away() {
    // covers F-07
    for dialect in all() {
        let echo = request(&*dialect).system + KEY;
        let mut given = vec![
            Given::body(200, "application/json", format!("{{\"key\": \"{KEY}\"}}")),
            Given::body(200, "text/html", echo.clone()),
            Given::body(302, "text/html", "").header("location", format!("http://h/?k={KEY}")),
        ];
        given.extend([400, 401, 404, 429, 500].map(|status| error(&*dialect, status, &echo)));
        for given in given {
            let said = refused(&*dialect, given).await;
            assert!(!format!("{said:?}").contains(KEY), "{:?} {said:?}", dialect.kind());
        }
        let fine = call(&*dialect, dialect.given(&says(&["fine"]), true), true).await;
        assert!(!fine.sent.text.contains(KEY), "the key is in a header and nowhere else");
    }
}
