//! Lints are not switched off, they are expected, with a reason.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::source::Source;
use super::super::tokens::{self, is_punct};
use proc_macro2::{TokenStream, TokenTree};
use syn::Attribute;

const RULE: &str = "attributes";

/// Looks for `allow`, and for `expect` without a reason, inside `cfg_attr` and macros too.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    tokens::attributes(&source.tokens)
        .iter()
        .filter_map(|attribute| {
            let (name, text) = complaint(&attribute.tokens)?;
            Some(source.finding(RULE, attribute.line, name, text))
        })
        .collect()
}

fn complaint(trees: &[TokenTree]) -> Option<(&'static str, &'static str)> {
    match trees {
        [TokenTree::Ident(name), TokenTree::Group(inner), ..] => {
            if name == "allow" {
                Some(("allow", "use `#[expect(.., reason = \"..\")]` instead of `allow`"))
            } else if name == "expect" && !has_reason(inner.stream()) {
                Some(("expect", "an expected lint needs a `reason = \"..\"`"))
            } else if name == "cfg_attr" {
                conditional(inner.stream())
            } else {
                None
            }
        }
        _ => None,
    }
}

/// The attributes that a `cfg_attr` adds, each after a comma.
fn conditional(stream: TokenStream) -> Option<(&'static str, &'static str)> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    trees.split(|tree| is_punct(tree, ',')).skip(1).find_map(complaint)
}

fn has_reason(stream: TokenStream) -> bool {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    trees.windows(3).any(|window| match window {
        [TokenTree::Ident(name), equals, TokenTree::Literal(text)] => {
            name == "reason" && is_punct(equals, '=') && text.to_string().len() > "\"\"".len()
        }
        _ => false,
    })
}

/// Whether one of the attributes is a `cfg` that mentions `test`.
pub(crate) fn mentions_cfg_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        list.path.is_ident("cfg") && tokens::paths(&list.tokens).iter().any(|path| path.names == ["test"])
    })
}

#[cfg(test)]
mod tests;
