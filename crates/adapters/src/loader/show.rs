//! A message as people see it: place, level, code, text, the line with a mark below the column, and what to do.

use deputize_core::definition::message::{Level, Message};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Characters of a source line that are shown; a longer one is cut around the mark.
const WIDTH: usize = 120;

/// Plain text of several lines, with a final newline. Control characters of the input are made visible, since what is
/// shown may come from anybody's file.
pub fn render(message: &Message, sources: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    if let Some(file) = &message.file {
        out.push_str(&clean(file));
        for number in [message.line, message.column].into_iter().flatten() {
            let _ = write!(out, ":{number}");
        }
        out.push_str(": ");
    }
    let level = match message.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Info => "info",
    };
    let _ = writeln!(out, "{level}[{}]: {}", clean(&message.code), clean(&message.text));
    // A choice that was made asks for no look at the line.
    if message.level == Level::Info {
        return out;
    }
    // A line that holds a secret is not shown again.
    if !message.code.starts_with("secret.in_") {
        out.push_str(&excerpt(message, sources).unwrap_or_default());
    }
    if let Some(hint) = &message.hint {
        let _ = writeln!(out, "  = {}", clean(hint));
    }
    out
}

fn excerpt(message: &Message, sources: &BTreeMap<String, String>) -> Option<String> {
    let (file, number) = (message.file.as_ref()?, message.line?);
    let index = usize::try_from(number.checked_sub(1)?).ok()?;
    let line = sources.get(file)?.lines().nth(index)?.trim_end();
    let column = usize::try_from(message.column.unwrap_or(1).max(1)).ok()?;
    let skipped = if column > WIDTH { column - WIDTH / 2 } else { 0 };
    let shown: String = window(line, skipped).into_iter().map(visible).collect();
    let mark = " ".repeat(column.saturating_sub(skipped + 1).min(WIDTH));
    let bar = " ".repeat(number.to_string().len());
    Some(format!("  {number} | {shown}\n  {bar} | {mark}^\n"))
}

/// What is shown of a line, from a character on. A word that the window cuts is blotted out: half a key is not known as one,
/// so nobody after this would hide it.
fn window(line: &str, skipped: usize) -> Vec<char> {
    let inside = |at: usize| line.chars().nth(at).is_some_and(|c| !parts(c));
    let mut shown: Vec<char> = line.chars().skip(skipped).take(WIDTH).collect();
    if skipped.checked_sub(1).is_some_and(inside) {
        shown.iter_mut().take_while(|c| !parts(**c)).for_each(|c| *c = '\u{2026}');
    }
    if inside(skipped + WIDTH) {
        shown.iter_mut().rev().take_while(|c| !parts(**c)).for_each(|c| *c = '\u{2026}');
    }
    shown
}

fn parts(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | '"' | '\'' | '[' | ']' | '{' | '}')
}

fn clean(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// One character for one, so that columns stay right. Beside control characters, those that turn the writing direction
/// or hide themselves would let a file forge what the terminal shows.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    }
}

#[cfg(test)]
mod tests;
