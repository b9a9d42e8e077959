//! Looks at a file as bare tokens, so that nothing hides inside a macro: attributes, macro calls, paths.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// An attribute `#[...]` or `#![...]`, as its inner tokens.
pub(crate) struct Attribute {
    /// The line of the `#`.
    pub(crate) line: usize,
    /// What stands between the brackets.
    pub(crate) tokens: Vec<TokenTree>,
}

/// A run of names joined by `::`.
pub(crate) struct Names {
    /// The line of the first name.
    pub(crate) line: usize,
    /// The names in order.
    pub(crate) names: Vec<String>,
}

/// Calls `see` with the tokens of every group of the stream, the stream itself first.
pub(crate) fn levels(stream: &TokenStream, see: &mut impl FnMut(&[TokenTree])) {
    let trees: Vec<TokenTree> = stream.clone().into_iter().collect();
    see(&trees);
    for tree in &trees {
        if let TokenTree::Group(group) = tree {
            levels(&group.stream(), see);
        }
    }
}

/// Every attribute, those inside macros included.
pub(crate) fn attributes(stream: &TokenStream) -> Vec<Attribute> {
    let mut found = Vec::new();
    levels(stream, &mut |trees| {
        for (at, tree) in trees.iter().enumerate() {
            let rest = trees.get(at + 1..).unwrap_or_default();
            if let Some(group) = attribute_after(tree, rest) {
                found.push(Attribute { line: tree.span().start().line, tokens: group.stream().into_iter().collect() });
            }
        }
    });
    found
}

fn attribute_after<'a>(hash: &TokenTree, rest: &'a [TokenTree]) -> Option<&'a Group> {
    if !is_punct(hash, '#') {
        return None;
    }
    match rest {
        [TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Bracket => Some(group),
        [bang, TokenTree::Group(group), ..] if is_punct(bang, '!') && group.delimiter() == Delimiter::Bracket => {
            Some(group)
        }
        _ => None,
    }
}

/// Every `name!` with its line, those inside macros included.
pub(crate) fn macro_calls(stream: &TokenStream) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    levels(stream, &mut |trees| {
        for window in trees.windows(3) {
            if let [TokenTree::Ident(name), bang, TokenTree::Group(_)] = window
                && is_punct(bang, '!')
            {
                found.push((name.to_string(), name.span().start().line));
            }
        }
    });
    found
}

/// Every run of names joined by `::`, single names included.
pub(crate) fn paths(stream: &TokenStream) -> Vec<Names> {
    let mut found = Vec::new();
    levels(stream, &mut |trees| {
        let mut open: Option<Names> = None;
        let mut joined = false;
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Ident(name) => {
                    let line = name.span().start().line;
                    extend(&mut open, joined, name.to_string(), line, &mut found);
                    joined = false;
                }
                _ if is_punct(tree, ':') => joined = is_second_colon(trees, at),
                _ => found.extend(open.take()),
            }
        }
        found.extend(open);
    });
    found
}

fn extend(open: &mut Option<Names>, joined: bool, name: String, line: usize, found: &mut Vec<Names>) {
    match open {
        Some(path) if joined => path.names.push(name),
        _ => {
            let names = vec![name];
            found.extend(open.replace(Names { line, names }));
        }
    }
}

fn is_second_colon(trees: &[TokenTree], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| trees.get(before)).is_some_and(|before| is_punct(before, ':'))
}

/// Whether a token is this one character.
pub(crate) fn is_punct(tree: &TokenTree, wanted: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == wanted)
}
