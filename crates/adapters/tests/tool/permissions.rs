//! Rules on paths through every file tool: the path as written, the place it leads to, and all that bulk tools come across.
// covers D-08, X-09

use crate::bench::{Bench, CANARY, Expect::*};
use deputize_core::code::{APPROVAL_UNAVAILABLE, Code, PERMISSION_DENIED, TOOL_ARGUMENTS, TOOL_FAILED};
use deputize_core::policy::Permission::{Allow, Ask, Deny};
use serde_json::{Value, json};
use std::fs;

const WORLD: &[(&str, &str)] = &[
    ("a.txt", "alpha\n"),
    ("docs/b.md", "beta\n"),
    ("docs/.hidden", "dot\n"),
    ("secrets/key.txt", CANARY),
    ("secrets/.env.example", CANARY),
    ("secrets/deep/x.txt", CANARY),
    ("one.txt", CANARY),
    ("to-file", "-> secrets/key.txt"),
    ("to-folder", "-> secrets"),
    ("to-one", "-> one.txt"),
    ("chain", "-> hop"),
    ("hop", "-> to-folder/deep"),
    ("docs/up", "-> ../secrets"),
    ("absolute", "-> $OUT/ws/secrets"),
    ("loop-a", "-> loop-b"),
    ("loop-b", "-> loop-a"),
    ("dangling", "-> secrets/nothing"),
    ("out", "-> $OUT/out/secret.txt"),
    ("friendly", "-> docs"),
];

/// All but `secrets` and one file.
fn shut() -> Bench {
    Bench::new(WORLD).under(&[("rw", Deny, &["/secrets/", "/one.txt"]), ("rw", Allow, &["/"])])
}

