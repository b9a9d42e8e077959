//! Async code in the core and elsewhere.

use super::super::super::tests::lines;
use super::check;

#[test]
fn the_core_does_not_await() {
    let text = "async fn f() {\n    g().await\n}\nfn h() { m!(async {}); }";
    assert_eq!(lines(check, "crates/core/src/a.rs", text), [1, 2, 4]);
    assert!(lines(check, "crates/runtime/src/a.rs", text).is_empty());
}

#[test]
fn words_in_texts_are_no_keywords() {
    assert!(lines(check, "crates/core/src/a.rs", "/// Not async.\nconst A: &str = \"await\";").is_empty());
}
