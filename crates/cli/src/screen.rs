//! Lines that are drawn anew on a terminal: each time all of them in one write, over the last ones. Owns how they are made
//! to fit; a line that does not is cut, lines that do not are left out at the top.

use crate::ambient::Ambient;
use crate::out::Out;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use terminal_size::{Height, Width, terminal_size};

/// A terminal that says nothing of its size.
const USUAL: (usize, usize) = (80, 24);

/// What is drawn on standard output.
pub(crate) struct Screen<'a> {
    out: &'a Out,
    /// Lines of the last drawing.
    drawn: usize,
    last: String,
}

impl<'a> Screen<'a> {
    /// None where nothing can be drawn: no terminal, one that cannot move its cursor, or a document is wanted.
    pub(crate) fn of(out: &'a Out, ambient: &Ambient) -> Option<Screen<'a>> {
        let can = ambient.var("TERM").is_some_and(|term| term != "dumb");
        (can && !out.json() && std::io::stdout().is_terminal()).then_some(Screen { out, drawn: 0, last: String::new() })
    }
    /// Draws these lines in place of the last ones; nothing when they are the same.
    pub(crate) fn draw(&mut self, lines: &[String]) {
        let (columns, rows) = terminal_size().map_or(USUAL, |(Width(w), Height(h))| (w.into(), h.into()));
        let fitting = fit(lines.iter().map(|line| self.out.harmless(line)).collect(), columns, rows);
        let text = fitting.iter().fold(String::new(), |mut text, line| {
            // The rest of the line that was there goes.
            let _ = write!(text, "{line}\u{1b}[K\r\n");
            text
        });
        if text == self.last {
            return;
        }
        let up = if self.drawn > 0 { format!("\u{1b}[{}A\r", self.drawn) } else { String::new() };
        self.out.program_text(&format!("{up}{text}\u{1b}[J"));
        self.drawn = fitting.len();
        self.last = text;
    }
}

/// As many lines as there is room for, each cut to the width. The last ones: there the tree grows.
fn fit(mut lines: Vec<String>, columns: usize, rows: usize) -> Vec<String> {
    // The cursor stands below the last line.
    let room = rows.saturating_sub(1).max(1);
    if lines.len() > room {
        let left_out = lines.len() - room.saturating_sub(1);
        lines.drain(..left_out);
        lines.insert(0, format!("({left_out} lines above)"));
        lines.truncate(room);
    }
    lines.iter().map(|line| cut(line, columns)).collect()
}

/// The beginning of a line that a terminal of this width shows in one row. The last column stays free: some wrap there.
fn cut(line: &str, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    if line.chars().map(width).sum::<usize>() <= room {
        return line.to_string();
    }
    let (mut short, mut used) = (String::new(), 0);
    for c in line.chars() {
        used += width(c);
        if used >= room {
            break;
        }
        short.push(c);
    }
    short.push('\u{2026}');
    short
}

/// Columns of a character, rather too many than too few: terminals differ, and a line that wraps spoils the drawing.
fn width(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{2e80}'.. => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
