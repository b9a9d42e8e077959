//! Tests stand in files of their own, whose name says so: `tests.rs`, `*_tests.rs`, or a `tests` folder.

use super::super::finding::Finding;
use super::super::names::Names;
use super::super::place::is_test_name;
use super::super::source::Source;
use super::attributes::mentions_cfg_test;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{ItemFn, ItemMod};

const RULE: &str = "inline-tests";

/// Looks for test modules with bodies, test functions, and test modules whose name hides that they are tests.
pub(crate) fn check(source: &Source, _: &Names) -> Vec<Finding> {
    if source.place.test {
        return Vec::new();
    }
    let mut finder = Finder { source, found: Vec::new() };
    finder.visit_file(&source.tree);
    finder.found
}

struct Finder<'a> {
    source: &'a Source,
    found: Vec<Finding>,
}

impl Finder<'_> {
    fn add(&mut self, line: usize, name: &str, text: &str) {
        self.found.push(self.source.finding(RULE, line, name, text));
    }
}

impl<'a> Visit<'a> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'a ItemMod) {
        let name = node.ident.to_string();
        let line = node.ident.span().start().line;
        if mentions_cfg_test(&node.attrs) {
            if node.content.is_some() {
                self.add(line, &name, "move the tests to a file: `#[cfg(test)] mod tests;`");
            } else if !is_test_name(&name) {
                self.add(line, &name, "name a test module `tests` or `.._tests`");
            }
            return;
        }
        visit::visit_item_mod(self, node);
    }

    fn visit_item_fn(&mut self, node: &'a ItemFn) {
        let is_test = node.attrs.iter().any(|attribute| {
            let last = attribute.path().segments.last();
            last.is_some_and(|part| part.ident == "test")
        });
        if is_test {
            let line = node.sig.span().start().line;
            let name = node.sig.ident.to_string();
            self.add(line, &name, "a test stands in a test file");
        }
        visit::visit_item_fn(self, node);
    }
}

#[cfg(test)]
mod tests;
