//! How long a file may be. Tests stand in files of their own, so the whole file is the net length.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;

/// The rule's name.
pub(crate) const RULE: &str = "file-length";
/// Lines of a file that is no test.
const LIMIT: usize = 500;
/// Lines of any file, tests and exceptions included.
pub(crate) const HARD_LIMIT: usize = 800;

/// Counts all lines.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    let limit = if source.place.test { HARD_LIMIT } else { LIMIT };
    let lines = source.text.lines().count();
    if lines <= limit {
        return Vec::new();
    }
    let text = format!("{lines} lines, at most {limit}");
    let mut finding = source.finding(RULE, lines, "", text);
    finding.measure = Some(lines);
    vec![finding]
}

#[cfg(test)]
mod tests;
