//! Files with and without a first line that says what they own.

use super::super::super::tests::lines;
use super::check;

const PATH: &str = "crates/core/src/a.rs";

#[test]
fn a_sentence_will_do() {
    assert!(lines(check, PATH, "//! The fold of a run.\nfn f() {}").is_empty());
}

#[test]
fn nothing_one_word_or_another_comment_will_not() {
    for text in ["fn f() {}", "//! Placeholder.\n", "// The fold of a run.\n", "\n//! The fold of a run."] {
        assert_eq!(lines(check, PATH, text), [1], "{text:?}");
    }
}
