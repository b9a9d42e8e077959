//! The names that a file mentions: imports, paths in code, paths inside macros, method calls. Resolving them is `names`.

use super::source::Source;
use super::tokens;
use syn::visit::{self, Visit};
use syn::{ExprMethodCall, ItemMod, ItemUse, Macro, UseTree};

/// One name that a file mentions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Its line.
    pub(crate) line: usize,
    /// The module it stands in, from the crate's root.
    pub(crate) module: Vec<String>,
    /// Its parts as written, without generics.
    pub(crate) parts: Vec<String>,
    /// How it is mentioned.
    pub(crate) kind: Kind,
}

/// How a name is mentioned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `use parts as name;`, where the name is usually the last part.
    Import(String),
    /// `use parts::*;`
    Glob,
    /// A path in code.
    Path,
    /// `.name(...)`
    Method,
}

/// All names that a file mentions.
pub(crate) fn all(source: &Source) -> Vec<Mention> {
    let mut finder = Finder { module: source.place.module.clone(), found: Vec::new() };
    finder.visit_file(&source.tree);
    finder.found
}

struct Finder {
    module: Vec<String>,
    found: Vec<Mention>,
}

impl Finder {
    fn add(&mut self, line: usize, parts: Vec<String>, kind: Kind) {
        self.found.push(Mention { line, module: self.module.clone(), parts, kind });
    }

    fn import(&mut self, tree: &UseTree, mut before: Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
            }
            UseTree::Group(group) => {
                for item in &group.items {
                    self.import(item, before.clone());
                }
            }
            UseTree::Name(name) => {
                let line = name.ident.span().start().line;
                let own = name.ident.to_string();
                if own != "self" {
                    before.push(own);
                }
                let known_as = before.last().cloned().unwrap_or_default();
                self.add(line, before, Kind::Import(known_as));
            }
            UseTree::Rename(rename) => {
                let line = rename.ident.span().start().line;
                let own = rename.ident.to_string();
                if own != "self" {
                    before.push(own);
                }
                self.add(line, before, Kind::Import(rename.rename.to_string()));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans.first().map_or(1, |span| span.start().line);
                self.add(line, before, Kind::Glob);
            }
        }
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_item_use(&mut self, node: &'a ItemUse) {
        self.import(&node.tree, Vec::new());
    }

    fn visit_item_mod(&mut self, node: &'a ItemMod) {
        self.module.push(node.ident.to_string());
        visit::visit_item_mod(self, node);
        self.module.pop();
    }

    fn visit_path(&mut self, node: &'a syn::Path) {
        let parts: Vec<String> = node.segments.iter().map(|part| part.ident.to_string()).collect();
        let line = node.segments.first().map_or(1, |part| part.ident.span().start().line);
        self.add(line, parts, Kind::Path);
        visit::visit_path(self, node);
    }

    fn visit_macro(&mut self, node: &'a Macro) {
        self.visit_path(&node.path);
        for path in tokens::paths(&node.tokens) {
            self.add(path.line, path.names, Kind::Path);
        }
    }

    fn visit_expr_method_call(&mut self, node: &'a ExprMethodCall) {
        let line = node.method.span().start().line;
        self.add(line, vec![node.method.to_string()], Kind::Method);
        visit::visit_expr_method_call(self, node);
    }
}
