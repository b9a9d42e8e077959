//! `edit_file`: the edit itself, and what a repetition after a crash makes of it.
// covers F-09

use crate::bench::{Bench, Expect::*};
use deputize_core::code::{TOOL_ARGUMENTS, TOOL_FAILED};
use deputize_core::digest;
use serde_json::json;
use std::fs;

#[test]
fn an_edit_replaces_one_exact_piece() {
    let table = [
        ("one two\n", "two", "2", false, "one 2\n", "Replaced 1 occurrence in `f` (line 1); it has 6 bytes now.\n"),
        ("a\nb\nc\n", "b\nc", "x", false, "a\nx\n", "Replaced 1 occurrence in `f` (line 2); it has 4 bytes now.\n"),
        ("a\nb\n", "b\n", "", false, "a\n", "Replaced 1 occurrence in `f` (line 2); it has 2 bytes now.\n"),
        (
            "x\ny\nx x\n",
            "x",
            "zz",
            true,
            "zz\ny\nzz zz\n",
            "Replaced 3 occurrences in `f` (lines 1, 3, 3); it has 11 bytes now.\n",
        ),
        ("$1 \\n\n", "$1 \\n", "$0", false, "$0\n", "Replaced 1 occurrence in `f` (line 1); it has 3 bytes now.\n"),
        (
            "a\r\nb\r\n",
            "b",
            "c\nd",
            false,
            "a\r\nc\r\nd\r\n",
            "Replaced 1 occurrence in `f` (line 2); it has 9 bytes now.\n",
        ),
        (
            "a\r\nb\r\nc\r\n",
            "a\nb",
            "x\ny",
            false,
            "x\r\ny\r\nc\r\n",
            "Replaced 1 occurrence in `f` (line 1); it has 9 bytes now.\n",
        ),
        ("a\r\nb\nc\n", "b\nc", "d", false, "a\r\nd\n", "Replaced 1 occurrence in `f` (line 2); it has 5 bytes now.\n"),
    ];
    for (before, old, new, all, after, answer) in table {
        let bench = Bench::new(&[("f", before), ("other", "untouched\n")]);
        let edit = json!({"path": "f", "old": old, "new": new, "replace_all": all});
        bench.check("edit_file", &edit, &Is(answer));
        assert_eq!(bench.text("f"), after);
        assert_eq!(bench.tree().len(), 5, "{:?}", bench.tree());
    }
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let bench = Bench::new(&[]);
    fs::write(bench.path("f"), b"gr\xfcn one\n\xff").unwrap();
    bench.check("edit_file", &json!({"path": "f", "old": "one", "new": "two"}), &Says(&["Replaced 1"]));
    assert_eq!(fs::read(bench.path("f")).unwrap(), b"gr\xfcn two\n\xff");
}

#[test]
fn an_edit_that_does_not_fit_says_why() {
    let bench =
        Bench::new(&[("f", "fn main() {\n    run(1);\n    run(2);\n}\naaa\n"), ("crlf", "a\r\nb\r\n"), ("d/", "")]);
    let before = bench.tree();
    let table = [
        (
            "f",
            "run(3);",
            "x",
            TOOL_FAILED,
            "`old` does not occur; the line nearest to its first line is line 2: `    run(1);`",
        ),
        ("f", "  run(1);\n  run(2);", "x", TOOL_FAILED, "line 2: `    run(1);`; look at the white space"),
        ("f", "completely different", "x", TOOL_FAILED, "no line is like its first line"),
        ("f", "run(", "x", TOOL_FAILED, "`old` occurs 2 times (lines 2, 3): give more of the text"),
        ("f", "aa", "x", TOOL_FAILED, "`old` occurs 2 times (lines 5, 5)"),
        ("f", "", "x", TOOL_ARGUMENTS, "`old` is empty"),
        ("f", "same", "same", TOOL_ARGUMENTS, "change nothing"),
        ("crlf", "a\nb", "a\r\nb", TOOL_FAILED, "only in line ends"),
        ("d", "a", "b", TOOL_FAILED, "is a folder"),
    ];
    for (path, old, new, code, why) in table {
        let edit = json!({"path": path, "old": old, "new": new});
        bench.check("edit_file", &edit, &Fails(code.clone(), &[why]));
        assert_eq!(bench.prepare("edit_file", &edit).unwrap_err().code, code, "{edit}");
    }
    assert_eq!(bench.tree(), before);
}

#[test]
fn the_note_holds_the_hashes_and_changes_nothing() {
    let bench = Bench::new(&[("f", "one\n")]);
    let before = bench.tree();
    let note = bench.prepare("edit_file", &json!({"path": "f", "old": "one", "new": "two"})).unwrap().unwrap();
    let hash = |text: &str| digest::of_bytes(text.as_bytes());
    assert_eq!(note, json!({"before": hash("one\n"), "after": hash("two\n")}));
    assert_eq!(bench.tree(), before);
    for tool in ["ls", "read_file", "glob", "grep", "write_file"] {
        assert_eq!(bench.prepare(tool, &json!({})), Ok(None), "{tool}");
    }
}

#[test]
fn a_repetition_after_a_crash_knows_whether_the_edit_was_applied() {
    // `one` becomes `one one`, so an edit that is applied twice would be seen.
    let edit = json!({"path": "f", "old": "one", "new": "one one", "replace_all": true});
    let before = Bench::new(&[("f", "one\n")]);
    let note = before.prepare("edit_file", &edit).unwrap().unwrap();
    let states = [
        ("one\n", Ok("Replaced 1 occurrence"), "one one\n"),
        ("one one\n", Ok("`f` already has this edit"), "one one\n"),
        ("three\n", Err("`f` was changed meanwhile"), "three\n"),
        ("", Err("`f` was changed meanwhile"), ""),
    ];
    for (state, answer, after) in states {
        // Another workspace with the same file stands for another process after the crash.
        let bench = Bench::new(&[("f", state)]);
        for _ in 0..2 {
            let got = bench.call_noted("edit_file", &edit, Some(&note));
            match (&got, answer) {
                (Ok(text), Ok(part)) if text.contains(part) || text.contains("already has this edit") => {}
                (Err(failure), Err(part)) if failure.why.contains(part) && failure.code == TOOL_FAILED => {}
                _ => panic!("{state:?} came to {got:?}"),
            }
            assert_eq!(bench.text("f"), after, "{state:?}");
        }
    }
    let gone = Bench::new(&[]);
    assert_eq!(gone.call_noted("edit_file", &edit, Some(&note)).unwrap_err().code, TOOL_FAILED);
    let broken = before.call_noted("edit_file", &edit, Some(&json!({"before": 1}))).unwrap_err();
    assert!(broken.why.contains("note"), "{}", broken.why);
    assert_eq!(before.text("f"), "one\n");
}

#[test]
fn edits_at_the_same_time_are_all_there() {
    let text: String = (0..20).map(|n| format!("<{n}>\n")).collect();
    let bench = Bench::new(&[("f", &text)]);
    std::thread::scope(|scope| {
        for n in 0..20 {
            let bench = &bench;
            scope.spawn(move || {
                let edit = json!({"path": "f", "old": format!("<{n}>"), "new": format!("[{n}]")});
                bench.call("edit_file", &edit).unwrap();
            });
        }
    });
    assert_eq!(bench.text("f"), text.replace('<', "[").replace('>', "]"));
}
