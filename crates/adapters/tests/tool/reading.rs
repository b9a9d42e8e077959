//! `read_file` and `ls`.

use crate::bench::{Bench, Expect::*};
use deputize_core::code::{TOOL_ARGUMENTS, TOOL_FAILED};
use serde_json::json;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_text_is_given_as_it_is() {
    let bench = Bench::new(&[
        ("plain", "one\ntwo\n"),
        ("open-end", "one\ntwo"),
        ("crlf", "one\r\ntwo\r\n"),
        ("bom", "\u{feff}one\n"),
        ("unicode", "grün 木\n"),
        ("empty", ""),
        ("blank", "\n"),
    ]);
    let table = [
        ("plain", "one\ntwo\n"),
        ("open-end", "one\ntwo"),
        ("crlf", "one\r\ntwo\r\n"),
        ("bom", "one\n"),
        ("unicode", "grün 木\n"),
        ("empty", "The file is empty.\n"),
        ("blank", "\n"),
    ];
    for (path, text) in table {
        bench.check("read_file", &json!({"path": path}), &Is(text));
    }
}

#[test]
fn parts_of_a_file_say_what_is_left() {
    let bench = Bench::new(&[("ten", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10")]);
    let table = [
        (json!({"path": "ten", "limit": 2}), "1\n2\n[lines 1 to 2 of 10 are shown: go on with offset 3]\n"),
        (json!({"path": "ten", "offset": 4, "limit": 1}), "4\n[lines 4 to 4 of 10 are shown: go on with offset 5]\n"),
        (json!({"path": "ten", "offset": "9", "limit": "5"}), "9\n10"),
        (json!({"path": "ten", "offset": 10.0, "limit": null}), "10"),
    ];
    for (arguments, text) in table {
        bench.check("read_file", &arguments, &Is(text));
    }
    let past: &[&str] = &["`ten` has 10 lines, offset 11 is past its end"];
    bench.check("read_file", &json!({"path": "ten", "offset": 11}), &Fails(TOOL_FAILED, past));
    bench.check("read_file", &json!({"path": "ten", "offset": 0}), &Fails(TOOL_ARGUMENTS, &["`offset`", "from 1 on"]));
}

#[test]
fn two_thousand_lines_are_the_default() {
    let text: String = (1..=2_500).map(|n| format!("{n}\n")).collect();
    let bench = Bench::new(&[("long", &text)]);
    let expect: &[&str] = &["\n2000\n[lines 1 to 2000 of 2500 are shown: go on with offset 2001]\n"];
    bench.check("read_file", &json!({"path": "long"}), &Says(expect));
}

#[test]
fn reading_on_with_the_offset_gives_every_line_once() {
    let text: String = (1..=4_000).map(|n| format!("{n:>40} ä\n")).collect();
    let bench = Bench::new(&[("long", &text)]);
    let (mut offset, mut whole) = (1, String::new());
    loop {
        let part = bench.call("read_file", &json!({"path": "long", "offset": offset, "limit": 9_999})).unwrap();
        assert!(part.len() < 50_000, "{}", part.len());
        let Some((lines, remark)) = part.split_once("[lines") else {
            whole.push_str(&part);
            break;
        };
        whole.push_str(lines);
        let next = remark.split("offset ").nth(1).unwrap().trim_end_matches("]\n");
        offset = next.parse().unwrap();
    }
    assert_eq!(whole, text);
}

#[test]
fn a_long_line_is_cut_at_a_character_with_a_mark() {
    let bench = Bench::new(&[("wide", &format!("{}{}\nnext\n", "x".repeat(3_999), "ä".repeat(50)))]);
    let got = bench.call("read_file", &json!({"path": "wide"})).unwrap();
    let expect =
        format!("{} [99 more bytes of this line are left out: grep finds text in it]\nnext\n", "x".repeat(3_999));
    assert_eq!(got, expect);
}

#[test]
fn what_is_no_text_is_refused_or_noted() {
    let bench = Bench::new(&[]);
    fs::write(bench.path("binary"), b"\x7fELF\0\0\0").unwrap();
    fs::write(bench.path("late"), [vec![b'a'; 9_000], b"\n\0\n".to_vec()].concat()).unwrap();
    fs::write(bench.path("utf16"), b"\xff\xfea\0").unwrap();
    fs::write(bench.path("latin1"), b"gr\xfcn\n").unwrap();
    bench.check("read_file", &json!({"path": "binary"}), &Fails(TOOL_FAILED, &["`binary`", "binary file", "7 bytes"]));
    bench.check("read_file", &json!({"path": "late"}), &Fails(TOOL_FAILED, &["binary file", "line 2 holds NUL"]));
    bench.check("read_file", &json!({"path": "utf16"}), &Fails(TOOL_FAILED, &["UTF-16"]));
    let noted = "gr\u{fffd}n\n[some bytes are no UTF-8; each is shown as \u{fffd}]\n";
    bench.check("read_file", &json!({"path": "latin1"}), &Is(noted));
}

#[test]
fn a_huge_file_is_not_held_in_memory() {
    let bench = Bench::new(&[]);
    let file = File::create(bench.path("sparse")).unwrap();
    file.set_len(200 * 1024 * 1024).unwrap();
    bench.check("read_file", &json!({"path": "sparse"}), &Fails(TOOL_FAILED, &["binary file (209715200 bytes)"]));
    bench.check("grep", &json!({"pattern": "x"}), &Says(&["No line matches", "[1 binary file was passed over]"]));
    bench.check(
        "edit_file",
        &json!({"path": "sparse", "old": "a", "new": "b"}),
        &Fails(TOOL_FAILED, &["too large to edit"]),
    );
    // Text at the begin, then one line of 200 MB.
    fs::write(bench.path("text"), "a\n".repeat(10_000)).unwrap();
    File::options().append(true).open(bench.path("text")).unwrap().set_len(200 * 1024 * 1024).unwrap();
    let expect: &[&str] = &["a\na\n[lines 1 to 2 of a file of 209715200 bytes are shown: go on with offset 3]\n"];
    bench.check("read_file", &json!({"path": "text", "limit": 2}), &Says(expect));
    bench.check(
        "read_file",
        &json!({"path": "text", "offset": 10_001}),
        &Fails(TOOL_FAILED, &["line 10001 holds NUL"]),
    );
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    let bench = Bench::new(&[("locked", "x\n"), ("shut/inside", "x\n")]);
    fs::set_permissions(bench.path("locked"), Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(bench.path("shut"), Permissions::from_mode(0o000)).unwrap();
    // The superuser reads everything; then there is nothing to refuse.
    if File::open(bench.path("locked")).is_err() {
        bench.check("read_file", &json!({"path": "locked"}), &Fails(TOOL_FAILED, &["`locked`", "gives no permission"]));
        bench.check("ls", &json!({"path": "shut"}), &Fails(TOOL_FAILED, &["gives no permission"]));
        bench.check(
            "grep",
            &json!({"pattern": "x"}),
            &Says(&["[1 file could not be read]", "[1 folder could not be read]"]),
        );
    }
    fs::set_permissions(bench.path("shut"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_missing_file_names_what_is_near() {
    let bench = Bench::new(&[("src/main.rs", ""), ("src/mail.rs", ""), ("src/zebra.txt", ""), ("README.md", "")]);
    let table: [(&str, &[&str]); 6] = [
        ("src/mian.rs", &["`src/mian.rs` does not exist in the workspace; near it: `src/main.rs`"]),
        ("readme.md", &["near it: `README.md`"]),
        ("src/main", &["near it: `src/main.rs`"]),
        ("scr/main.rs", &["there is no folder `scr`; near it: `src`"]),
        ("src/deep/er/x", &["there is no folder `src/deep`"]),
        ("/Src/main.rs", &["there is no folder `Src`; near it: `src`"]),
    ];
    for (path, why) in table {
        bench.check("read_file", &json!({"path": path}), &Fails(TOOL_FAILED, why));
        bench.check("edit_file", &json!({"path": path, "old": "a", "new": "b"}), &Fails(TOOL_FAILED, why));
    }
    bench.check("read_file", &json!({"path": "src"}), &Fails(TOOL_FAILED, &["`src` is a folder: use ls"]));
    bench.check("ls", &json!({"path": "README.md"}), &Fails(TOOL_FAILED, &["is a file", "read_file"]));
    bench.check("ls", &json!({"path": "srcc"}), &Fails(TOOL_FAILED, &["near it: `src`"]));
    bench.check("read_file", &json!({"path": ""}), &Fails(TOOL_ARGUMENTS, &["`path` is empty"]));
}

#[test]
fn ls_shows_everything_in_byte_order() {
    let bench = Bench::new(&[
        ("b", "12"),
        ("B", "1"),
        (".dot", ""),
        ("ä", "123"),
        ("folder/", ""),
        ("to-file", "-> b"),
        ("to-folder", "-> folder"),
        ("to-nothing", "-> gone"),
        ("to-out", "-> ../out"),
    ]);
    let expect = "file   .dot (0 bytes)\n\
                  file   B (1 byte)\n\
                  file   b (2 bytes)\n\
                  folder folder/\n\
                  link   to-file (to a file of 2 bytes)\n\
                  link   to-folder (to a folder)\n\
                  link   to-nothing (to nothing)\n\
                  file   ä (3 bytes)\n\
                  [1 entry is withheld: closed by a rule, or a link out of the workspace]\n";
    for path in [json!({}), json!({"path": "."}), json!({"path": "/"}), json!({"path": ""})] {
        bench.check("ls", &path, &Is(expect));
    }
    bench.check("ls", &json!({"path": "folder/"}), &Is("The folder is empty.\n"));
}

#[test]
fn ls_of_a_large_folder_is_bounded() {
    let bench = Bench::new(&[]);
    for n in 0..1_500 {
        File::create(bench.path(&format!("f{n:04}"))).unwrap();
    }
    let expect: &[&str] = &["f0999 (0 bytes)\n[the first 1000 of 1500 entries are shown"];
    bench.check("ls", &json!({}), &Says(expect));
}

#[test]
fn names_that_are_no_unicode_are_shown() {
    let bench = Bench::new(&[]);
    let name = std::ffi::OsStr::from_bytes(b"gr\xfcn");
    if File::create(bench.path("").join(name)).is_ok() {
        bench.check("ls", &json!({}), &Is("file   gr\u{fffd}n (0 bytes)\n"));
        bench.check("glob", &json!({"pattern": "*"}), &Is("gr\u{fffd}n\n"));
    }
}
