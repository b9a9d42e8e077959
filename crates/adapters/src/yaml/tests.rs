//! Tests of the way from YAML text to the spanned tree.

use super::parse;
use deputize_core::definition::node::{Kind, Node};

/// A tree in one line: texts as they are, `q` in front of those in quotes.
fn shape(node: &Node) -> String {
    match &node.kind {
        Kind::Null => "null".into(),
        Kind::Unreadable => "unreadable".into(),
        Kind::Scalar { text, quoted } => format!("{}{text:?}", if *quoted { "q" } else { "" }),
        Kind::List(items) => format!("[{}]", items.iter().map(shape).collect::<Vec<_>>().join(" ")),
        Kind::Map(entries) => {
            let entry = |e: &deputize_core::definition::node::Entry| format!("{}={}", e.key, shape(&e.value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(" "))
        }
    }
}

fn read(text: &str) -> String {
    match parse(text, 0) {
        Ok(node) => shape(&node),
        Err(faults) => {
            let said = |m: &deputize_core::definition::message::Message| {
                format!("{} {}:{}", m.code, m.line.unwrap_or(0), m.column.unwrap_or(0))
            };
            faults.iter().map(said).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn scalars_keep_their_text() {
    let table = [
        ("a: no", "{a=\"no\"}"),
        ("a: 012", "{a=\"012\"}"),
        ("a: 0x1F", "{a=\"0x1F\"}"),
        ("a: 1.50", "{a=\"1.50\"}"),
        ("a: 'no'", "{a=q\"no\"}"),
        ("a: \"x\\ty\"", "{a=q\"x\\ty\"}"),
        ("a: |\n  x\n  y\n", "{a=q\"x\\ny\\n\"}"),
        ("a: >-\n  x\n  y\n", "{a=q\"x y\"}"),
        ("a: !!str 12", "{a=q\"12\"}"),
        ("a: ~\nb: null\nc:\nd: 'null'", "{a=null b=null c=null d=q\"null\"}"),
        ("[a, [b]]", "[\"a\" [\"b\"]]"),
        ("", "null"),
        ("# only a comment\n", "null"),
        ("\u{feff}a: b\r\nc: d\r\n", "{a=\"b\" c=\"d\"}"),
        ("x: &x [1, 2]\ny: *x", "{x=[\"1\" \"2\"] y=[\"1\" \"2\"]}"),
        ("1: a\nno: b", "{1=\"a\" no=\"b\"}"),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn places_count_characters_from_one_and_from_the_beginning_of_the_file() {
    let node = parse("\u{e4}\u{1f9ed}: x\nk:\n  - \u{fc}: y\n", 3).unwrap();
    let Kind::Map(entries) = &node.kind else { panic!("no map") };
    let place = |n: &Node| (n.at.line, n.at.column);
    assert_eq!((entries[0].at.line, entries[0].at.column), (4, 1));
    assert_eq!(place(&entries[0].value), (4, 5));
    let Kind::List(items) = &entries[1].value.kind else { panic!("no list") };
    let Kind::Map(inner) = &items[0].kind else { panic!("no map") };
    assert_eq!((inner[0].at.line, inner[0].at.column), (6, 5));
    assert_eq!(place(&inner[0].value), (6, 8));
}

#[test]
fn what_is_refused() {
    let table = [
        ("a: 1\nb: 2\na: 3\nb: 4", "yaml.duplicate_key 3:1, yaml.duplicate_key 4:1"),
        ("a: {x: 1, 'x': 2}", "yaml.duplicate_key 1:11"),
        ("a: 1\n---\nb: 2", "yaml.documents 2:1"),
        ("a:\n\t- b", "yaml.tab 2:1"),
        ("a: &a [*a]", "yaml.alias 1:8"),
        ("a: !ruby/object:X {}", "yaml.tag 1:4"),
        ("? [a]\n: b", "yaml.key 1:3"),
        ("{a: b}: c", "yaml.key 1:1"),
    ];
    for (text, expected) in table {
        assert_eq!(read(text), expected, "{text}");
    }
    for broken in ["a: b: c", "a: [b", "a: *", "a: 'b", "a: b\n c: d", "- a\nb: c", "a: @b", "a: `b`"] {
        assert!(read(broken).starts_with("yaml.syntax"), "{broken}: {}", read(broken));
    }
}

#[test]
fn bounds_hold_against_bombs() {
    let levels = |n: usize| format!("{}x{}", "[".repeat(n), "]".repeat(n));
    assert!(read(&levels(60)).starts_with("[["));
    assert!(read(&levels(70)).starts_with("yaml.depth"));
    assert!(read(&"- ".repeat(100_000)).starts_with("yaml.depth"));
    let deep = format!("a: &a {}\nb: {}*a{}", levels(40), "[".repeat(40), "]".repeat(40));
    assert!(read(&deep).starts_with("yaml.depth"));
    let wide = format!("a: &a [{}]\nb: [{}]", "x,".repeat(200), "*a,".repeat(60));
    assert!(read(&wide).starts_with("yaml.alias"));
    let fine = format!("a: &a [{}]\nb: [{}]", "x,".repeat(200), "*a,".repeat(40));
    assert!(read(&fine).starts_with("{a="));
}

/// No text may bring the parser down: a fixed set of mutations of texts that hold everything.
#[test]
fn mutated_texts_never_panic() {
    let seeds = [
        "name: a\ndescription: >-\n  x\n  y\ntools: [Read, \"G\\u0041\", 'x']\nk: {a: &b [1], c: *b}\n# c\n",
        "a:\n\t- b\n? x\n: |2\n   y\n--- !!str \"z\"\n...\n%YAML 1.2\n",
    ];
    let pieces = [
        "\t",
        ":",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "&a",
        "*a",
        "\"",
        "'",
        "|",
        ">",
        "\n",
        "#",
        "!",
        "%",
        "\u{feff}",
        "\0",
        "\u{1f9ed}",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for round in 0..20_000 {
        let mut text: Vec<char> = seeds[round % 2].chars().collect();
        for _ in 0..=random(4) {
            let at = random(text.len().max(1)).min(text.len());
            match random(3) {
                0 if at < text.len() => drop(text.remove(at)),
                1 => drop(text.splice(at..at, pieces[random(pieces.len())].chars())),
                _ => text.truncate(at.max(1)),
            }
        }
        let text: String = text.into_iter().collect();
        let _ = parse(&text, 0);
    }
}
