//! Resolves the names of all crates: relative paths, and re-exports that would hide where a name lives.

use super::mentions::{self, Kind, Mention};
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// More re-exports in a row than anybody writes; a bound against circles.
const MAX_HOPS: usize = 16;

/// What is known of all crates: their modules and their imports.
#[derive(Default)]
pub(crate) struct Names {
    modules: BTreeSet<Vec<String>>,
    aliases: BTreeMap<Vec<String>, Vec<String>>,
}

impl Names {
    /// Collects modules and imports of all files that are not tests.
    pub(crate) fn of(sources: &[Source]) -> Names {
        let mut names = Names::default();
        let code = || sources.iter().filter(|source| !source.place.test);
        for source in code() {
            names.modules.insert(full(&source.place.krate, &source.place.module));
        }
        for source in code() {
            let krate = &source.place.krate;
            for mention in mentions::all(source) {
                if let Kind::Import(known_as) = &mention.kind {
                    let mut key = full(krate, &mention.module);
                    key.push(known_as.clone());
                    let target = names.absolute(krate, &mention);
                    if key != target {
                        names.aliases.insert(key, target);
                    }
                }
            }
        }
        names
    }

    /// The path from a crate's root that a mention stands for, re-exports followed; for other people's crates the path as written.
    pub(crate) fn resolve(&self, krate: &str, mention: &Mention) -> Vec<String> {
        let mut path = self.absolute(krate, mention);
        for _ in 0..MAX_HOPS {
            match self.hop(&path) {
                Some(next) => path = next,
                None => break,
            }
        }
        path
    }

    fn hop(&self, path: &[String]) -> Option<Vec<String>> {
        (1..=path.len()).find_map(|length| {
            let (head, tail) = path.split_at_checked(length)?;
            let mut target = self.aliases.get(head)?.clone();
            target.extend_from_slice(tail);
            (target != path).then_some(target)
        })
    }

    /// The path with its crate's name in front, without looking through re-exports.
    fn absolute(&self, krate: &str, mention: &Mention) -> Vec<String> {
        let here = full(krate, &mention.module);
        let mut base = here.clone();
        let mut parts = mention.parts.as_slice();
        let mut anchored = false;
        while let [first, rest @ ..] = parts {
            match first.as_str() {
                "crate" => base = vec![krate.to_owned()],
                "self" => {}
                "super" => {
                    base.pop();
                }
                _ => break,
            }
            anchored = true;
            parts = rest;
        }
        if !anchored && !self.is_child_module(&here, parts) {
            return parts.to_vec();
        }
        base.extend_from_slice(parts);
        base
    }

    fn is_child_module(&self, here: &[String], parts: &[String]) -> bool {
        parts.first().is_some_and(|first| {
            let mut child = here.to_vec();
            child.push(first.clone());
            self.modules.contains(&child)
        })
    }
}

fn full(krate: &str, module: &[String]) -> Vec<String> {
    let mut path = vec![krate.to_owned()];
    path.extend_from_slice(module);
    path
}

#[cfg(test)]
mod tests;
