//! Tests of the redaction: nothing that is a secret or looks like one comes out.

use super::{LONGEST, PATTERNS, SHAPES, redact};
use crate::provider::Secret;

fn check(text: &str, expect: &str) {
    assert_eq!(redact(text, &[Secret::new("canary-0001\n"), Secret::new("x")]), expect, "{text}");
}

#[test]
fn every_shape_is_a_pattern() {
    assert_eq!(PATTERNS.len(), SHAPES.len());
}

#[test]
fn secrets_and_what_looks_like_one_are_hidden() {
    check("nothing here, max_tokens: 5, token count 7", "nothing here, max_tokens: 5, token count 7");
    check("code key_not_found, invalid_api_key", "code key_not_found, invalid_api_key");
    check("key canary-0001 is wrong", "key [hidden] is wrong");
    check("Incorrect API key provided: sk-abcd****wxyz.", "Incorrect API key provided: [hidden]");
    check("authorization: Bearer abcdefgh12", "authorization: [hidden]");
    check("sent Bearer abcdefgh12 twice", "sent Bearer [hidden] twice");
    check(r#"{"api_key":"abc","n":1}"#, r#"{"api_key":"[hidden]","n":1}"#);
    check("https://u:p@host/v1?api_key=abc&x=1", "https://[hidden]host/v1?api_key=[hidden]&x=1");
    check("AIzaSyA1234567890 and ghp_0123456789ab", "[hidden] and [hidden]");
    check("x-api-key = 'q' left", "x-api-key = '[hidden]' left");
}

#[test]
fn the_text_is_one_bounded_line() {
    check("a\r\n\tb \u{1b}[31m", "a b [31m");
    let long = redact(&"wörd ".repeat(1000), &[]);
    assert_eq!(long.chars().count(), LONGEST);
}

#[test]
fn a_secret_does_not_print_itself() {
    assert_eq!(format!("{:?}", Secret::new("canary-0001")), "Secret(hidden)");
}
