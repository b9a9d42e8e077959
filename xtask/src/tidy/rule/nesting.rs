//! How deep blocks may nest in a function.
//!
//! One level each: `if`, `for`, `while`, `loop`, `match`, a closure with braces, an `async` or bare block, the block of
//! `let .. else`, and each pair of braces inside `select!`. An `else if` stays on the level of its `if`; the braces of a
//! match arm belong to the `match`; a function inside a function starts anew.

use super::super::finding::Finding;
use super::super::functions::{self, Function};
use super::super::names::Names;
use super::super::source::Source;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprClosure, ExprIf, ExprMatch, Item, Macro, Token};

/// The rule's name.
pub(crate) const RULE: &str = "nesting";
/// Levels inside a function.
const LIMIT: usize = 4;
/// How far an exception may go.
pub(crate) const HARD_LIMIT: usize = 6;

/// Measures every function with a body.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    functions::all(source).into_iter().filter_map(|function| too_deep(source, function)).collect()
}

fn too_deep(source: &Source, function: Function<'_>) -> Option<Finding> {
    let mut gauge = Gauge::default();
    visit::visit_block(&mut gauge, function.body);
    if gauge.deepest <= LIMIT {
        return None;
    }
    let name = function.name;
    let text = format!("`{name}` nests {} levels deep, at most {LIMIT}", gauge.deepest);
    let mut finding = source.finding(RULE, gauge.line, name, text);
    finding.measure = Some(gauge.deepest);
    Some(finding)
}

#[derive(Default)]
struct Gauge {
    depth: usize,
    deepest: usize,
    line: usize,
}

impl Gauge {
    fn deeper(&mut self, line: usize, inner: impl FnOnce(&mut Self)) {
        self.depth += 1;
        if self.depth > self.deepest {
            self.deepest = self.depth;
            self.line = line;
        }
        inner(self);
        self.depth -= 1;
    }

    fn braces(&mut self, stream: TokenStream) {
        for tree in stream {
            let TokenTree::Group(group) = tree else {
                continue;
            };
            if group.delimiter() == Delimiter::Brace {
                let line = group.span_open().start().line;
                self.deeper(line, |gauge| gauge.braces(group.stream()));
            } else {
                self.braces(group.stream());
            }
        }
    }
}

impl<'a> Visit<'a> for Gauge {
    fn visit_item(&mut self, _: &'a Item) {}

    fn visit_block(&mut self, node: &'a Block) {
        let line = node.brace_token.span.open().start().line;
        self.deeper(line, |gauge| visit::visit_block(gauge, node));
    }

    fn visit_expr_if(&mut self, node: &'a ExprIf) {
        self.visit_expr(&node.cond);
        self.visit_block(&node.then_branch);
        if let Some((_, other)) = &node.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_match(&mut self, node: &'a ExprMatch) {
        self.visit_expr(&node.expr);
        let line = node.match_token.span().start().line;
        self.deeper(line, |gauge| {
            for arm in &node.arms {
                if let Some((_, guard)) = &arm.guard {
                    gauge.visit_expr(guard);
                }
                match &*arm.body {
                    Expr::Block(body) => visit::visit_block(gauge, &body.block),
                    other => gauge.visit_expr(other),
                }
            }
        });
    }

    fn visit_expr_closure(&mut self, node: &'a ExprClosure) {
        self.visit_expr(&node.body);
    }

    fn visit_macro(&mut self, node: &'a Macro) {
        let called = node.path.segments.last().map(|last| last.ident.to_string());
        if called.as_deref() == Some("select") {
            let line = node.path.span().start().line;
            self.deeper(line, |gauge| gauge.braces(node.tokens.clone()));
            return;
        }
        let parser = Punctuated::<Expr, Token![,]>::parse_terminated;
        if let Ok(arguments) = node.parse_body_with(parser) {
            for argument in &arguments {
                self.visit_expr(argument);
            }
        }
    }
}

#[cfg(test)]
mod tests;
