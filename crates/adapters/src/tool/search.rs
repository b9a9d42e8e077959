//! Searches one file for a regular expression and collects the lines to show.

use super::aside::Stop;
use super::lines::{Line, Lines, Look};
use super::text::{self, Output};
use regex::bytes::Regex;
use std::collections::VecDeque;
use std::fs::File;
use std::io;

/// The most matches of one answer.
const MATCHES: u64 = 500;
/// The most bytes of a line that are searched, and that are shown around its first match.
const SEARCHED: usize = 1024 * 1024;
const SHOWN: usize = 400;

/// The lines found so far, over all files.
pub(super) struct Hits {
    output: Output,
    context: usize,
    summary: Summary,
}

/// What the search came to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Summary {
    /// Matching lines that are shown.
    pub(super) matches: u64,
    /// There may be more.
    pub(super) cut: bool,
    /// Files that were passed over because they are no text.
    pub(super) binary: u64,
    /// Lines of which only the begin was searched.
    pub(super) long: u64,
}

impl Hits {
    /// None yet; `context` lines are to be shown around each.
    pub(super) fn new(context: usize) -> Hits {
        Hits { output: Output::default(), context, summary: Summary::default() }
    }
    /// No more can be taken.
    pub(super) fn full(&self) -> bool {
        self.summary.cut
    }
    /// The lines, and what they are part of.
    pub(super) fn into_output(self) -> (Output, Summary) {
        (self.output, self.summary)
    }
    fn add(&mut self, piece: &str) {
        self.summary.cut |= !self.output.push(piece);
    }
}

/// Searches one file.
pub(super) fn search(file: File, name: &str, regex: &Regex, hits: &mut Hits, stop: &Stop) -> io::Result<()> {
    let (mut lines, look) = Lines::of(file, stop)?;
    if look != Look::Text {
        hits.summary.binary += 1;
        return Ok(());
    }
    let mut file = Searched { name, hits, before: VecDeque::new(), after: 0, told: 0, number: 0 };
    while let Some(mut line) = lines.next(SEARCHED)? {
        if line.bytes.last() == Some(&b'\r') {
            line.bytes.pop();
        }
        file.number += 1;
        file.hits.summary.long += u64::from(line.left_out > 0);
        match regex.find(&line.bytes) {
            Some(hit) => file.matched(&line, hit.start()),
            None => file.passed(line),
        }
        if file.hits.full() {
            break;
        }
    }
    Ok(())
}

/// One file while it is searched.
struct Searched<'a> {
    name: &'a str,
    hits: &'a mut Hits,
    /// The last lines that were not shown.
    before: VecDeque<Line>,
    /// How many lines are still to be shown after a match.
    after: usize,
    /// The last line that was shown.
    told: u64,
    number: u64,
}

impl Searched<'_> {
    fn matched(&mut self, line: &Line, at: usize) {
        if self.hits.summary.matches == MATCHES {
            self.hits.summary.cut = true;
            return;
        }
        let first = self.number - u64::try_from(self.before.len()).unwrap_or(0);
        if self.hits.context > 0 && !self.hits.output.is_empty() && (self.told == 0 || self.told + 1 < first) {
            self.hits.add("--\n");
        }
        for (number, line) in (first..).zip(std::mem::take(&mut self.before)) {
            self.show(&line, number, '-', 0);
        }
        self.show(line, self.number, ':', at);
        if !self.hits.full() {
            self.hits.summary.matches += 1;
        }
        self.after = self.hits.context;
    }

    fn passed(&mut self, line: Line) {
        if self.after > 0 {
            self.after -= 1;
            return self.show(&line, self.number, '-', 0);
        }
        self.before.push_back(line);
        if self.before.len() > self.hits.context {
            self.before.pop_front();
        }
    }

    fn show(&mut self, line: &Line, number: u64, mark: char, at: usize) {
        let text = around(line, at);
        self.hits.add(&format!("{}{mark}{number}{mark}{text}\n", self.name));
        self.told = number;
    }
}

/// The part of a line around a place, with marks where it is cut.
fn around(line: &Line, at: usize) -> String {
    let start = if line.bytes.len() <= SHOWN { 0 } else { boundary(&line.bytes, at.saturating_sub(SHOWN / 4)) };
    let rest = line.bytes.get(start..).unwrap_or_default();
    let part = rest.get(..SHOWN).unwrap_or(rest);
    let after = u64::try_from(rest.len() - part.len()).unwrap_or(0) + line.left_out;
    let (shown, _) = text::decoded(part, after > 0);
    let front = if start > 0 { format!("[{start} bytes] ") } else { String::new() };
    let back = if after > 0 { format!(" [{after} more bytes]") } else { String::new() };
    format!("{front}{shown}{back}")
}

/// The begin of the character that this place is in.
fn boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| bytes.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80)).unwrap_or(at)
}
