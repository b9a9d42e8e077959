//! Sleeping in tests, in all spellings.

use super::super::super::tests::lines;
use super::check;

const TEST: &str = "crates/runtime/tests/walk.rs";

#[test]
fn every_spelling_is_seen() {
    for text in [
        "fn f() { std::thread::sleep(d); }",
        "use std::thread;\nfn f() { thread::sleep(d); }",
        "use tokio::time::{sleep, Duration};",
        "use std::thread::sleep as rest;",
        "fn f() { select! { _ = tokio::time::sleep(d) => {} } }",
        "fn f() { time::sleep_until(d); }",
    ] {
        assert_eq!(lines(check, TEST, text).len(), 1, "{text}");
    }
}

#[test]
fn clocks_and_code_may_wait() {
    assert!(lines(check, TEST, "fn f() { clock.sleep(d); tokio::time::advance(d); }").is_empty());
    let code = "crates/testkit/src/wait.rs";
    assert!(lines(check, code, "fn f() { std::thread::sleep(d); }").is_empty());
}
