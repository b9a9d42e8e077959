//! `glob` and `grep`.
// covers D-08

use crate::bench::{Bench, CANARY, Expect::*};
use deputize_core::code::{TOOL_ARGUMENTS, TOOL_FAILED};
use serde_json::json;
use std::fs;

fn project() -> Bench {
    Bench::new(&[
        ("Cargo.toml", "[package]\nname = \"x\"\n"),
        ("src/main.rs", "fn main() {\n    run();\n}\n"),
        ("src/deep/lib.rs", "pub fn run() {}\n// Run away\n"),
        ("src/.hidden.rs", "fn hidden() {}\n"),
        (".config/a.toml", "run = 1\n"),
        (".git/HEAD", "ref: run\n"),
        ("other", "-> src"),
        ("one.rs", "-> src/main.rs"),
        ("outside", "-> ../out"),
    ])
}

const ONE_HIDDEN: &str = "[1 entry is withheld: closed by a rule, or a link out of the workspace]\n";

#[test]
fn glob_finds_paths() {
    let bench = project();
    let root = bench.path("src/*.rs").display().to_string();
    let table = [
        (json!({"pattern": "**/*.rs"}), "one.rs\nsrc/.hidden.rs\nsrc/deep/lib.rs\nsrc/main.rs\n"),
        (json!({"pattern": "src/*.rs"}), "src/.hidden.rs\nsrc/main.rs\n"),
        (json!({"pattern": "/src/*.rs"}), "src/.hidden.rs\nsrc/main.rs\n"),
        (json!({"pattern": "./src/*.rs"}), "src/.hidden.rs\nsrc/main.rs\n"),
        (json!({"pattern": root}), "src/.hidden.rs\nsrc/main.rs\n"),
        (json!({"pattern": "{Cargo,.config/a}.toml"}), ".config/a.toml\nCargo.toml\n"),
        (json!({"pattern": "src/**"}), "src/.hidden.rs\nsrc/deep/lib.rs\nsrc/main.rs\n"),
        (json!({"pattern": "**/"}), ".config/\nsrc/\nsrc/deep/\n"),
        (json!({"pattern": "src/*/"}), "src/deep/\n"),
        (json!({"pattern": ".git/*"}), ".git/HEAD\n"),
    ];
    for (arguments, text) in table {
        let got = bench.call("glob", &arguments).unwrap();
        assert_eq!(got.replace(ONE_HIDDEN, ""), text, "{arguments}");
    }
    bench.check("glob", &json!({"pattern": "*.rs", "path": "src"}), &Is("src/.hidden.rs\nsrc/main.rs\n"));
    bench.check("glob", &json!({"pattern": "*.rs", "path": "other"}), &Is("other/.hidden.rs\nother/main.rs\n"));
    bench.check("glob", &json!({"pattern": "HEAD", "path": ".git"}), &Is(".git/HEAD\n"));
    bench.check(
        "glob",
        &json!({"pattern": "lib.rs"}),
        &Says(&["Nothing matches `lib.rs`", "put **/ in front", ONE_HIDDEN]),
    );
}

#[test]
fn glob_refuses_what_is_no_pattern() {
    let bench = project();
    for (pattern, why) in [
        ("", "`pattern` is empty"),
        ("../**", "`..` are not allowed"),
        ("a/../b", "`..` are not allowed"),
        ("~/x", "not allowed"),
        ("src/{a", "no glob pattern"),
        ("[z-a]", "no glob pattern"),
    ] {
        bench.check("glob", &json!({"pattern": pattern}), &Fails(TOOL_ARGUMENTS, &[why]));
    }
    bench.check("glob", &json!({"pattern": "*", "path": "Cargo.toml"}), &Fails(TOOL_FAILED, &["is a file"]));
}

#[test]
fn glob_is_bounded_and_says_so() {
    let bench = Bench::new(&[]);
    for n in 0..1_200 {
        fs::write(bench.path(&format!("f{n:04}")), "").unwrap();
    }
    bench.check("glob", &json!({"pattern": "*"}), &Says(&["f0999\n[the first 1000 of 1200 paths are shown"]));
}

#[test]
fn grep_finds_lines() {
    let bench = project();
    let table = [
        (
            json!({"pattern": "run"}),
            ".config/a.toml:1:run = 1\nsrc/deep/lib.rs:1:pub fn run() {}\nsrc/main.rs:2:    run();\n",
        ),
        (json!({"pattern": "^RUN", "ignore_case": true}), ".config/a.toml:1:run = 1\n"),
        (
            json!({"pattern": "run", "ignore_case": "true", "path": "src/deep"}),
            "src/deep/lib.rs:1:pub fn run() {}\nsrc/deep/lib.rs:2:// Run away\n",
        ),
        (json!({"pattern": "run", "path": "src/main.rs"}), "src/main.rs:2:    run();\n"),
        (json!({"pattern": "run", "path": "one.rs"}), "one.rs:2:    run();\n"),
        (json!({"pattern": "run", "glob": "*.toml"}), ".config/a.toml:1:run = 1\n"),
        (json!({"pattern": "run", "glob": "src/*.rs"}), "src/main.rs:2:    run();\n"),
        (json!({"pattern": "\\(\\)\\s*\\{$", "path": "src"}), "src/main.rs:1:fn main() {\n"),
        (json!({"pattern": "run", "path": ".git"}), ".git/HEAD:1:ref: run\n"),
        (
            json!({"pattern": "run\\(\\);", "context": 1}),
            "src/main.rs-1-fn main() {\nsrc/main.rs:2:    run();\nsrc/main.rs-3-}\n",
        ),
    ];
    for (arguments, text) in table {
        bench.check("grep", &arguments, &Is(text));
    }
    bench.check("grep", &json!({"pattern": "absent"}), &Is("No line matches `absent` in 5 files.\n"));
}

