//! Paths that lead out of the repository.

use super::super::super::tests::lines;
use super::{BESIDE, check, check_text};

#[test]
fn they_are_found_in_code_and_in_other_texts() {
    let text = format!("//! A text.\nconst A: &str = \"../{BESIDE}/x\";");
    assert_eq!(lines(check, "crates/core/tests/a.rs", &text), [2]);
    assert_eq!(check_text("docs/a.md", &text).len(), 1);
}

#[test]
fn paths_inside_are_fine() {
    assert!(lines(check, "crates/core/tests/a.rs", "const A: &str = \"../fixtures/shared\";").is_empty());
}
