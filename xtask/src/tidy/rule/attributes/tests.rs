//! Attributes that switch lints off.

use super::super::super::tests::lines;
use super::check;

const PATH: &str = "crates/core/src/a.rs";

#[test]
fn allow_is_never_right() {
    for text in [
        "#[allow(dead_code)]\nfn f() {}",
        "#![allow(dead_code, reason = \"it is\")]",
        "#[cfg_attr(test, allow(dead_code))]\nfn f() {}",
        "macro_rules! m { () => { #[allow(dead_code)] fn f() {} } }",
    ] {
        assert_eq!(lines(check, PATH, text), [1], "{text}");
    }
}

#[test]
fn expect_has_a_reason() {
    for text in [
        "#[expect(dead_code)]\nfn f() {}",
        "#[expect(dead_code, reason = \"\")]\nfn f() {}",
        "#[cfg_attr(test, derive(Debug), expect(dead_code))]\nstruct S;",
    ] {
        assert_eq!(lines(check, PATH, text), [1], "{text}");
    }
    let good = "#[expect(dead_code, reason = \"read by the harness\")]\n#[derive(Debug)]\nstruct S;";
    assert!(lines(check, PATH, good).is_empty());
    assert!(lines(check, PATH, "#[cfg_attr(test, derive(Debug))]\nstruct S;").is_empty());
}
