//! Bounded reading of files that anybody may have written: size, kind, encoding, NUL. Never waits for a pipe.

use super::findings::Findings;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use std::fs::{File, metadata};
use std::io::Read as _;
use std::path::Path;

/// Longest file of text. The longest agent file seen in the wild is under 100 kB.
pub(super) const MAX_TEXT: u64 = 1 << 20;

/// Reads a whole text file: regular, UTF-8, at most [`MAX_TEXT`] bytes, without NUL. A byte order mark is taken off and
/// line ends become `\n`, so that nothing behind this function sees either. Whatever is wrong is one message.
pub(super) fn read(path: &Path) -> Result<String, Message> {
    let error = |code: &str, text: String| Message::new(Level::Error, code, text);
    let about = metadata(path).map_err(|e| error("file.unreadable", format!("cannot be read: {}", plain(&e))))?;
    if !about.is_file() {
        let kind = if about.is_dir() { "a folder" } else { "no regular file" };
        return Err(error("file.kind", format!("this is {kind}, where a text file is expected")));
    }
    if about.len() > MAX_TEXT {
        return Err(too_big(about.len()));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed, since the file may grow while it is read.
    let read = File::open(path).and_then(|f| f.take(MAX_TEXT + 1).read_to_end(&mut bytes));
    read.map_err(|e| error("file.unreadable", format!("cannot be read: {}", plain(&e))))?;
    let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if length > MAX_TEXT {
        return Err(too_big(length));
    }
    text(bytes)
}

fn too_big(length: u64) -> Message {
    let text = format!("the file has {length} bytes; at most {MAX_TEXT} are read");
    Message::new(Level::Error, "file.too_big", text)
}

/// An input error without the number that the system adds.
pub(super) fn plain(e: &std::io::Error) -> String {
    let text = e.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn text(bytes: Vec<u8>) -> Result<String, Message> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = Message::new(Level::Error, "file.not_utf8", "the file is UTF-16; only UTF-8 is read");
        return Err(message.hint("save it with the encoding UTF-8"));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let good =
            String::from_utf8_lossy(e.as_bytes().get(..e.utf8_error().valid_up_to()).unwrap_or_default()).into_owned();
        let message =
            Message::new(Level::Error, "file.not_utf8", "the file is not UTF-8: here is a byte that is no character");
        message.hint("save it with the encoding UTF-8").at(end_of(&good))
    })?;
    if let Some((before, _)) = text.split_once('\0') {
        let message = Message::new(Level::Error, "file.nul", "the file holds a NUL character: it is no text");
        return Err(message.at(end_of(before)));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(text.replace("\r\n", "\n"))
}

/// The place right behind a text.
fn end_of(text: &str) -> Place {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let last = text.rsplit('\n').next().unwrap_or_default();
    Place { line: number(text.matches('\n').count() + 1), column: number(last.chars().count() + 1) }
}

/// Reads a text file and keeps its text for messages; complains when it cannot be read.
pub(super) fn read_for(findings: &mut Findings, path: &Path) -> Option<(String, String)> {
    let file = findings.shown(path);
    match read(path) {
        Ok(text) => {
            findings.sources.insert(file.clone(), text.clone());
            Some((file, text))
        }
        Err(message) => {
            findings.push(message.file(file));
            None
        }
    }
}

/// Whether a file begins with a line `---`, without reading all of it; `None` when that cannot be known.
pub(super) fn begins_with_fence(path: &Path) -> Option<bool> {
    if !metadata(path).ok()?.is_file() {
        return None;
    }
    let mut start = Vec::new();
    File::open(path).ok()?.take(16).read_to_end(&mut start).ok()?;
    let start = start.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(&start);
    Some(start.starts_with(b"---"))
}
