//! Lines of files of every form, in bounded memory.

use super::{BLOCK, Lines, Look};
use crate::tool::aside::{Stop, stopped};
use std::io::{ErrorKind, Seek, Write};

/// Each line as (kept, left out, ended).
fn check(content: &[u8], most: usize, look: Look, expect: &[(&[u8], u64, bool)]) {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    let stop = Stop::default();
    let (mut lines, seen) = Lines::of(file, &stop).unwrap();
    assert_eq!(seen, look, "{content:?}");
    let mut got = Vec::new();
    while let Some(line) = lines.next(most).unwrap() {
        got.push((line.bytes, line.left_out, line.ended));
    }
    let expect: Vec<_> = expect.iter().map(|(kept, out, ended)| (kept.to_vec(), *out, *ended)).collect();
    assert_eq!(got, expect);
}

#[test]
fn lines_are_kept_as_they_are() {
    check(b"", 9, Look::Text, &[]);
    check(b"\n", 9, Look::Text, &[(b"", 0, true)]);
    check(b"a\r\nb", 9, Look::Text, &[(b"a\r", 0, true), (b"b", 0, false)]);
    check(b"\xef\xbb\xbfa\n\xef\xbb\xbfb", 9, Look::Text, &[(b"a", 0, true), (b"\xef\xbb\xbfb", 0, false)]);
    check(b"abcdef\ngh", 4, Look::Text, &[(b"abcd", 2, true), (b"gh", 0, false)]);
}

#[test]
fn a_line_may_be_longer_than_a_block() {
    let mut content = vec![b'x'; 3 * BLOCK + 5];
    content.extend_from_slice(b"\nend\n");
    let left = u64::try_from(3 * BLOCK + 5 - 10).unwrap();
    check(&content, 10, Look::Text, &[(b"xxxxxxxxxx", left, true), (b"end", 0, true)]);
}

#[test]
fn the_first_bytes_tell_text_from_data() {
    check(b"a\0", 9, Look::Binary, &[(b"a\0", 0, false)]);
    check(b"\xfe\xff\0a", 9, Look::Utf16, &[(b"\xfe\xff\0a", 0, false)]);
}

#[test]
fn passing_over_lines_counts_them() {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"1\n2\n3").unwrap();
    file.rewind().unwrap();
    let stop = Stop::default();
    let (mut lines, _) = Lines::of(file, &stop).unwrap();
    assert_eq!(lines.skip(2).unwrap(), 2);
    assert_eq!(lines.skip(9).unwrap(), 1);
}

#[test]
fn reading_stops_when_it_is_told_to() {
    let stop = stopped();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"text").unwrap();
    assert_eq!(Lines::of(file, &stop).err().unwrap().kind(), ErrorKind::Interrupted);
}
