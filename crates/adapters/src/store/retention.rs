//! Which trees may go: a pure choice by age, size and number. Owns the rule; removes nothing.

use super::sqlite::Survey;
use deputize_core::id::{Digest, RunId, Time};
use std::collections::BTreeMap;

/// What is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Trees that were last active longer ago than so many milliseconds.
    pub older: Option<u64>,
    /// The oldest trees until what is left takes at most so many bytes.
    pub max_bytes: Option<u64>,
    /// The newest trees stay, so many of them, whatever else is said. Alone: all others go.
    pub keep: Option<usize>,
}

/// A tree that may go by its state: it is over, and nobody drives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The tree.
    pub root: RunId,
    /// When it was last active.
    pub updated: Time,
    /// Whether it may go at all.
    pub may_go: bool,
}

impl Rule {
    /// The trees that go, oldest first. `all` are the trees of a store, those that may not go among them; a survey is
    /// needed for a rule on bytes.
    pub fn choose(&self, all: &[Candidate], survey: &Survey, now: Time) -> Vec<RunId> {
        let mut sorted: Vec<&Candidate> = all.iter().collect();
        sorted.sort_by(|a, b| (b.updated, &b.root).cmp(&(a.updated, &a.root)));
        let mut may: Vec<&Candidate> = sorted.into_iter().skip(self.keep.unwrap_or(0)).filter(|c| c.may_go).collect();
        may.reverse();
        let mut left = self.max_bytes.map(|_| Left::of(survey));
        let mut chosen = Vec::new();
        for tree in may {
            let old = self.older.is_some_and(|older| now.since(tree.updated) > older);
            let over = left.as_ref().is_some_and(|left| Some(left.bytes) > self.max_bytes);
            if old || over || (self.older.is_none() && self.max_bytes.is_none()) {
                if let Some(left) = &mut left {
                    left.without(survey, &tree.root);
                }
                chosen.push(tree.root.clone());
            }
        }
        chosen
    }
}

/// What would be left.
struct Left<'a> {
    bytes: u64,
    /// How many trees name each content.
    named: BTreeMap<&'a Digest, usize>,
}

impl<'a> Left<'a> {
    fn of(survey: &'a Survey) -> Left<'a> {
        let mut named = BTreeMap::new();
        for digest in survey.trees.values().flat_map(|tree| &tree.blobs) {
            *named.entry(digest).or_insert(0) += 1;
        }
        // Content that nothing names goes with the next removal.
        let blobs = named.keys().filter_map(|digest| survey.blobs.get(*digest));
        let bytes = survey.trees.values().map(|tree| &tree.bytes).chain(blobs).sum();
        Left { bytes, named }
    }

    fn without(&mut self, survey: &Survey, root: &RunId) {
        let Some(tree) = survey.trees.get(root) else { return };
        let mut freed = tree.bytes;
        for digest in &tree.blobs {
            let Some(count) = self.named.get_mut(digest) else { continue };
            *count = count.saturating_sub(1);
            if *count == 0 {
                freed = freed.saturating_add(survey.blobs.get(digest).copied().unwrap_or(0));
            }
        }
        self.bytes = self.bytes.saturating_sub(freed);
    }
}

#[cfg(test)]
mod tests;
