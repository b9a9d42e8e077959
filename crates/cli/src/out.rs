//! The one place that prints. Results go to standard output, everything else to standard error. What is shown may come
//! from a model or from anybody's file, so control characters are made visible; a stream that nobody reads any more is
//! closed for good and never ends a run. Secrets are taken out here once more, whatever brought them this far.

use crate::log_file::LogFile;
use deputize_runtime::secret::Redactor;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, RwLock};

/// Both output streams.
pub(crate) struct Out {
    json: bool,
    stdout_gone: AtomicBool,
    stderr_gone: AtomicBool,
    stdout_failed: AtomicBool,
    home: OnceLock<String>,
    redactor: RwLock<Redactor>,
    manner: OnceLock<Manner>,
}

/// How much is said, how, and where else.
pub(crate) struct Manner {
    /// What is said beside results and errors.
    pub(crate) level: Level,
    /// Whether messages are coloured.
    pub(crate) colour: bool,
    /// A file that gets all messages too.
    pub(crate) log: Option<LogFile>,
}

/// What is said beside results and errors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Nothing.
    Quiet,
    /// What was chosen and what is done.
    Usual,
    /// Everything.
    Verbose,
}

impl Out {
    /// `json`: standard output holds one document and nothing else.
    pub(crate) fn new(json: bool) -> Out {
        let no = || AtomicBool::new(false);
        Out {
            json,
            stdout_gone: no(),
            stderr_gone: no(),
            stdout_failed: no(),
            home: OnceLock::new(),
            redactor: RwLock::default(),
            manner: OnceLock::new(),
        }
    }
    /// How messages are given from now on; until then as usual, without colour.
    pub(crate) fn set_manner(&self, manner: Manner) {
        // Said once, at the start.
        drop(self.manner.set(manner));
    }
    /// What takes the secrets out of all that is printed from now on.
    pub(crate) fn set_redactor(&self, redactor: &Redactor) {
        // Only a panic while it is held could poison it, and nothing panics there.
        if let Ok(mut held) = self.redactor.write() {
            *held = redactor.clone();
        }
    }
    fn redactor(&self) -> Redactor {
        self.redactor.read().map(|held| held.clone()).unwrap_or_default()
    }
    /// The state folder that was given by flag: commands that are shown name it too, or they would not find the run.
    pub(crate) fn set_home(&self, folder: &Path) {
        // Said once, at the start.
        drop(self.home.set(quoted(folder)));
    }
    /// A command for the person to type.
    pub(crate) fn command(&self, command: &str) -> String {
        self.home.get().map_or_else(|| command.to_string(), |home| format!("{command} --home {home}"))
    }
    /// Whether a result could not be written although somebody may have waited for it: a full disk, say.
    pub(crate) fn failed(&self) -> bool {
        self.stdout_failed.load(Ordering::Relaxed)
    }
    /// Whether a document is wanted.
    pub(crate) fn json(&self) -> bool {
        self.json
    }
    /// Text of a result, as it is but for control characters.
    pub(crate) fn result(&self, text: &str) {
        self.standard(&ended(visible(&self.redactor().text(text))));
    }
    /// The document of `--json`.
    pub(crate) fn document(&self, document: &impl Serialize) {
        let mut value = serde_json::to_value(document).unwrap_or_default();
        self.redactor().value(&mut value);
        let text = serde_json::to_string_pretty(&value).unwrap_or_default();
        self.standard(&ended(escaped(&text)));
    }
    fn standard(&self, text: &str) {
        let error = emit(&mut std::io::stdout().lock(), text, &self.stdout_gone);
        if error.is_some_and(|kind| kind != ErrorKind::BrokenPipe) {
            self.stdout_failed.store(true, Ordering::Relaxed);
        }
    }
    /// The document if one is wanted, else the text.
    pub(crate) fn either(&self, document: &impl Serialize, text: impl FnOnce() -> String) {
        if self.json { self.document(document) } else { self.result(&text()) }
    }
    /// Text of anybody as [`Out::result`] would print it, for a line of the program's own.
    pub(crate) fn harmless(&self, text: &str) -> String {
        visible(&self.redactor().text(text))
    }
    /// Text of the program's own, as it is.
    pub(crate) fn program_text(&self, text: &str) {
        self.standard(text);
    }
    /// A line or more that must be said: an error, what to type next.
    pub(crate) fn say(&self, text: &str) {
        self.message(Level::Quiet, text);
    }
    /// A line or more for the person who watches.
    pub(crate) fn note(&self, text: &str) {
        self.message(Level::Usual, text);
    }
    /// A line or more for the person who wants to know all of it.
    pub(crate) fn detail(&self, text: &str) {
        self.message(Level::Verbose, text);
    }
    /// Whether somebody wants to know all of it.
    pub(crate) fn is_detailed(&self) -> bool {
        self.manner.get().is_some_and(|manner| manner.level == Level::Verbose || manner.log.is_some())
    }
    fn message(&self, level: Level, text: &str) {
        let text = ended(visible(&self.redactor().text(text)));
        let manner = self.manner.get();
        if let Some(log) = manner.and_then(|manner| manner.log.as_ref()) {
            log.write(&text);
        }
        if level > manner.map_or(Level::Usual, |manner| manner.level) {
            return;
        }
        let text = if manner.is_some_and(|manner| manner.colour) { coloured(&text) } else { text };
        // There is nobody to tell that nobody can be told.
        let _ = emit(&mut std::io::stderr().lock(), &text, &self.stderr_gone);
    }
    /// Waits until everything is written.
    pub(crate) fn flush(&self) {
        // Fails only when nobody reads; then nothing is lost.
        drop(std::io::stdout().flush());
        drop(std::io::stderr().flush());
    }
}

/// Writes it all; returns why it could not, once.
fn emit(stream: &mut impl Write, text: &str, gone: &AtomicBool) -> Option<ErrorKind> {
    if gone.load(Ordering::Relaxed) {
        return None;
    }
    let written = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
    let kind = written.err().map(|e| e.kind()).filter(|kind| *kind != ErrorKind::Interrupted)?;
    gone.store(true, Ordering::Relaxed);
    Some(kind)
}

/// The program's own styling, put on after what others wrote was made harmless: the head of a message that begins a line.
fn coloured(text: &str) -> String {
    const HEADS: [(&str, &str); 3] =
        [("error[", "\u{1b}[1;31m"), ("warning[", "\u{1b}[1;33m"), ("next: ", "\u{1b}[1m")];
    let one = |line: &str| {
        let (head, rest) = HEADS.iter().find_map(|(mark, style)| {
            // A message about a file begins with its place.
            let at = if line.starts_with(mark) { 0 } else { line.find(&format!(": {mark}"))? + 2 };
            let end = line.get(at..)?.find(": ").map_or(line.len(), |colon| at + colon);
            Some((format!("{}{style}{}\u{1b}[0m", line.get(..at)?, line.get(at..end)?), line.get(end..)?))
        })?;
        Some(head + rest)
    };
    text.split_inclusive('\n').map(|line| one(line).unwrap_or_else(|| line.to_string())).collect()
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
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