#[test]
fn grep_shows_context_once_and_parts_groups() {
    let text: String =
        (1..=12).map(|n| format!("{}\n", if [2, 4, 10].contains(&n) { "hit" } else { "miss" })).collect();
    let bench = Bench::new(&[("f", &text), ("g", "hit\n")]);
    let expect = "f-1-miss\nf:2:hit\nf-3-miss\nf:4:hit\nf-5-miss\n--\nf-9-miss\nf:10:hit\nf-11-miss\n--\ng:1:hit\n";
    bench.check("grep", &json!({"pattern": "hit", "context": "1"}), &Is(expect));
}

#[test]
fn grep_says_where_an_expression_is_broken() {
    let bench = project();
    let table: [(&str, &[&str]); 6] = [
        ("a(b", &["`a(b` is no regular expression: unclosed group at line 1, character 2"]),
        ("x{2,1}", &["character 2"]),
        ("(?=x)", &["look-around", "character 1"]),
        ("\\p{Nope}", &["character 1"]),
        ("", &["`pattern` is empty"]),
        ("(a{1000}){1000}", &["too large"]),
    ];
    for (pattern, why) in table {
        bench.check("grep", &json!({"pattern": pattern}), &Fails(TOOL_ARGUMENTS, why));
    }
    bench.check("grep", &json!({"pattern": "x", "glob": "{a"}), &Fails(TOOL_ARGUMENTS, &["`glob`"]));
}

#[test]
fn grep_passes_over_what_is_no_text() {
    let bench = Bench::new(&[("text", "needle\r\nnext\r\n")]);
    fs::write(bench.path("binary"), b"needle\0").unwrap();
    fs::write(bench.path("latin1"), b"needle gr\xfcn\n").unwrap();
    let expect = "latin1:1:needle gr\u{fffd}n\ntext:1:needle\n[1 binary file was passed over]\n";
    bench.check("grep", &json!({"pattern": "needle"}), &Is(expect));
    bench.check("grep", &json!({"pattern": "needle$"}), &Says(&["text:1:needle\n"]));
}

#[test]
fn grep_is_bounded_and_cuts_long_lines_around_the_match() {
    let bench = Bench::new(&[
        ("many", &"hit\n".repeat(700)),
        ("wide/one", &format!("{}needle{}\n", "ä".repeat(3_000), "y".repeat(3_000))),
    ]);
    bench.check("grep", &json!({"pattern": "hit"}), &Says(&["many:500:hit\n[only the first 500 matches are shown"]));
    let got = bench.call("grep", &json!({"pattern": "needle"})).unwrap();
    assert!(got.starts_with("wide/one:1:[5900 bytes] ää"), "{got}");
    assert!(got.contains("äneedley"), "{got}");
    assert!(got.ends_with("y [2706 more bytes]\n"), "{got}");
    assert!(got.len() < 600);
}

#[test]
fn a_whole_answer_of_grep_is_bounded_in_bytes() {
    let bench = Bench::new(&[("many", &format!("{}\n", "hit ".repeat(90)).repeat(400))]);
    let got = bench.call("grep", &json!({"pattern": "hit"})).unwrap();
    assert!(got.len() < 50_000, "{}", got.len());
    assert!(got.contains("matches are shown: narrow"), "cut without a word");
}

#[test]
fn a_search_never_leaves_the_workspace() {
    let bench = project();
    for (tool, arguments) in [
        ("grep", json!({"pattern": CANARY})),
        ("grep", json!({"pattern": "."})),
        ("glob", json!({"pattern": "**/secret*"})),
        ("glob", json!({"pattern": "outside/*"})),
    ] {
        let got = bench.call(tool, &arguments).unwrap();
        let lines: Vec<&str> =
            got.lines().filter(|line| line.contains("secret") && !line.contains("matches")).collect();
        assert!(lines.is_empty(), "{got}");
        assert!(tool == "glob" || got.matches(CANARY).count() == usize::from(arguments["pattern"] == CANARY), "{got}");
    }
}

#[test]
fn folders_may_be_deep() {
    let bench = Bench::new(&[]);
    let deep = "d/".repeat(300);
    fs::create_dir_all(bench.path(&deep)).unwrap();
    fs::write(bench.path(&format!("{deep}f")), "needle\n").unwrap();
    bench.check("grep", &json!({"pattern": "needle"}), &Is(&format!("{deep}f:1:needle\n")));
}
