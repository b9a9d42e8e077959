//! Tests of the event parser: each text whole, byte by byte, and cut at every place.

use super::Sse;

fn parse(pieces: &[&[u8]]) -> Vec<String> {
    let mut sse = Sse::default();
    let mut all: Vec<String> = pieces.iter().flat_map(|piece| sse.push(piece)).collect();
    all.extend(sse.finish());
    all
}

fn check(text: &str, expect: &[&str]) {
    let bytes = text.as_bytes();
    assert_eq!(parse(&[bytes]), expect, "whole: {text:?}");
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(parse(&single), expect, "byte by byte: {text:?}");
    for at in 0..=bytes.len() {
        let (a, b) = bytes.split_at(at);
        assert_eq!(parse(&[a, b"", b]), expect, "cut at {at}: {text:?}");
    }
}

#[test]
fn events_come_out_however_the_bytes_are_cut() {
    check("", &[]);
    check("\n\n\n", &[]);
    check("data: a\n\ndata: b\n\n", &["a", "b"]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
    check("data: a\r\rdata: b\r\r", &["a", "b"]);
    check("data:a\n\n", &["a"]);
    check("data:  a\n\n", &[" a"]);
    check("data: one\ndata: two\n\n", &["one\ntwo"]);
    check("data: one\r\ndata: two\r\n\r\n", &["one\ntwo"]);
    check("data: one\rdata: two\r\r", &["one\ntwo"]);
    check("data\n\n", &[""]);
    check(": comment\n\n:\n\ndata: a\n: more\n\n", &["a"]);
    check("event: x\nid: 7\nretry: 3\ndata: a\n\n", &["a"]);
    check("datax: no\n\ndata: a:b\n\n", &["a:b"]);
    check("\u{feff}data: a\n\n", &["a"]);
    check("data: käse 日本 🦀\n\n", &["käse 日本 🦀"]);
    check("data: {\"a\":1}\n\ndata: [DONE]\n\n", &["{\"a\":1}", "[DONE]"]);
}

#[test]
fn the_last_event_needs_no_blank_line() {
    check("data: a\n\ndata: [DONE]", &["a", "[DONE]"]);
    check("data: a\n\ndata: b\n", &["a", "b"]);
    check("data: a\ndata: b", &["a\nb"]);
}

#[test]
fn bytes_that_are_no_text_do_not_stop_it() {
    assert_eq!(parse(&[b"data: \xff\n\n", b"data: b\n\n"]), ["\u{fffd}", "b"]);
}
