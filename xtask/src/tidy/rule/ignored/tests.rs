//! Tests that are switched off.

use super::super::super::tests::lines;
use super::check;

const PATH: &str = "crates/core/src/a/tests.rs";

#[test]
fn a_reason_is_asked_for() {
    assert!(lines(check, PATH, "#[test]\n#[ignore = \"needs a model server\"]\nfn a() {}").is_empty());
    assert_eq!(lines(check, PATH, "#[test]\n#[ignore]\nfn a() {}"), [2]);
}
