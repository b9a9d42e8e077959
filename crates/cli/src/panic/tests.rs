//! A panic is an error like any other.

use super::guarded;

#[test]
fn a_panic_becomes_an_error_that_names_its_place_and_not_its_text() {
    let fault = guarded(|| panic!("the secret is 1234")).unwrap_err();
    let said = format!("{fault:?}");
    assert!(said.contains("internal.broken") && said.contains("panic/tests.rs:"), "{said}");
    assert!(!said.contains("1234"), "{said}");
}
