//! Tests of what a provider's errors mean.

use super::{Asked, of_response, wait};
use deputize_core::code;
use deputize_core::step::{Failure, Retry};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

type Header = (&'static str, &'static str);

fn fail(status: u16, headers: &[Header], body: &str) -> Failure {
    let header = |(name, value): &Header| (HeaderName::from_static(name), HeaderValue::from_static(value));
    let map: HeaderMap = headers.iter().map(header).collect();
    of_response(
        status,
        &map,
        body.as_bytes(),
        wait(&map),
        &Asked { model: "small", address: "http://h/v1/chat/completions", hint: "is it there?" },
    )
}

#[test]
fn statuses_have_codes() {
    // covers F-07
    let again = Retry::After(None);
    let table = [
        (400, r#"{"error":{"message":"bad tool"}}"#, code::MODEL_REQUEST, Retry::Never),
        (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, code::CONTEXT_FULL, Retry::Never),
        (
            400,
            r#"{"error":{"code":400,"type":"exceed_context_size_error","message":"x"}}"#,
            code::CONTEXT_FULL,
            Retry::Never,
        ),
        (400, r#"{"message":"This model's maximum context length is 8192 tokens"}"#, code::CONTEXT_FULL, Retry::Never),
        (413, "the input is too long", code::CONTEXT_FULL, Retry::Never),
        (500, r#"{"error":{"type":"exceed_context_size_error"}}"#, code::CONTEXT_FULL, Retry::Never),
        (
            400,
            r#"[{"error":{"message":"API key not valid. Pass one.","status":"INVALID_ARGUMENT"}}]"#,
            code::MODEL_AUTH,
            Retry::Never,
        ),
        (401, "", code::MODEL_AUTH, Retry::Never),
        (402, "", code::MODEL_RATE_LIMITED, Retry::Never),
        (403, "<html>no</html>", code::MODEL_AUTH, Retry::Never),
        (404, "", code::MODEL_NOT_FOUND, Retry::Never),
        (408, "", code::MODEL_RATE_LIMITED, again),
        (409, "", code::MODEL_RATE_LIMITED, again),
        (422, r#"{"detail":"unknown field"}"#, code::MODEL_REQUEST, Retry::Never),
        (425, "", code::MODEL_RATE_LIMITED, again),
        (429, "", code::MODEL_RATE_LIMITED, again),
        (429, r#"{"error":{"code":"insufficient_quota"}}"#, code::MODEL_RATE_LIMITED, Retry::Never),
        (500, "", code::MODEL_OVERLOADED, again),
        (502, "", code::MODEL_OVERLOADED, again),
        (503, "", code::MODEL_OVERLOADED, again),
        (504, "", code::MODEL_OVERLOADED, again),
        (529, "", code::MODEL_OVERLOADED, again),
    ];
    for (status, body, code, retry) in table {
        let failure = fail(status, &[], body);
        assert_eq!((failure.code, failure.retry), (code, retry), "{status} {body}");
    }
}

#[test]
fn the_wait_is_read_from_every_header() {
    let table: [(&[Header], Option<u64>); 9] = [
        (&[("retry-after", "7")], Some(7000)),
        (&[("retry-after", "0.5")], Some(500)),
        (&[("retry-after-ms", "250"), ("retry-after", "7")], Some(250)),
        (&[("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")], Some(10_000)),
        (&[("date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")], Some(0)),
        (&[("retry-after", "soon")], None),
        (&[("retry-after", "-1")], None),
        (&[("retry-after", "2678400")], Some(2_678_400_000)),
        // Nobody waits for the year 31,690,765.
        (&[("retry-after", "1e15")], None),
    ];
    for (headers, expect) in table {
        assert_eq!(fail(429, headers, "").retry, Retry::After(expect), "{headers:?}");
        assert_eq!(fail(503, headers, "").retry, Retry::After(expect), "{headers:?}");
    }
}

#[test]
fn texts_name_what_was_asked_and_what_was_said() {
    let table = [
        (
            fail(404, &[], r#"{"error":{"message":"no such model"}}"#),
            ["`small`", "http://h/v1/chat/completions", "no such model"],
        ),
        (fail(307, &[("location", "https://other/v1")], ""), ["redirect", "https://other/v1", "base_url"]),
        (fail(500, &[], "oops"), ["`small`", "500", "oops"]),
    ];
    for (failure, parts) in table {
        for part in parts {
            assert!(failure.why.contains(part), "{part} in {}", failure.why);
        }
    }
    assert_eq!(fail(307, &[], "").retry, Retry::Never);
}

#[test]
fn a_wait_is_named_in_the_sentence() {
    let table = [
        ("0.5", "0.5 s"),
        ("7", "7 s"),
        ("60", "1 min"),
        ("90", "1 min 30 s"),
        ("3600", "1 h"),
        ("9000", "2 h 30 min"),
        ("172800", "2 d"),
        ("183600", "2 d 3 h"),
    ];
    for (after, expect) in table {
        let why = fail(429, &[("retry-after", after)], r#"{"error":{"message":"slow down"}}"#).why;
        assert!(why.contains(&format!("asks to wait {expect}: slow down")), "{why}");
    }
    assert!(!fail(429, &[], "").why.contains("wait"));
}
