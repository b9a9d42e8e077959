//! Where tests may stand.

use super::super::super::tests::lines;
use super::check;

const CODE: &str = "crates/core/src/a.rs";

#[test]
fn a_declared_test_module_is_fine() {
    assert!(lines(check, CODE, "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod crash_tests;").is_empty());
}

#[test]
fn a_test_module_with_a_body_is_not() {
    assert_eq!(lines(check, CODE, "#[cfg(test)]\nmod tests { fn f() {} }"), [2]);
    assert_eq!(lines(check, CODE, "#[cfg(all(test, unix))]\nmod tests { fn f() {} }"), [2]);
}

#[test]
fn a_test_module_is_called_so() {
    assert_eq!(lines(check, CODE, "#[cfg(test)]\nmod harness;"), [2]);
}

#[test]
fn test_functions_stand_in_test_files() {
    let text = "#[test]\nfn a() {}\nmod m {\n#[tokio::test]\nasync fn b() {}\n}";
    assert_eq!(lines(check, CODE, text), [2, 5]);
    assert!(lines(check, "crates/core/src/a/tests.rs", text).is_empty());
    assert!(lines(check, "crates/core/tests/a.rs", text).is_empty());
}

#[test]
fn other_modules_may_have_bodies() {
    assert!(lines(check, CODE, "#[cfg(unix)]\nmod sys { fn f() {} }").is_empty());
}
