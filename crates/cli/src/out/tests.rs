//! What reaches a terminal.

use super::{coloured, escaped, one_line, visible};

#[test]
fn nothing_steers_the_terminal() {
    assert_eq!(visible("a\u{1b}[31mb\tc\r\nd\u{202e}e"), "a\u{fffd}[31mb c\nd\u{fffd}e");
    assert_eq!(visible("\u{9b}0m\u{7f}"), "\u{fffd}0m\u{fffd}");
}

#[test]
fn a_document_stays_the_same_document() {
    let text = serde_json::to_string(&"a\u{1b}\u{9b}\u{7f}\u{202e}\u{feff}é").unwrap();
    let shown = escaped(&text);
    assert!(shown.chars().all(|c| !c.is_control() && c != '\u{202e}'));
    assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "a\u{1b}\u{9b}\u{7f}\u{202e}\u{feff}é");
}

#[test]
fn lines_are_bounded() {
    assert_eq!(one_line("  a\n b\t c ", 10), "a b c");
    assert_eq!(one_line("abcdefgh", 5), "abcd\u{2026}");
    assert_eq!(one_line("abc", 3), "abc");
}

#[test]
fn only_the_heads_of_the_programs_own_messages_are_coloured() {
    let text =
        "error[a.b]: one: two\na.md:1:2: warning[c]: x\n 1 | error[in a file]: y\nnext: deputize runs\nplain: error\n";
    let expect = "\u{1b}[1;31merror[a.b]\u{1b}[0m: one: two\na.md:1:2: \u{1b}[1;33mwarning[c]\u{1b}[0m: x\n 1 | error[in a file]: y\n\u{1b}[1mnext\u{1b}[0m: deputize runs\nplain: error\n";
    assert_eq!(coloured(text), expect);
}
