//! `read_file`: lines of one text file, as they are.

use super::arguments::{Kind, Parameter, wrong};
use super::lines::{Line, Lines, Look};
use super::text::{self, Output};
use super::workspace::fault;
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure};

/// Lines of one call when the model does not say.
const LINES: u64 = 2_000;
/// The most bytes of one line: a line of code is shorter, and a page of minified script tells nothing.
const LINE: usize = 4_000;
/// Up to this size the lines that are left are counted, so that the model knows how long the file is.
const COUNTED: u64 = 16 * 1024 * 1024;

pub(super) const TOOL: Builtin = Builtin {
    name: "read_file",
    description: "Reads a text file of the workspace, exactly as it is. Long files come in parts: by default the first \
                  2000 lines; a remark in brackets at the end says what is left and with which offset to go on. Binary \
                  files are refused.",
    parameters: &[
        Parameter::required("path", Kind::Text, "The file, relative to the workspace."),
        Parameter::optional("offset", Kind::Count { least: 1 }, "The first line to read, counted from 1. Default: 1."),
        Parameter::optional("limit", Kind::Count { least: 1 }, "How many lines to read. Default: 2000."),
    ],
    effect: EffectClass::ReadOnly,
    operation: Operation::Read,
    uses: &[Use::Read],
    prepare: None,
    perform,
};

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    if call.arguments.text("path").is_empty() {
        return Err(wrong("`path` is empty: name a file"));
    }
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    let len = found.file(call.workspace)?.len;
    let size = text::bytes(len);
    let shown = &found.written.shown;
    let offset = call.arguments.count("offset").unwrap_or(1);
    let failed = |error| fault::system(shown, "read", error);
    let (mut lines, look) = Lines::of(found.open(call.workspace, call.stop)?, call.stop).map_err(failed)?;
    if let Some(what) = unreadable(look) {
        return Err(fault::failed(format!("{shown} {what} ({size}) and cannot be read as text")));
    }
    let passed = lines.skip(offset - 1).map_err(failed)?;
    let mut part = Part { output: Output::default(), lossy: false, read: 0, full: false };
    let limit = call.arguments.count("limit").unwrap_or(LINES);
    while part.read < limit && !part.full {
        match lines.next(LINE).map_err(failed)? {
            None => break,
            Some(line) if line.bytes.contains(&0) => {
                return Err(fault::failed(format!(
                    "{shown} is a binary file ({size}): line {} holds NUL bytes, so it cannot be read as text",
                    passed + part.read + 1
                )));
            }
            Some(line) => part.add(&line),
        }
    }
    if part.read == 0 {
        let past = format!("{shown} has {}, offset {offset} is past its end", text::count(passed, "line", "lines"));
        return if passed == 0 { Ok("The file is empty.\n".into()) } else { Err(fault::failed(past)) };
    }
    // A line that found no room is the first of the rest.
    let next = passed + part.read + 1;
    let kept_back = u64::from(part.full);
    let left = if len <= COUNTED { lines.skip(u64::MAX).map_err(failed)? } else { lines.skip(1).map_err(failed)? };
    part.rest(passed + 1, next, left + kept_back, len);
    Ok(part.output.finish())
}

fn unreadable(look: Look) -> Option<&'static str> {
    match look {
        Look::Text => None,
        Look::Binary => Some("is a binary file"),
        Look::Utf16 => Some("is encoded as UTF-16"),
    }
}

/// The lines read so far.
struct Part {
    output: Output,
    lossy: bool,
    read: u64,
    /// The last line found no room.
    full: bool,
}

impl Part {
    fn add(&mut self, line: &Line) {
        let (text, lossy) = text::decoded(&line.bytes, line.left_out > 0);
        let mut piece = text.into_owned();
        if line.left_out > 0 {
            piece
                .push_str(&format!(" [{} more bytes of this line are left out: grep finds text in it]", line.left_out));
        }
        if line.ended {
            piece.push('\n');
        }
        self.full = !self.output.push(&piece);
        if !self.full {
            self.lossy |= lossy;
            self.read += 1;
        }
    }

    /// Says what is not shown; `first..next` are the lines that are.
    fn rest(&mut self, first: u64, next: u64, left: u64, len: u64) {
        if self.lossy {
            self.output.remark("some bytes are no UTF-8; each is shown as \u{fffd}");
        }
        if left == 0 {
            return;
        }
        let last = next - 1;
        let of = if len <= COUNTED { format!(" of {}", last + left) } else { format!(" of a file of {len} bytes") };
        self.output.remark(format!("lines {first} to {last}{of} are shown: go on with offset {next}"));
    }
}
