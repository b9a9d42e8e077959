//! Readers of lists, the comma texts that other products use for them, and the entries of tools that name agents.

use super::{Decoder, Field};
use crate::definition::node::{Kind, Node, Place};
use crate::definition::spec::{At, Choice};

/// `tools` and `disallowedTools`, with the entries that stand for delegation set apart.
#[derive(Default)]
pub(super) struct Entries {
    /// Every entry as written.
    pub(super) written: Vec<String>,
    /// Whether `*` is among them.
    pub(super) all: Option<Place>,
    /// Names of tools.
    pub(super) tools: Vec<At<String>>,
    /// `Agent` or `Task` without names.
    pub(super) any_agent: Option<Place>,
    /// Names in `Agent(a, b)`.
    pub(super) agents: Vec<At<String>>,
}

impl Entries {
    /// The tools as a choice.
    pub(super) fn choice(&self) -> Choice {
        self.all.map_or_else(|| Choice::Listed(self.tools.clone()), Choice::All)
    }
    /// The agents as a choice; none when no entry is about agents.
    pub(super) fn delegates(&self) -> Option<Choice> {
        match self.any_agent {
            _ if !self.agents.is_empty() => Some(Choice::Listed(self.agents.clone())),
            Some(at) => Some(Choice::All(at)),
            None => None,
        }
    }
}

impl Decoder {
    /// A list of texts that are not blank. A comma text is not enough here.
    pub(super) fn texts(&mut self, field: &Field<'_>) -> Option<Vec<At<String>>> {
        let Kind::List(items) = &field.node.kind else {
            self.expected(field, "a list of texts");
            return None;
        };
        let read: Vec<_> = items.iter().map(|item| self.words(&field.item(item))).collect();
        read.into_iter().collect()
    }

    /// A list of names, or a text with commas between them.
    pub(super) fn names(&mut self, field: &Field<'_>) -> Option<Vec<At<String>>> {
        let items: Vec<&Node> = match &field.node.kind {
            Kind::Scalar { .. } => vec![field.node],
            Kind::List(items) => items.iter().collect(),
            Kind::Null | Kind::Unreadable | Kind::Map(_) => {
                self.expected(field, "a list of names (`[]` for none)");
                return None;
            }
        };
        let mut names: Vec<At<String>> = Vec::new();
        let mut open = false;
        for item in items {
            let text = self.text(&field.item(item))?.value;
            for piece in pieces(&text) {
                match names.last_mut().filter(|_| open) {
                    // `[Agent(a, b)]` is two items to YAML and one entry to its author.
                    Some(last) => last.value = format!("{}, {piece}", last.value),
                    None => names.push(At { value: piece, at: item.at }),
                }
                open = names.last().is_some_and(|n| n.value.matches('(').count() > n.value.matches(')').count());
            }
        }
        Some(names)
    }

    /// A list of names or `*`.
    pub(super) fn choice(&mut self, field: &Field<'_>) -> Option<Choice> {
        let names = self.names(field)?;
        let star = names.iter().find(|n| n.value == "*").map(|n| n.at);
        Some(star.map_or(Choice::Listed(names), Choice::All))
    }

    /// The entries of a list of tools.
    pub(super) fn entries(&mut self, field: &Field<'_>) -> Option<Entries> {
        let mut entries = Entries::default();
        for At { value, at } in self.names(field)? {
            entries.written.push(value.clone());
            let (name, names) = bracketed(&value);
            match name.to_lowercase().as_str() {
                "*" => entries.all = Some(at),
                "agent" | "task" if names.is_empty() => entries.any_agent = Some(at),
                "agent" | "task" => {
                    let of = |n: &str| At { value: n.trim().to_string(), at };
                    entries.agents.extend(names.split(',').map(of).filter(|n| !n.value.is_empty()));
                }
                _ => entries.tools.push(At { value, at }),
            }
        }
        Some(entries)
    }
}

/// Splits at commas outside brackets.
fn pieces(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth <= 0
    });
    parts.map(|p| p.trim().to_string()).filter(|p| !p.is_empty()).collect()
}

/// `Agent(a, b)` is `Agent` and `a, b`; without brackets the second is empty.
pub(super) fn bracketed(entry: &str) -> (&str, &str) {
    match entry.split_once('(') {
        Some((name, rest)) => (name.trim(), rest.trim_end_matches(')').trim()),
        None => (entry.trim(), ""),
    }
}
