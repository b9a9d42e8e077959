//! Reads a file line by line in bounded memory, however long the file or a line is.

use super::aside::Stop;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

/// How much is read at once, and how much of a file is looked at to tell text from data.
const BLOCK: usize = 64 * 1024;
const HEAD: usize = 8 * 1024;
/// The mark that some programs put before UTF-8 text.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// One line.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its begin, without the `\n`.
    pub(super) bytes: Vec<u8>,
    /// How many of its bytes are left out.
    pub(super) left_out: u64,
    /// It ended in `\n`; only the last line of a file may not.
    pub(super) ended: bool,
}

/// What the first block of a file looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Text, as far as one can see.
    Text,
    /// Data.
    Binary,
    /// Text in an encoding that no tool here reads.
    Utf16,
}

/// The lines of a file.
pub(super) struct Lines<'a> {
    reader: BufReader<File>,
    stop: &'a Stop,
}

impl<'a> Lines<'a> {
    /// Starts at the begin of a file; a byte order mark is dropped.
    pub(super) fn of(file: File, stop: &'a Stop) -> io::Result<(Lines<'a>, Look)> {
        let mut lines = Lines { reader: BufReader::with_capacity(BLOCK, file), stop };
        let block = lines.block()?;
        let look = look(block.get(..HEAD).unwrap_or(block));
        if block.starts_with(BOM) {
            lines.reader.consume(BOM.len());
        }
        Ok((lines, look))
    }

    /// The next line, at most `most` bytes of it kept; none at the end.
    pub(super) fn next(&mut self, most: usize) -> io::Result<Option<Line>> {
        let mut line = Line::default();
        let mut begun = false;
        loop {
            let block = self.block()?;
            if block.is_empty() {
                return Ok(begun.then_some(line));
            }
            begun = true;
            let end = memchr::memchr(b'\n', block);
            let piece = block.get(..end.unwrap_or(block.len())).unwrap_or_default();
            let kept = piece.get(..most.saturating_sub(line.bytes.len())).unwrap_or(piece);
            line.bytes.extend_from_slice(kept);
            line.left_out += u64::try_from(piece.len() - kept.len()).unwrap_or(0);
            let used = piece.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                line.ended = true;
                return Ok(Some(line));
            }
        }
    }

    /// Passes over at most `most` lines; how many there were.
    pub(super) fn skip(&mut self, most: u64) -> io::Result<u64> {
        let mut passed = 0;
        while passed < most && self.next(0)?.is_some() {
            passed += 1;
        }
        Ok(passed)
    }

    fn block(&mut self) -> io::Result<&[u8]> {
        self.stop.check()?;
        // A signal during the read is no reason to give up; the flag above is.
        while let Err(error) = self.reader.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(self.reader.buffer())
    }
}

fn look(head: &[u8]) -> Look {
    match head {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Look::Utf16,
        _ if head.contains(&0) => Look::Binary,
        _ => Look::Text,
    }
}

#[cfg(test)]
mod tests;
