//! Tests never sleep: they use the virtual clock, or wait for a condition.

use super::super::finding::Finding;
use super::super::mentions;
use super::super::names::Names;
use super::super::source::Source;

const RULE: &str = "sleeps";
const SLEEPS: &[[&str; 2]] =
    &[["thread", "sleep"], ["thread", "sleep_until"], ["time", "sleep"], ["time", "sleep_until"]];

/// Looks for the names of sleeping functions in test files.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    if !source.place.test {
        return Vec::new();
    }
    mentions::all(source)
        .into_iter()
        .filter(|mention| {
            let tail: Vec<&str> = mention.parts.iter().map(String::as_str).collect();
            SLEEPS.iter().any(|sleep| tail.ends_with(sleep))
        })
        .map(|mention| {
            let name = mention.parts.join("::");
            let text = format!("`{name}` in a test: use the virtual clock or wait for a condition");
            source.finding(RULE, mention.line, name, text)
        })
        .collect()
}

#[cfg(test)]
mod tests;
