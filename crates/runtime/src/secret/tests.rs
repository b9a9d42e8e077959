//! Tests of the redaction: nothing that is a secret or looks like one comes out, and what agents work with stays.

use super::{CONTENT, ERRORS, HIDDEN, IN_CONTENT, IN_ERRORS, LONGEST, Redactor, Secret, line};
use serde_json::json;

fn check(text: &str, expect: &str) {
    assert_eq!(line(text, &[Secret::new("canary-0001\n"), Secret::new("x")]), expect, "{text}");
}

#[test]
fn every_shape_is_a_pattern() {
    assert_eq!(ERRORS.len(), IN_ERRORS.len());
    assert_eq!(CONTENT.len(), IN_CONTENT.len());
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
    let long = line(&"wörd ".repeat(1000), &[]);
    assert_eq!(long.chars().count(), LONGEST);
}

#[test]
fn a_secret_does_not_print_itself() {
    assert_eq!(format!("{:?}", Secret::new("canary-0001")), "Secret(hidden)");
}

fn content(text: &str, expect: &str) {
    let redactor =
        Redactor::new([Secret::new("canary-0001"), Secret::new("canary-0001-and-more"), Secret::new("short")]);
    assert_eq!(redactor.text(text), expect);
    assert_eq!(redactor.finds(text), text != expect, "{text}");
}

#[test]
fn content_loses_known_secrets_and_the_keys_of_vendors() {
    content(
        "PATH=/bin\nLAB_KEY=canary-0001\nA=canary-0001-and-more",
        "PATH=/bin\nLAB_KEY=[hidden secret]\nA=[hidden secret]",
    );
    content("it is sk-ant-api03-AbCdEfGh0123456789abcdef!", "it is [hidden secret]!");
    content("sk-proj-AbCdEfGh_0123456789abcdef", "[hidden secret]");
    content("my_tool_sk-ant-api03-AbCdEfGh0123456789abcdef", "my_tool[hidden secret]");
    content("AKIAABCDEFGHIJKLMNOP", "[hidden secret]");
    content("ghp_0123456789abcdefghij0123456789abcdefghij", "[hidden secret]");
    content("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b", "a [hidden secret] b");
    content("-----BEGIN PRIVATE KEY-----\nMIIE, cut", "[hidden secret]");
}

#[test]
fn content_that_agents_work_with_stays_as_it_is() {
    for text in [
        "short words",
        "let api_key = config.api_key; password: hunter2",
        "pip install sk-learn-contrib-estimators_and_more",
        "from hf_hub_download_and_other_names import it",
        "Authorization: Bearer TOKEN",
        "https://user:pass@host/",
        "-----BEGIN PUBLIC KEY-----",
    ] {
        content(text, text);
    }
}

#[test]
fn every_text_of_a_value_is_cleaned_and_nothing_else() {
    let redactor = Redactor::new([Secret::new("canary-0001")]);
    let mut value = json!({"a": ["x canary-0001", 1, null], "canary-0001": {"b": true}});
    assert!(redactor.finds_in(&value));
    redactor.value(&mut value);
    assert_eq!(value, json!({"a": [format!("x {HIDDEN}"), 1, null], HIDDEN: {"b": true}}));
    assert!(!redactor.finds_in(&value));
}
