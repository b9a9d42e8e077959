//! Every file begins with `//!` and says what it owns.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;

const RULE: &str = "header";
const FEWEST_WORDS: usize = 3;

/// The first line must be inner documentation of some words.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    let first = source.text.lines().next().unwrap_or_default();
    let words = first.strip_prefix("//!").map_or(0, |text| text.split_whitespace().count());
    if words >= FEWEST_WORDS {
        return Vec::new();
    }
    let text = "the first line must be `//!` and say what the file owns";
    vec![source.finding(RULE, 1, "", text)]
}

#[cfg(test)]
mod tests;
