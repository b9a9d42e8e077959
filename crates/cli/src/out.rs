//! The one place that prints. Results go to standard output, everything else to standard error. What is shown may come
//! from a model or from anybody's file, so control characters are made visible; a stream that nobody reads any more is
//! closed for good and never ends a run.

use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Both output streams.
pub(crate) struct Out {
    json: bool,
    stdout_gone: AtomicBool,
    stderr_gone: AtomicBool,
}

impl Out {
    /// `json`: standard output holds one document and nothing else.
    pub(crate) fn new(json: bool) -> Out {
        Out { json, stdout_gone: AtomicBool::new(false), stderr_gone: AtomicBool::new(false) }
    }
    /// Whether a document is wanted.
    pub(crate) fn json(&self) -> bool {
        self.json
    }
    /// Text of a result, as it is but for control characters.
    pub(crate) fn result(&self, text: &str) {
        emit(&mut std::io::stdout().lock(), &ended(visible(text)), &self.stdout_gone);
    }
    /// The document of `--json`.
    pub(crate) fn document(&self, document: &impl Serialize) {
        let text = serde_json::to_string_pretty(document).unwrap_or_default();
        emit(&mut std::io::stdout().lock(), &ended(escaped(&text)), &self.stdout_gone);
    }
    /// The document if one is wanted, else the text.
    pub(crate) fn either(&self, document: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json { self.document(document) } else { self.result(&text()) }
    }
    /// A line or more for the person who watches.
    pub(crate) fn note(&self, text: &str) {
        emit(&mut std::io::stderr().lock(), &ended(visible(text)), &self.stderr_gone);
    }
    /// Waits until everything is written.
    pub(crate) fn flush(&self) {
        // Fails only when nobody reads; then nothing is lost.
        drop(std::io::stdout().flush());
        drop(std::io::stderr().flush());
    }
}

fn emit(stream: &mut impl Write, text: &str, gone: &AtomicBool) {
    if gone.load(Ordering::Relaxed) {
        return;
    }
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    if written.is_err_and(|e| e.kind() != ErrorKind::Interrupted) {
        gone.store(true, Ordering::Relaxed);
    }
}

fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Characters that steer a terminal, turn the writing direction, or hide themselves.
fn steers(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn visible(text: &str) -> String {
    let one = |c: char| match c {
        '\t' => ' ',
        c if steers(c) => '\u{fffd}',
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(one).collect()
}

/// In JSON text such characters stand only inside strings, where an escape means the same.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if steers(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Text of anybody in one line of at most `most` characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = words.chars();
    let head: String = chars.by_ref().take(most).collect();
    if chars.next().is_none() {
        return head;
    }
    let kept: String = head.chars().take(most.saturating_sub(1)).collect();
    format!("{}\u{2026}", kept.trim_end())
}

#[cfg(test)]
mod tests;
