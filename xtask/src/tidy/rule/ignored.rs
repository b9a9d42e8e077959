//! A test that is switched off says why: `#[ignore = "reason"]`.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;
use super::super::tokens;
use proc_macro2::TokenTree;

const RULE: &str = "ignored";

/// Looks for `#[ignore]` without a reason.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    tokens::attributes(&source.tokens)
        .iter()
        .filter(|attribute| match attribute.tokens.as_slice() {
            [TokenTree::Ident(name)] => name == "ignore",
            _ => false,
        })
        .map(|attribute| {
            let text = "say why: `#[ignore = \"reason\"]`";
            source.finding(RULE, attribute.line, "", text)
        })
        .collect()
}

#[cfg(test)]
mod tests;
