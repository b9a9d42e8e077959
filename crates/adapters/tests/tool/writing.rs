//! `write_file`: what it does, and that nothing else is changed.
// covers F-09

use crate::bench::{Bench, Expect::*};
use deputize_core::code::{PERMISSION_DENIED, TOOL_ARGUMENTS, TOOL_FAILED};
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const WORLD: &[(&str, &str)] =
    &[("a.txt", "old\n"), ("d/b.txt", "beta\n"), ("link", "-> d/b.txt"), ("dir", "-> d"), ("out", "-> ../out")];

#[test]
fn a_write_says_what_happened() {
    let bench = Bench::new(WORLD);
    let table = [
        ("new.txt", "text\n", "Created `new.txt` (5 bytes).\n"),
        ("new.txt", "text\n", "`new.txt` already has this content (5 bytes); nothing was changed.\n"),
        ("new.txt", "more text\n", "Replaced `new.txt` (5 bytes before, 10 bytes now).\n"),
        ("new.txt", "grün", "Replaced `new.txt` (10 bytes before, 5 bytes now).\n"),
        ("new.txt", "", "Replaced `new.txt` (5 bytes before, 0 bytes now).\n"),
        ("x/y/z/deep.txt", "1", "Created `x/y/z/deep.txt` (1 byte).\n"),
        ("/abs.txt", "1", "Created `/abs.txt` (1 byte).\n"),
        ("a.txt", "old!", "Replaced `a.txt` (4 bytes before, 4 bytes now).\n"),
    ];
    for (path, content, answer) in table {
        bench.check("write_file", &json!({"path": path, "content": content}), &Is(answer));
        assert_eq!(bench.text(path.trim_start_matches('/')), content);
    }
}

#[test]
fn only_the_named_file_changes() {
    for (path, real, changed) in
        [("a.txt", "a.txt", 0), ("n/m/f", "n/m/f", 3), ("link", "d/b.txt", 0), ("dir/new", "d/new", 1)]
    {
        let bench = Bench::new(WORLD);
        let mut before = bench.tree();
        bench.check("write_file", &json!({"path": path, "content": "fresh\n"}), &Says(&[path]));
        let mut after = bench.tree();
        assert_eq!(after.len(), before.len() + changed, "{path}");
        let real = bench.path(real);
        assert_eq!(after.remove(&real).unwrap().1, b"fresh\n");
        before.remove(&real);
        after.retain(|place, _| before.contains_key(place) || place.is_file());
        assert_eq!(after, before, "{path}");
    }
}

#[test]
fn a_write_that_is_refused_changes_nothing() {
    let bench = Bench::new(WORLD);
    fs::write(bench.path("readonly"), "keep\n").unwrap();
    fs::set_permissions(bench.path("readonly"), Permissions::from_mode(0o444)).unwrap();
    let before = bench.tree();
    let table = [
        ("d", TOOL_FAILED, "is a folder"),
        ("", TOOL_FAILED, "is a folder"),
        ("new/", TOOL_ARGUMENTS, "ends in `/`"),
        ("a.txt/x", TOOL_FAILED, "not a folder"),
        ("out/new.txt", PERMISSION_DENIED, "leads out"),
        ("out/deep/new.txt", PERMISSION_DENIED, "leads out"),
        ("readonly", TOOL_FAILED, "marked read-only"),
        (&"n/".repeat(3).replace('n', &"x".repeat(300)), TOOL_FAILED, "too long"),
        (&format!("made/{}", "x".repeat(300)), TOOL_FAILED, "too long"),
    ];
    for (path, code, why) in table {
        bench.check("write_file", &json!({"path": path, "content": "x"}), &Fails(code, &[why]));
    }
    assert_eq!(bench.tree(), before);
}

#[test]
fn the_mode_of_a_file_is_kept_and_links_stay_links() {
    let bench = Bench::new(WORLD);
    fs::set_permissions(bench.path("a.txt"), Permissions::from_mode(0o750)).unwrap();
    bench.check("write_file", &json!({"path": "a.txt", "content": "#!/bin/sh\n"}), &Says(&["Replaced"]));
    assert_eq!(bench.path("a.txt").metadata().unwrap().permissions().mode() & 0o7777, 0o750);
    bench.check("write_file", &json!({"path": "link", "content": "through\n"}), &Says(&["Replaced `link`"]));
    assert!(bench.path("link").symlink_metadata().unwrap().is_symlink());
    assert_eq!(bench.text("d/b.txt"), "through\n");
}

#[test]
fn the_owner_of_a_file_is_kept_where_the_system_lets_us() {
    let bench = Bench::new(WORLD);
    if std::os::unix::fs::chown(bench.path("a.txt"), Some(12_345), Some(12_345)).is_ok() {
        bench.check("write_file", &json!({"path": "a.txt", "content": "x"}), &Says(&["Replaced"]));
        let facts = bench.path("a.txt").metadata().unwrap();
        assert_eq!((facts.uid(), facts.gid()), (12_345, 12_345));
    }
}

#[test]
fn writers_at_the_same_time_leave_one_whole_file() {
    let bench = Bench::new(WORLD);
    std::thread::scope(|scope| {
        for n in 0..4 {
            let bench = &bench;
            scope.spawn(move || {
                let content = format!("{n}").repeat(10_000);
                for _ in 0..20 {
                    bench.call("write_file", &json!({"path": "shared/f", "content": content})).unwrap();
                }
            });
        }
    });
    let text = bench.text("shared/f");
    assert_eq!(text.len(), 10_000);
    assert!(text.bytes().all(|byte| text.as_bytes()[0] == byte), "a mixture of two writers");
    assert_eq!(fs::read_dir(bench.path("shared")).unwrap().count(), 1);
}
