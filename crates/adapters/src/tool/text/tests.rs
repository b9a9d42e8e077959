//! Text for models: near names, bounds, decoding.

use super::{MOST, Output, decoded, nearest, shown, visible};

#[test]
fn near_names_are_near() {
    let names = ["main.rs", "mail.rs", "lib.rs", "Makefile", "a", "b"];
    let table: [(&str, &[&str]); 8] = [
        ("main.rs", &["main.rs", "mail.rs"]),
        ("mian.rs", &["main.rs", "mail.rs"]),
        ("MAIN.RS", &["main.rs", "mail.rs"]),
        ("makefile", &["Makefile"]),
        ("Makefile.txt", &["Makefile"]),
        ("make", &["Makefile"]),
        ("completely", &[]),
        ("", &["a", "b"]),
    ];
    for (name, expect) in table {
        assert_eq!(nearest(name, names.iter(), 2), expect, "{name}");
    }
}

#[test]
fn names_stay_on_one_line() {
    assert_eq!(visible("a\nb\t\u{1b}[0m\u{9b}ä"), "a\\nb\\t\\u{1b}[0m\\u{9b}ä");
    assert_eq!(shown(&"x".repeat(300)), format!("`{}...`", "x".repeat(200)));
}

#[test]
fn a_cut_character_is_not_taken_for_a_fault() {
    let whole = "aä".as_bytes();
    let cut = whole.get(..2).unwrap();
    assert_eq!(decoded(whole, false), ("aä".into(), false));
    assert_eq!(decoded(cut, true), ("a".into(), false));
    assert_eq!(decoded(cut, false), ("a\u{fffd}".into(), true));
    assert_eq!(decoded(b"\xffa", true), ("\u{fffd}a".into(), true));
}

#[test]
fn output_is_bounded_and_ends_in_remarks() {
    let mut output = Output::default();
    let lines = vec!["x".repeat(MOST / 3); 4];
    assert_eq!(output.lines(&lines), 2);
    output.withheld(0);
    output.withheld(1);
    output.withheld(2);
    output.remark("said");
    let text = output.finish();
    assert!(text.ends_with("[said]\n"), "{text:.9}");
    assert!(text.contains("\n[1 entry is withheld") && text.contains("\n[2 entries are withheld"));
    let mut open = Output::default();
    open.push("no end");
    open.remark("r");
    assert_eq!(open.finish(), "no end\n[r]\n");
}
