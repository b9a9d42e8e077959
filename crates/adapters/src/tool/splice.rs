//! The text work of an edit, on bytes in memory: find the one piece, put another in its place, or say what is in the way.

use super::text;

/// How many lines of occurrences are told.
const TOLD: usize = 10;
/// How many lines are compared in search of the nearest one, and how much of each.
const COMPARED: usize = 10_000;
const WIDTH: usize = 200;
/// Under this likeness, from 0 to 1, a line is not near.
const NEAR: f64 = 0.5;

/// A file after an edit.
#[derive(Debug)]
pub(super) struct Edit {
    /// Its new content.
    pub(super) content: Vec<u8>,
    /// How many occurrences were replaced.
    pub(super) count: u64,
    /// The lines, from 1, of the first of them in the old content.
    pub(super) lines: Vec<u64>,
}

/// Replaces `old` by `new`. A file whose lines all end in CRLF keeps them, however the texts are written.
pub(super) fn splice(content: &[u8], old: &str, new: &str, all: bool) -> Result<Edit, String> {
    let crlf = only_crlf(content);
    let (from, to) = if crlf { (with_crlf(old), with_crlf(new)) } else { (old.to_string(), new.to_string()) };
    if from == to {
        return Err("`old` and `new` differ only in line ends, which the file keeps as CRLF".into());
    }
    let places = places(content, from.as_bytes(), !all);
    let lines: Vec<u64> = lines_of(content, places.iter().take(TOLD));
    match places.len() {
        0 => return Err(absent(content, old)),
        1 => {}
        _ if all => {}
        _ => {
            let told: Vec<String> = lines.iter().map(u64::to_string).collect();
            let more = if places.len() > TOLD { " and more" } else { "" };
            let count = if places.len() > TOLD { format!("more than {TOLD}") } else { places.len().to_string() };
            return Err(format!(
                "`old` occurs {count} times (lines {}{more}): give more of the text around it, or set replace_all",
                told.join(", ")
            ));
        }
    }
    let count = u64::try_from(places.len()).unwrap_or(u64::MAX);
    Ok(Edit { content: joined(content, &places, from.len(), to.as_bytes()), count, lines })
}

/// Where a piece occurs. `overlapping`: occurrences may overlap and are only counted up to one more than is told.
fn places(content: &[u8], piece: &[u8], overlapping: bool) -> Vec<usize> {
    let finder = memchr::memmem::Finder::new(piece);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = content.get(from..).and_then(|rest| finder.find(rest)) {
        places.push(from + at);
        from += at + if overlapping { 1 } else { piece.len().max(1) };
        if overlapping && places.len() > TOLD {
            break;
        }
    }
    places
}

fn joined(content: &[u8], places: &[usize], len: usize, new: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(content.len());
    let mut from = 0;
    for place in places {
        result.extend_from_slice(content.get(from..*place).unwrap_or_default());
        result.extend_from_slice(new);
        from = place + len;
    }
    result.extend_from_slice(content.get(from..).unwrap_or_default());
    result
}

fn lines_of<'a>(content: &[u8], places: impl Iterator<Item = &'a usize>) -> Vec<u64> {
    let (mut line, mut from) = (1, 0);
    let mut lines = Vec::new();
    for place in places {
        let between = content.get(from..*place).unwrap_or_default();
        line += memchr::memchr_iter(b'\n', between).fold(0, |count, _| count + 1);
        from = *place;
        lines.push(line);
    }
    lines
}

/// Whether there are lines and all of them end in CRLF.
fn only_crlf(content: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', content).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && content.get(at - 1) == Some(&b'\r'))
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

/// What to say when `old` does not occur: the line most like its first line with text.
fn absent(content: &[u8], old: &str) -> String {
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let nearest = content.split(|byte| *byte == b'\n').take(COMPARED).zip(1u64..).filter_map(|(line, number)| {
        let line = String::from_utf8_lossy(line.get(..WIDTH).unwrap_or(line)).into_owned();
        let likeness = likeness(wanted, line.trim());
        (likeness >= NEAR).then_some((likeness, number, line))
    });
    // Of equal ones the first.
    let nearest = nearest.reduce(|best, next| if next.0 > best.0 { next } else { best });
    match nearest {
        Some((likeness, number, line)) => {
            let line = text::shown(line.trim_end());
            let hint = if likeness >= 1.0 { "; look at the white space and at the lines after it" } else { "" };
            format!("`old` does not occur; the line nearest to its first line is line {number}: {line}{hint}")
        }
        None => "`old` does not occur and no line is like its first line: read the file again".into(),
    }
}

fn likeness(wanted: &str, line: &str) -> f64 {
    let wanted: String = wanted.chars().take(WIDTH).collect();
    // A text of twice as many characters cannot be near, and a character has at most four bytes.
    let comparable = wanted.len() <= line.len().saturating_mul(8) && line.len() <= wanted.len().saturating_mul(8);
    if comparable { strsim::normalized_levenshtein(&wanted, line) } else { 0.0 }
}
