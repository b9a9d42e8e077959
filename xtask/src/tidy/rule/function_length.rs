//! How long a function may be: from its signature to its closing brace, tests included.

use super::super::finding::Finding;
use super::super::functions;
use super::super::names::Names;
use super::super::source::Source;

/// The rule's name.
pub(crate) const RULE: &str = "function-length";
/// Lines of a function.
const LIMIT: usize = 70;
/// How far an exception may go.
pub(crate) const HARD_LIMIT: usize = 150;

/// Measures every function with a body.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    functions::all(source)
        .into_iter()
        .filter(|function| function.lines > LIMIT)
        .map(|function| {
            let text = format!("`{}` has {} lines, at most {LIMIT}", function.name, function.lines);
            let mut finding = source.finding(RULE, function.line, function.name, text);
            finding.measure = Some(function.lines);
            finding
        })
        .collect()
}

#[cfg(test)]
mod tests;
