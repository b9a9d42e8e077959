//! Tests of what fits.

use super::{cut, fit};

#[test]
fn a_line_never_wraps() {
    assert_eq!(cut("short", 10), "short");
    assert_eq!(cut("123456789", 10), "123456789");
    assert_eq!(cut("1234567890", 10), "12345678\u{2026}");
    // Wide characters count twice.
    assert_eq!(cut("\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}", 10), "\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{2026}");
    assert_eq!(cut("\u{1f600}\u{1f600}", 4), "\u{1f600}\u{2026}");
    assert_eq!(cut("abc", 0), "\u{2026}");
}

#[test]
fn the_end_of_a_long_tree_is_kept() {
    let lines: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    assert_eq!(fit(lines.clone(), 80, 11), lines);
    assert_eq!(fit(lines.clone(), 80, 5), ["(7 lines above)", "7", "8", "9"]);
    assert_eq!(fit(lines, 80, 0).len(), 1);
}
