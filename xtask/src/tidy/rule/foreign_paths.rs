//! Nothing reads from beside the repository: what a test needs is a fixture inside.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;

const RULE: &str = "foreign-paths";
/// Spelled in two halves, so that this file passes its own rule.
const BESIDE: &str = concat!("../", "shared");

/// Looks at the whole text of a source file.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    check_text(&source.path, &source.text)
}

/// The same for a file that is no Rust.
pub(crate) fn check_text(path: &str, text: &str) -> Vec<Finding> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| line.contains(BESIDE))
        .map(|(at, _)| Finding {
            file: path.to_owned(),
            line: at + 1,
            rule: RULE,
            item: BESIDE.to_owned(),
            measure: None,
            text: format!("`{BESIDE}` is outside the repository: copy what is needed into it"),
        })
        .collect()
}

#[cfg(test)]
mod tests;
