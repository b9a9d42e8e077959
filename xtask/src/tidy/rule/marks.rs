//! No marks of unfinished work: neither the usual words in capitals nor the macros for it.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;
use super::super::tokens;

const RULE: &str = "marks";
/// Spelled in two halves, so that this file passes its own rule.
const WORDS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const MACROS: &[&str] = &["dbg", "todo", "unimplemented"];

/// Looks at words in the whole text and at macro calls.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    let mut found = Vec::new();
    for (at, line) in source.text.lines().enumerate() {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        for word in words.filter(|word| WORDS.contains(word)) {
            let text = format!("`{word}`: finish it or open an issue");
            found.push(source.finding(RULE, at + 1, word, text));
        }
    }
    for (name, line) in tokens::macro_calls(&source.tokens) {
        if MACROS.contains(&name.as_str()) {
            let text = format!("`{name}!` stays out of the repository");
            found.push(source.finding(RULE, line, name, text));
        }
    }
    found
}

#[cfg(test)]
mod tests;
