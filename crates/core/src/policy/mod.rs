//! Rules on paths: what they are, what a list of them says to a path, and how lists are combined. Owns the decision and its
//! sentence. Does not own: where links lead (the tools resolve them and ask again), and what a refusal means for a run
//! (the gate).
//!
//! In one list the first rule that matches decides, and what no rule matches is denied. Between lists the strictest
//! wins, so that a further list only ever narrows.

mod builtin;
mod glob;
mod path;
mod refusal;

pub use builtin::{builtin, builtin_protecting};
pub use glob::{BadGlob, Glob};
pub use path::{BadPath, inside, written};
pub use refusal::Shown;

use crate::id::AgentName;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Its content or its existence is told.
    Read,
    /// It is created or changed.
    Write,
}

/// What a policy says. The order is the strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Go on.
    #[default]
    Allow,
    /// Ask a person.
    Ask,
    /// No.
    Deny,
}

/// How a tool uses a path that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Use {
    /// Reads it.
    Read,
    /// Reads it, or tells of what is below it and leaves out what may not be told of.
    List,
    /// Writes it.
    Write,
}

impl Use {
    /// The operation of rules.
    pub fn access(self) -> Access {
        match self {
            Use::Read | Use::List => Access::Read,
            Use::Write => Access::Write,
        }
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// The operations it speaks of.
    pub operations: Vec<Access>,
    /// The paths it speaks of. `deny` and `ask` ignore letter case, `allow` does not.
    pub paths: Vec<Glob>,
    /// What it says.
    pub mode: Permission,
    /// Why, in its author's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Who wrote a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// This program.
    Builtin,
    /// This program, for a folder without a `deputize.yaml`.
    Ceiling,
    /// The project's `deputize.yaml`.
    Project,
    /// The file of this agent.
    Agent(AgentName),
    /// The model that delegated to this agent.
    Delegation(AgentName),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Builtin => f.write_str("the built-in rules"),
            Source::Ceiling => f.write_str("the ceiling `workspace`"),
            Source::Project => f.write_str("the project"),
            Source::Agent(name) => write!(f, "agent {name}"),
            Source::Delegation(name) => write!(f, "the delegation to {name}"),
        }
    }
}

/// An ordered list of rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Who wrote it.
    pub source: Source,
    /// The rules; the first that matches decides.
    pub rules: Vec<Rule>,
}

/// The lists that hold for a run, outermost first. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Layers(Arc<[Layer]>);

/// What a list says to a path, and which of its rules.
#[derive(Clone, Copy, Debug)]
pub struct Decision<'a> {
    /// What it says.
    pub mode: Permission,
    /// The list.
    pub layer: &'a Layer,
    /// The place of the rule in the list; none when no rule matched.
    pub rule: Option<usize>,
    /// The pattern of that rule which matched.
    pub glob: Option<&'a Glob>,
}

impl<'a> Decision<'a> {
    /// Its rule.
    pub fn matched(&self) -> Option<&'a Rule> {
        self.layer.rules.get(self.rule?)
    }
    /// The reason that the author of its rule gave.
    pub fn reason(&self) -> Option<&'a str> {
        self.matched()?.reason.as_deref()
    }
}

/// The names of a path, and in the form that ignores letter case.
struct Names<'a> {
    exact: Vec<&'a str>,
    folded: String,
    /// Nothing but ASCII: then the folded form matches whenever the exact one does.
    plain: bool,
}

impl<'a> Names<'a> {
    fn of(path: &'a str) -> Names<'a> {
        Names { exact: split(path), folded: glob::fold(path), plain: path.is_ascii() }
    }
}

fn split(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

impl Rule {
    /// The pattern that matches, if the rule speaks of this.
    fn hit(&self, access: Access, names: &Names<'_>, folded: &[&str]) -> Option<&Glob> {
        let globs = if self.operations.contains(&access) { &self.paths[..] } else { &[] };
        globs.iter().find(|glob| match self.mode {
            Permission::Allow => glob.matches(&names.exact),
            Permission::Ask | Permission::Deny => {
                glob.matches_folded(folded) || (!names.plain && glob.matches(&names.exact))
            }
        })
    }
}

impl Layer {
    /// What the list says to a path, which starts at the workspace and has no leading `/`.
    pub fn decide(&self, access: Access, path: &str) -> Decision<'_> {
        self.decide_names(access, &Names::of(path))
    }

    fn decide_names(&self, access: Access, names: &Names<'_>) -> Decision<'_> {
        let folded = split(&names.folded);
        let rules = self.rules.iter().enumerate();
        let mut hits = rules.filter_map(|(at, rule)| Some((at, rule.mode, rule.hit(access, names, &folded)?)));
        match hits.next() {
            Some((at, mode, glob)) => Decision { mode, layer: self, rule: Some(at), glob: Some(glob) },
            None => Decision { mode: Permission::Deny, layer: self, rule: None, glob: None },
        }
    }

    /// Why this use is refused; none when it is not. A folder may be listed when it or something below it may be allowed:
    /// what is told of then is what is allowed, and the folders on the way to it.
    pub fn refuses(&self, usage: Use, path: &str) -> Option<Decision<'_>> {
        let names = Names::of(path);
        let decision = self.decide_names(usage.access(), &names);
        if decision.mode == Permission::Allow {
            return None;
        }
        let before = self.rules.get(..decision.rule.unwrap_or(self.rules.len())).unwrap_or_default();
        let opens = |rule: &Rule| {
            rule.mode == Permission::Allow
                && rule.operations.contains(&Access::Read)
                && rule.paths.iter().any(|glob| glob.may_match_below(&names.exact))
        };
        let open = usage == Use::List && before.iter().any(opens);
        (!open).then_some(decision)
    }
}

impl Layers {
    /// These lists.
    pub fn new(layers: impl IntoIterator<Item = Layer>) -> Layers {
        Layers(layers.into_iter().collect())
    }

    /// With a further list, unless it is there already.
    #[must_use]
    pub fn with(&self, layer: Option<Layer>) -> Layers {
        match layer.filter(|layer| !self.0.contains(layer)) {
            None => self.clone(),
            Some(layer) => Layers(self.0.iter().cloned().chain([layer]).collect()),
        }
    }

    /// The lists.
    pub fn as_slice(&self) -> &[Layer] {
        &self.0
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why this use of a path is refused, by the strictest list and among equals by the outermost; none when all allow it.
    pub fn refuses(&self, usage: Use, path: &str) -> Option<Decision<'_>> {
        strictest(self.0.iter().filter_map(|layer| layer.refuses(usage, path)))
    }
}

/// The strictest of some decisions, the first among equals.
pub fn strictest<'a>(decisions: impl Iterator<Item = Decision<'a>>) -> Option<Decision<'a>> {
    decisions.reduce(|first, other| if other.mode > first.mode { other } else { first })
}

#[cfg(test)]
mod tests;
