//! What the binary may print.

use super::{executable, is_ours, read};
use serde_json::json;

#[test]
fn pages_are_read() {
    let pages = read(br#"{"files":[{"path":"docs/reference/cli.md","text":"help"}]}"#).unwrap();
    assert_eq!(pages.len(), 1);
    assert_eq!(pages[0].text, "help");
}

#[test]
fn only_pages_below_the_folder_are_written() {
    assert!(is_ours("docs/reference/cli/run.md"));
    for path in [
        "docs/guide.md",
        "docs/reference/../../x.md",
        "/docs/reference/x.md",
        "docs/reference/x.sh",
        "docs/reference_two/x.md",
    ] {
        assert!(!is_ours(path), "{path}");
    }
    assert!(read(br#"{"files":[{"path":"README.md","text":""}]}"#).is_err());
}

#[test]
fn something_else_is_a_fault() {
    assert!(read(b"usage: deputize").is_err());
}

#[test]
fn the_binary_is_told_from_its_tests_and_from_the_library() {
    let message = |kind: &str, test: bool| json!({"target": {"name": "deputize", "kind": [kind]}, "profile": {"test": test}, "executable": "/t/deputize"});
    assert_eq!(executable(&message("bin", false)).as_deref(), Some("/t/deputize"));
    assert_eq!(executable(&message("bin", true)), None);
    assert_eq!(executable(&message("lib", false)), None);
}
