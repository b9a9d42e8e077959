//! Tests of how a message is drawn.

use super::{WIDTH, render};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use std::collections::BTreeMap;

fn sources(text: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("a.md".to_string(), text.to_string())])
}

fn at(line: u32, column: u32) -> Message {
    Message::new(Level::Warning, "key.unknown", "`x` is no known key").file("a.md").at(Place { line, column })
}

#[test]
fn a_message_has_its_place_its_line_a_mark_and_a_hint() {
    let shown = render(&at(2, 4).hint("did you mean `y`?"), &sources("---\n\t\u{e4}: x\n"));
    let wanted =
        "a.md:2:4: warning[key.unknown]: `x` is no known key\n  2 |  \u{e4}: x\n    |    ^\n  = did you mean `y`?\n";
    assert_eq!(shown, wanted);
}

#[test]
fn what_has_no_place_is_one_line() {
    assert_eq!(render(&Message::new(Level::Error, "a.b", "Text"), &BTreeMap::new()), "error[a.b]: Text\n");
    let file = Message::new(Level::Info, "a.b", "Text").file("x/y.md");
    assert_eq!(render(&file, &BTreeMap::new()), "x/y.md: info[a.b]: Text\n");
    // A place behind the end of the text, or in a text that is gone.
    assert!(!render(&at(9, 1), &sources("one\n")).contains(" | "));
    assert!(!render(&at(1, 1), &BTreeMap::new()).contains(" | "));
}

#[test]
fn a_long_line_is_cut_around_the_mark() {
    let long = format!("{}HERE{}", "a ".repeat(2_500), " b".repeat(2_500));
    let shown = render(&at(1, 5_001), &sources(&long));
    let mut lines = shown.lines().skip(1);
    let (line, mark) = (lines.next().unwrap(), lines.next().unwrap());
    assert!(line.chars().count() <= WIDTH + 8);
    let column = mark.chars().position(|c| c == '^').unwrap();
    assert_eq!(line.chars().skip(column).take(4).collect::<String>(), "HERE");
}

#[test]
fn a_word_that_the_window_cuts_is_not_shown_since_it_may_be_half_a_key() {
    let key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrSt0123456789";
    let words = |count: usize| "a ".repeat(count);
    for (line, column, whole) in [
        (format!("{}{key} x", words(50)), 1, false), // the right edge falls into the key
        (format!("{}{key} {}", words(30), words(60)), 140, false), // the left edge does
        (format!("{}{key} x", words(20)), 1, true),
    ] {
        let shown = render(&at(1, column), &sources(&line));
        let parts = key.as_bytes().windows(6).filter(|part| shown.contains(std::str::from_utf8(part).unwrap())).count();
        assert_eq!((shown.contains(key), parts > 0), (whole, whole), "{shown}");
    }
}

#[test]
fn nothing_reaches_the_terminal_that_could_move_it() {
    let evil = "\u{1b}[2J\u{7}\r\u{202e}\u{200b}\u{9b}31m";
    let message =
        Message::new(Level::Error, evil, evil).hint(evil).file(format!("{evil}.md")).at(Place { line: 1, column: 1 });
    let sources = BTreeMap::from([(format!("{evil}.md"), format!("{evil}\n"))]);
    let shown = render(&message, &sources);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()), "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
}
