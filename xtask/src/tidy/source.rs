//! One source file as the rules see it: text, tokens, syntax tree, place.

use super::finding::Finding;
use super::place::Place;
use proc_macro2::TokenStream;

/// One parsed source file.
pub(crate) struct Source {
    /// Path from the root of the repository, with `/`.
    pub(crate) path: String,
    /// The whole text.
    pub(crate) text: String,
    /// Every token, the inside of macros included.
    pub(crate) tokens: TokenStream,
    /// The syntax tree.
    pub(crate) tree: syn::File,
    /// Where it stands.
    pub(crate) place: Place,
}

impl Source {
    /// Parses a file; a text that is no Rust is itself a finding.
    pub(crate) fn parse(path: &str, text: &str) -> Result<Source, Finding> {
        let parsed = text
            .parse::<TokenStream>()
            .map_err(syn::Error::from)
            .and_then(|tokens| Ok((syn::parse2(tokens.clone())?, tokens)));
        match parsed {
            Ok((tree, tokens)) => {
                Ok(Source { path: path.to_owned(), text: text.to_owned(), tokens, tree, place: Place::of(path) })
            }
            Err(error) => Err(Finding {
                file: path.to_owned(),
                line: error.span().start().line,
                rule: "syntax",
                item: String::new(),
                measure: None,
                text: error.to_string(),
            }),
        }
    }

    /// A finding in this file.
    pub(crate) fn finding(
        &self,
        rule: &'static str,
        line: usize,
        item: impl Into<String>,
        text: impl Into<String>,
    ) -> Finding {
        Finding { file: self.path.clone(), line, rule, item: item.into(), measure: None, text: text.into() }
    }
}
