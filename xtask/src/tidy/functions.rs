//! The functions of a file, with their names, lines and bodies, however deep they are nested.

use super::source::Source;
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Block, ImplItemFn, ItemFn, ItemImpl, ItemTrait, Signature, TraitItemFn, Type};

/// One function with a body.
pub(crate) struct Function<'a> {
    /// `name`, or `Type::name` for a method.
    pub(crate) name: String,
    /// The line of its signature.
    pub(crate) line: usize,
    /// From the signature to the closing brace, both included; attributes and documentation are not.
    pub(crate) lines: usize,
    /// Its body.
    pub(crate) body: &'a Block,
}

/// All functions of a file in the order of the text.
pub(crate) fn all(source: &Source) -> Vec<Function<'_>> {
    let mut finder = Finder { owner: None, found: Vec::new() };
    finder.visit_file(&source.tree);
    finder.found
}

struct Finder<'a> {
    owner: Option<String>,
    found: Vec<Function<'a>>,
}

impl<'a> Finder<'a> {
    fn add(&mut self, start: Span, signature: &Signature, body: &'a Block) {
        let own = signature.ident.to_string();
        let name = match &self.owner {
            Some(owner) => format!("{owner}::{own}"),
            None => own,
        };
        let line = start.start().line;
        let end = body.brace_token.span.close().end().line;
        self.found.push(Function { name, line, lines: (end + 1).saturating_sub(line), body });
    }

    fn owned(&mut self, owner: String, inner: impl FnOnce(&mut Self)) {
        let outer = self.owner.replace(owner);
        inner(self);
        self.owner = outer;
    }
}

impl<'a> Visit<'a> for Finder<'a> {
    fn visit_item_fn(&mut self, node: &'a ItemFn) {
        let outer = self.owner.take();
        self.add(node.sig.span(), &node.sig, &node.block);
        visit::visit_item_fn(self, node);
        self.owner = outer;
    }

    fn visit_impl_item_fn(&mut self, node: &'a ImplItemFn) {
        self.add(node.sig.span(), &node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'a TraitItemFn) {
        if let Some(body) = &node.default {
            self.add(node.sig.span(), &node.sig, body);
        }
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_item_impl(&mut self, node: &'a ItemImpl) {
        let owner = type_name(&node.self_ty);
        self.owned(owner, |finder| visit::visit_item_impl(finder, node));
    }

    fn visit_item_trait(&mut self, node: &'a ItemTrait) {
        let owner = node.ident.to_string();
        self.owned(owner, |finder| visit::visit_item_trait(finder, node));
    }
}

fn type_name(kind: &Type) -> String {
    let name = match kind {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(reference) => Some(type_name(&reference.elem)),
        _ => None,
    };
    name.unwrap_or_else(|| "_".to_owned())
}
