//! Files around the limits.

use super::super::super::tests::lines;
use super::check;

fn of(count: usize) -> String {
    "const A: u8 = 1;\n".repeat(count)
}

#[test]
fn code_has_500_lines() {
    let path = "crates/core/src/a.rs";
    assert!(lines(check, path, &of(500)).is_empty());
    assert_eq!(lines(check, path, &of(501)), [501]);
}

#[test]
fn tests_have_800() {
    let path = "crates/core/src/a/tests.rs";
    assert!(lines(check, path, &of(800)).is_empty());
    assert_eq!(lines(check, path, &of(801)), [801]);
}