/// Every file tool on one path.
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
fn fault_37_every_way_to_a_denied_place_is_closed_to_every_tool() {
    let bench = shut();
    let before = bench.tree();
    let root = bench.path("secrets/key.txt").display().to_string();
    let table: &[(&str, &str, Code, &str)] = &[
        ("the file", "one.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("a file below", "secrets/key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("a dot file below", "secrets/.env.example", PERMISSION_DENIED, "rule 1 of the project"),
        ("far below", "secrets/deep/x.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("the folder itself", "secrets", PERMISSION_DENIED, "rule 1 of the project"),
        ("the folder with a slash", "secrets/", PERMISSION_DENIED, "rule 1 of the project"),
        ("what is not there", "secrets/new/file", PERMISSION_DENIED, "rule 1 of the project"),
        ("another letter case", "SECRETS/key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("another letter case of the file", "One.TXT", PERMISSION_DENIED, "rule 1 of the project"),
        ("another letter", "\u{17f}ecrets/key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("from the workspace down", "/secrets/key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("absolute", &root, PERMISSION_DENIED, "rule 1 of the project"),
        ("dots", "./secrets/./key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("slashes", "secrets//key.txt", PERMISSION_DENIED, "rule 1 of the project"),
        ("up", "docs/../secrets/key.txt", TOOL_ARGUMENTS, "`..` is not allowed"),
        ("a link to a file", "to-file", PERMISSION_DENIED, "it leads to a place where rule 1 of the project"),
        ("a link to the one file", "to-one", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("a link to the folder", "to-folder", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("below a link", "to-folder/key.txt", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("new below a link", "to-folder/new", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("a chain", "chain", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("below a chain", "chain/x.txt", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("a link up", "docs/up/key.txt", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("two links", "friendly/up/key.txt", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("an absolute link", "absolute/key.txt", PERMISSION_DENIED, "it leads to a place where rule 1"),
        ("a circle", "loop-a", TOOL_FAILED, "in a circle"),
        ("a link to nothing", "dangling", TOOL_FAILED, "leads to nothing"),
        ("a link out", "out", PERMISSION_DENIED, "leads out of the workspace"),
    ];
    for (what, path, code, why) in table {
        for (tool, arguments) in calls(path) {
            bench.check(tool, &arguments, &Fails(code.clone(), &[why]));
            let said = bench.call(tool, &arguments).unwrap_err().why;
            let told = said.replace(&format!("`{path}`"), "").to_lowercase();
            let linked = why.contains("leads");
            assert!(!linked || !(told.contains("secrets") || told.contains("one.txt")), "{what}: {said}");
        }
    }
    assert_eq!(bench.tree(), before, "nothing was written");
}

#[test]
fn bulk_tools_leave_out_what_is_denied_and_say_how_many() {
    let bench = shut();
    let listed = bench.call("ls", &json!({})).unwrap();
    for gone in ["secrets", "one.txt", "to-file", "to-folder", "to-one", "chain", "hop", "absolute", "link   out"] {
        assert!(!listed.contains(gone), "{gone} in {listed}");
    }
    assert!(
        listed.contains("folder docs/")
            && listed.contains("link   friendly")
            && listed.contains("entries are withheld")
    );
    let patterns = [
        "**",
        "**/*",
        "secrets/**",
        "**/key.txt",
        "{secrets,docs}/**",
        "SECRETS/*",
        "to-folder/**",
        "*/.*",
        "**/deep/*",
    ];
    for pattern in patterns {
        let found = bench.call("glob", &json!({"pattern": pattern})).unwrap();
        for gone in ["key.txt\n", ".env.example\n", "x.txt\n", "one.txt\n", "to-file\n", "to-one\n"] {
            assert!(!found.contains(gone), "{pattern} gave {found}");
        }
    }
    bench.check("glob", &json!({"pattern": "**/*.md"}), &Says(&["docs/b.md\n", "withheld"]));
    bench.check("grep", &json!({"pattern": "canary|beta"}), &Says(&["docs/b.md:1:beta\n", "withheld"]));
    bench.check("grep", &json!({"pattern": "canary", "glob": "secrets/**"}), &Says(&["No line matches"]));
    bench.check("glob", &json!({"pattern": "secrets/"}), &Says(&["Nothing matches"]));
}

#[test]
fn a_pattern_that_is_absolute_or_goes_up_gains_nothing() {
    let bench = shut();
    let absolute = bench.path("secrets/*").display().to_string();
    bench.check("glob", &json!({"pattern": absolute}), &Says(&["Nothing matches", "withheld"]));
    bench.check("glob", &json!({"pattern": "/secrets/*"}), &Says(&["Nothing matches"]));
    let elsewhere = bench.dir.path().join("out/*").display().to_string();
    assert!(bench.call("glob", &json!({"pattern": elsewhere})).unwrap().starts_with("Nothing matches"));
    for (tool, name) in [("glob", "pattern"), ("grep", "glob")] {
        for pattern in ["../out/*", "docs/../secrets/*", "~/x", "{..,docs}/*"] {
            let got = bench.call(tool, &json!({"pattern": "canary", name: pattern}));
            let refused = got.as_ref().is_err_and(|failure| failure.code == TOOL_ARGUMENTS);
            // A `..` that only braces make matches no path: there is no entry of that name.
            assert!(refused || pattern.starts_with('{') && !got.unwrap().contains(CANARY), "{tool} {pattern}");
        }
    }
}

#[test]
fn reading_and_writing_are_told_apart() {
    let bench = Bench::new(WORLD).under(&[
        ("w", Allow, &["/docs/"]),
        ("w", Deny, &["/"]),
        ("r", Deny, &["/docs/"]),
        ("r", Allow, &["/"]),
    ]);
    bench.check("read_file", &json!({"path": "a.txt"}), &Is("alpha\n"));
    let why: &[&str] = &["`a.txt` may not be written: rule 2 of the project denies it (`/`)"];
    bench.check("write_file", &json!({"path": "a.txt", "content": "x"}), &Fails(PERMISSION_DENIED, why));
    bench.check("edit_file", &json!({"path": "a.txt", "old": "a", "new": "b"}), &Fails(PERMISSION_DENIED, why));
    bench.check("write_file", &json!({"path": "docs/new/c.md", "content": "x"}), &Says(&["Created"]));
    let why: &[&str] = &["`docs/b.md` may not be read: rule 3"];
    bench.check("edit_file", &json!({"path": "docs/b.md", "old": "b", "new": "c"}), &Fails(PERMISSION_DENIED, why));
    // Writing blind must not tell whether the content was guessed right.
    bench.check("write_file", &json!({"path": "docs/b.md", "content": "beta\n"}), &Says(&["Replaced"]));
    // A link of its own folder is no way to write elsewhere.
    let why: &[&str] = &["it leads to a place where rule 2"];
    fs::remove_file(bench.path("docs/b.md")).unwrap();
    std::os::unix::fs::symlink("../a.txt", bench.path("docs/b.md")).unwrap();
    bench.check("write_file", &json!({"path": "docs/b.md", "content": "x"}), &Fails(PERMISSION_DENIED, why));
    assert_eq!(bench.text("a.txt"), "alpha\n");
}

#[test]
fn what_no_rule_names_is_closed_and_the_way_to_what_is_open_is_shown() {
    let bench = Bench::new(WORLD).under(&[("rw", Allow, &["/docs/"])]);
    bench.check("ls", &json!({}), &Says(&["folder docs/\n", "withheld"]));
    bench.check("grep", &json!({"pattern": "."}), &Says(&["docs/.hidden:1:dot\n", "docs/b.md:1:beta\n"]));
    let why: &[&str] = &["`a.txt` may not be read: no rule of the project allows it, it allows `/docs/`"];
    bench.check("read_file", &json!({"path": "a.txt"}), &Fails(PERMISSION_DENIED, why));
    bench.check("grep", &json!({"pattern": ".", "path": "a.txt"}), &Fails(PERMISSION_DENIED, why));
    // Letter case counts for what is allowed.
    bench.check("write_file", &json!({"path": "DOCS/x", "content": "x"}), &Fails(PERMISSION_DENIED, &["no rule"]));
    bench.check("ls", &json!({"path": "secrets"}), &Fails(PERMISSION_DENIED, &["no rule of the project"]));
    let near = bench.call("read_file", &json!({"path": "docs/c.md"})).unwrap_err().why;
    assert!(near.contains("`docs/b.md`"), "{near}");
}

#[test]
fn near_names_tell_of_nothing_that_is_closed() {
    let bench = Bench::new(&[("d/report-1.txt", "x"), ("d/report-2.txt", CANARY)])
        .under(&[("r", Deny, &["/d/report-2.txt"]), ("r", Allow, &["/"])]);
    let why = bench.call("read_file", &json!({"path": "d/report-3.txt"})).unwrap_err().why;
    assert!(why.contains("report-1") && !why.contains("report-2"), "{why}");
}

#[test]
fn what_would_be_asked_is_refused_with_its_own_code() {
    let bench = Bench::new(WORLD).under(&[("rw", Ask, &["/docs/"]), ("rw", Allow, &["/"])]);
    let how = "put a rule with `mode: allow` before that one in deputize.yaml";
    for (tool, arguments) in calls("docs/b.md") {
        bench.check(tool, &arguments, &Fails(APPROVAL_UNAVAILABLE, &["`docs/b.md`", "nobody can be asked", how]));
    }
    for (tool, arguments) in calls("friendly/b.md") {
        bench.check(tool, &arguments, &Fails(APPROVAL_UNAVAILABLE, &["it leads to a place where rule 1"]));
    }
    bench.check("grep", &json!({"pattern": "beta"}), &Says(&["No line matches", "withheld"]));
}

#[test]
fn fault_37_a_hard_link_to_a_denied_file_is_not_read() {
    let bench = Bench::new(&[("secrets/a", CANARY), ("docs/fine", "fine\n"), (".env", CANARY)])
        .under(&[("rw", Deny, &["/secrets/"]), ("rw", Allow, &["/"])]);
    for (from, to) in [("secrets/a", "docs/alias"), (".env", "docs/env"), ("docs/fine", "docs/other")] {
        fs::hard_link(bench.path(from), bench.path(to)).unwrap();
    }
    for path in ["docs/alias", "docs/env"] {
        let why: &[&str] = &["another name (a hard link) of a file that may not be read"];
        bench.check("read_file", &json!({"path": path}), &Fails(PERMISSION_DENIED, why));
        bench.check("edit_file", &json!({"path": path, "old": "c", "new": "d"}), &Fails(PERMISSION_DENIED, why));
        bench.check("grep", &json!({"pattern": ".", "path": path}), &Says(&["could not be read"]));
        // Told neither that the guess is right, nor is the other name changed.
        bench.check("write_file", &json!({"path": path, "content": CANARY}), &Says(&["Replaced"]));
    }
    assert_eq!((bench.text("secrets/a").as_str(), bench.text(".env").as_str()), (CANARY, CANARY));
    bench.check("read_file", &json!({"path": "docs/other"}), &Is("fine\n"));
    for (from, to) in [("secrets/a", "docs/alias"), (".env", "docs/env")] {
        fs::remove_file(bench.path(to)).unwrap();
        fs::hard_link(bench.path(from), bench.path(to)).unwrap();
    }
    let found = &["docs/fine:1:fine\n", "docs/other:1:fine\n", "[2 files could not be read]"];
    bench.check("grep", &json!({"pattern": "canary|fine", "glob": "docs/*"}), &Says(found));
}

// covers S-13
#[test]
fn two_trees_reach_nothing_of_each_other() {
    let one = Bench::new(&[("mine", "one\n")]);
    let two = Bench::new(&[("mine", CANARY)]);
    let there = two.path("").canonicalize().unwrap();
    std::os::unix::fs::symlink(&there, one.path("there")).unwrap();
    std::os::unix::fs::symlink(there.join("mine"), one.path("file")).unwrap();
    let absolute = there.join("mine").display().to_string();
    let up = format!("../{}/ws/mine", there.parent().unwrap().file_name().unwrap().to_str().unwrap());
    for path in [&absolute, &up, "there", "there/mine", "there/new", "file"] {
        for (tool, arguments) in calls(path) {
            if tool == "write_file" && *path == absolute {
                continue; // An absolute path elsewhere is a path of the own workspace, see `paths`.
            }
            let got = one.call(tool, &arguments);
            assert!(got.is_err(), "{tool} {path}: {got:?}");
        }
    }
    let listed = one.call("ls", &json!({})).unwrap();
    assert!(listed.starts_with("file   mine (4 bytes)\n[2 entries are withheld"), "{listed}");
    one.check("grep", &json!({"pattern": "."}), &Is("mine:1:one\n"));
    assert_eq!(two.text("mine"), CANARY);
    assert_eq!(fs::read_dir(&there).unwrap().count(), 1);
}
