//! Which paths are accepted, and that no way leads out of the workspace.
// covers S-13

use crate::bench::{Bench, CANARY, Expect::*};
use deputize_core::code::{PERMISSION_DENIED, TOOL_ARGUMENTS, TOOL_FAILED};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, Ordering};

const WORLD: &[(&str, &str)] = &[
    ("a.txt", "alpha\n"),
    ("d/b.txt", "beta\n"),
    ("d/.hidden", "dot\n"),
    ("in", "-> a.txt"),
    ("in-deep", "-> d/../in"),
    ("in-dir", "-> d"),
    ("in-abs", "-> $OUT/ws/d/b.txt"),
    ("out-file", "-> $OUT/out/secret.txt"),
    ("out-dir", "-> ../out"),
    ("out-chain", "-> out-dir"),
    ("d/out-mid", "-> ../../out"),
    ("out-back", "-> ../ws/a.txt"),
    ("loop-a", "-> loop-b"),
    ("loop-b", "-> loop-a"),
    ("dangling", "-> nowhere/file"),
];

/// Every tool that takes this path, as a file or as a folder.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("ls", json!({"path": path})),
        ("glob", json!({"pattern": "**", "path": path})),
        ("grep", json!({"pattern": ".", "path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "old": "a", "new": "b"})),
    ]
}

#[test]
fn a_path_is_read_from_the_workspace_down() {
    let bench = Bench::new(WORLD);
    let root = bench.path("").canonicalize().unwrap();
    let absolute = root.join("d/b.txt").display().to_string();
    let table = [
        ("a.txt", "alpha\n"),
        ("./a.txt", "alpha\n"),
        ("/a.txt", "alpha\n"),
        ("d//b.txt", "beta\n"),
        ("d/./b.txt", "beta\n"),
        (absolute.as_str(), "beta\n"),
        ("d/.hidden", "dot\n"),
        ("in", "alpha\n"),
        ("in-deep", "alpha\n"),
        ("in-dir/b.txt", "beta\n"),
        ("in-abs", "beta\n"),
    ];
    for (path, text) in table {
        bench.check("read_file", &json!({"path": path}), &Is(text));
        assert!(bench.exists(path), "{path}");
    }
}

#[test]
fn refused_forms_are_named_and_touch_nothing() {
    let bench = Bench::new(WORLD);
    let before = bench.tree();
    let table = [
        ("..", TOOL_ARGUMENTS, "`..` is not allowed"),
        ("../out/secret.txt", TOOL_ARGUMENTS, "`../out/secret.txt`"),
        ("d/../a.txt", TOOL_ARGUMENTS, "`..` is not allowed"),
        ("in-dir/../a.txt", TOOL_ARGUMENTS, "`..` is not allowed"),
        ("/..", TOOL_ARGUMENTS, "`..` is not allowed"),
        ("~", TOOL_ARGUMENTS, "`~` is not expanded"),
        ("~/x", TOOL_ARGUMENTS, "`~/x`"),
        ("~root/x", TOOL_ARGUMENTS, "`~` is not expanded"),
        ("a\0b", TOOL_ARGUMENTS, "NUL"),
        ("out-file", PERMISSION_DENIED, "`out-file` leads out of the workspace"),
        ("out-dir", PERMISSION_DENIED, "`out-dir` leads out"),
        ("out-dir/secret.txt", PERMISSION_DENIED, "`out-dir/secret.txt` leads out"),
        ("out-dir/new/file", PERMISSION_DENIED, "leads out"),
        ("out-chain/secret.txt", PERMISSION_DENIED, "leads out"),
        ("d/out-mid/secret.txt", PERMISSION_DENIED, "leads out"),
        ("in-dir/out-mid/secret.txt", PERMISSION_DENIED, "leads out"),
        ("out-back", PERMISSION_DENIED, "leads out"),
        ("loop-a", TOOL_FAILED, "in a circle"),
        ("dangling", TOOL_FAILED, "leads to nothing"),
        ("a.txt/x", TOOL_FAILED, "not a folder"),
        ("a.txt/", TOOL_FAILED, "not a folder"),
    ];
    for (path, code, why) in table {
        for (tool, arguments) in calls(path) {
            bench.check(tool, &arguments, &Fails(code.clone(), &[why]));
        }
        assert!(!bench.exists(path), "{path}");
    }
    assert_eq!(bench.tree(), before);
}

#[test]
fn an_absolute_path_elsewhere_means_the_workspace() {
    let bench = Bench::new(WORLD);
    let elsewhere = bench.dir.path().join("out/secret.txt").display().to_string();
    let why = &["does not exist in the workspace"];
    let got = bench.call("read_file", &json!({"path": elsewhere})).unwrap_err();
    assert_eq!(got.code, TOOL_FAILED);
    assert!(got.why.contains(why[0]), "{}", got.why);
    bench.check("read_file", &json!({"path": "/etc/passwd"}), &Fails(TOOL_FAILED, why));
}

#[test]
fn a_workspace_that_was_given_through_a_link_is_the_folder_itself() {
    let bench = Bench::new(WORLD);
    let link = bench.dir.path().join("link");
    symlink(bench.path(""), &link).unwrap();
    let linked = Bench { tools: deputize_adapters::tool::FileTools::open(&link).unwrap(), ..bench };
    let path = link.join("a.txt").display().to_string();
    linked.check("read_file", &json!({"path": path}), &Is("alpha\n"));
    linked.check("read_file", &json!({"path": "in-abs"}), &Is("beta\n"));
}

#[test]
fn a_folder_that_is_no_workspace_is_an_error_with_its_path() {
    let bench = Bench::new(WORLD);
    for path in ["missing", "a.txt"] {
        let error = deputize_adapters::tool::FileTools::open(&bench.path(path)).err().unwrap();
        assert!(error.to_string().contains(path), "{error}");
    }
}

#[test]
fn two_workspaces_do_not_see_each_other() {
    let one = Bench::new(&[("mine", "one\n")]);
    let two = Bench::new(&[("mine", "two\n")]);
    let path = two.path("mine").display().to_string();
    assert!(one.call("read_file", &json!({"path": path})).is_err());
    one.check("read_file", &json!({"path": "mine"}), &Is("one\n"));
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let bench = Bench::new(&[("a", "text\n")]);
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(bench.path("socket")).unwrap();
    let before = bench.tree();
    for (path, what) in [("pipe", "a named pipe"), ("socket", "a socket")] {
        for (tool, arguments) in calls(path) {
            bench.check(tool, &arguments, &Fails(TOOL_FAILED, &[path, what]));
        }
    }
    bench.check(
        "ls",
        &json!({}),
        &Says(&["other  pipe (a named pipe)", "other  socket (a socket)", "file   a (5 bytes)"]),
    );
    bench.check("grep", &json!({"pattern": "text"}), &Is("a:1:text\n"));
    assert_eq!(bench.tree(), before);
}

#[test]
fn a_link_that_is_made_between_look_and_use_gains_nothing() {
    let bench = Bench::new(&[("real/secret.txt", "harmless\n"), ("d/secret.txt", "harmless\n")]);
    let (place, link) = (bench.path("d"), bench.path("link"));
    symlink("../out", &link).unwrap();
    let outside = bench.dir.path().join("out");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // One step, so that the place always exists and is a folder or a link.
                renameat_with(CWD, &place, CWD, &link, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..150 {
            let answers = [
                bench.call("read_file", &json!({"path": "d/secret.txt"})),
                bench.call("grep", &json!({"pattern": "."})),
                bench.call("write_file", &json!({"path": "d/new.txt", "content": "x"})),
            ];
            for answer in answers {
                assert!(!format!("{answer:?}").contains(CANARY), "{answer:?}");
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let names: Vec<_> = fs::read_dir(outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["secret.txt"], "something was written outside");
}

#[test]
fn a_hard_link_is_the_file_itself_for_reading_and_is_broken_by_writing() {
    let bench = Bench::new(&[("a", "one\n")]);
    let outside = bench.dir.path().join("out/hard");
    fs::hard_link(bench.path("a"), &outside).unwrap();
    bench.check("read_file", &json!({"path": "a"}), &Is("one\n"));
    bench.check("write_file", &json!({"path": "a", "content": "two\n"}), &Says(&["Replaced `a`", "hard links"]));
    assert_eq!(fs::read_to_string(outside).unwrap(), "one\n");
    assert_eq!(bench.text("a"), "two\n");
}

#[test]
fn control_characters_in_a_path_cannot_forge_a_line() {
    let bench = Bench::new(&[("bad\nname \u{1b}[2J", "x\n")]);
    bench.check("ls", &json!({}), &Is("file   bad\\nname \\u{1b}[2J (2 bytes)\n"));
    bench.check("read_file", &json!({"path": "no\nfile"}), &Fails(TOOL_FAILED, &["`no\\nfile` does not exist"]));
}

#[test]
fn a_name_that_is_too_long_is_a_plain_failure() {
    let bench = Bench::new(&[]);
    let path = "x".repeat(5_000);
    for (tool, arguments) in calls(&path) {
        bench.check(tool, &arguments, &Fails(TOOL_FAILED, &["too long"]));
    }
}
