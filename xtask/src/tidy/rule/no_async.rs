//! The core is a pure state machine: nothing in it is `async`, nothing awaits.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;
use super::super::tokens;

const RULE: &str = "core-sync";

/// Looks for the two keywords.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    if !source.place.is_code_of("deputize_core") {
        return Vec::new();
    }
    tokens::paths(&source.tokens)
        .into_iter()
        .filter_map(|path| {
            let word = path.names.iter().find(|name| *name == "async" || *name == "await")?;
            let text = format!("`{word}` in the core: programs and fold are plain functions");
            Some(source.finding(RULE, path.line, word.clone(), text))
        })
        .collect()
}

#[cfg(test)]
mod tests;
