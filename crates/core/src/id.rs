//! Identities: runs, steps, agents, tools, models. Owns their forms and nothing else.
//!
//! A step is named by the run and a *label path* such as `t3/c0`; labels are a compatibility surface (invariant 5).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a text that is already in the right form.
            pub fn new(text: impl AsRef<str>) -> Self {
                Self(Arc::from(text.as_ref()))
            }
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::new(text)
            }
        }
        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

text_id! {
    /// A run. A root's id is short random text; a child's is its parent's id, `/`, and the label of the delegation.
    RunId
}
text_id! {
    /// The name of an agent definition, in its normal form (`doc-reader`).
    AgentName
}
text_id! {
    /// Where a run stands in its tree by names: `lead/reader#2` is the second `reader` that `lead` started.
    AgentPath
}
text_id! {
    /// The name of a tool (`read_file`).
    ToolName
}
text_id! {
    /// A model as `provider:model`.
    ModelName
}
text_id! {
    /// Lower-case hex SHA-256 of some content.
    Digest
}

impl RunId {
    /// The run that a delegation under `label` starts.
    pub fn child(&self, label: &Label) -> RunId {
        RunId::new(format!("{self}/{label}"))
    }
    /// The root of the tree that this run belongs to.
    pub fn root(&self) -> RunId {
        RunId::new(self.0.split('/').next().unwrap_or_default())
    }
}

impl AgentPath {
    /// The path of a root run.
    pub fn root(agent: &AgentName) -> AgentPath {
        AgentPath::new(agent.as_str())
    }
    /// The path of the `ordinal`-th (from 1) child of this name, in call order.
    pub fn child(&self, agent: &AgentName, ordinal: u64) -> AgentPath {
        AgentPath::new(format!("{self}/{agent}#{ordinal}"))
    }
}

impl ModelName {
    /// The provider's part: `openai` in `openai:small`.
    pub fn provider(&self) -> &str {
        self.0.split_once(':').map_or("", |(p, _)| p)
    }
    /// The model's own name: `small` in `openai:small`. May itself hold colons.
    pub fn model(&self) -> &str {
        self.0.split_once(':').map_or(&*self.0, |(_, m)| m)
    }
}

/// A step's name inside its run: segments of `a-z 0-9 _ - . ~`, joined by `/`; at most 200 bytes. Holds no user text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(Arc<str>);

/// Why a text is no label.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is no step label: segments of a-z 0-9 _ - . ~ joined by `/`, at most 200 bytes")]
pub struct InvalidLabel(String);

const MAX_LABEL: usize = 200;

fn plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.~".contains(c)
}

impl Label {
    /// Checks a text from outside (a log, the command line).
    ///
    /// # Errors
    /// The text has a segment that is empty or holds another character, or it is too long.
    pub fn parse(text: &str) -> Result<Label, InvalidLabel> {
        let good = text.len() <= MAX_LABEL && text.split('/').all(|s| !s.is_empty() && s.chars().all(plain));
        if good { Ok(Label(Arc::from(text))) } else { Err(InvalidLabel(text.chars().take(MAX_LABEL).collect())) }
    }
    /// A label below a scope prefix (empty, or ending in `/`). Total: other characters become `_`.
    pub fn under(prefix: &str, segment: &str) -> Label {
        let clean = |c: char| if plain(c) || c == '/' { c } else { '_' };
        let text: String = prefix.chars().chain(segment.chars()).map(clean).take(MAX_LABEL).collect();
        Label(Arc::from(text))
    }
    /// The label of the `index`-th (from 0) call of this turn.
    pub fn call(&self, index: usize) -> Label {
        Label(Arc::from(format!("{self}/c{index}")))
    }
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// The turn and the index of a call's label; none for every other label.
    pub fn as_call(&self) -> Option<(&str, usize)> {
        let (turn, last) = self.0.rsplit_once('/')?;
        Some((turn, last.strip_prefix('c')?.parse().ok()?))
    }
    /// The scope (empty, or ending in `/`) and the number of a turn's label; none for every other label.
    pub fn as_turn(&self) -> Option<(&str, u64)> {
        let at = self.0.rfind('/').map_or(0, |i| i + 1);
        let (scope, last) = self.0.split_at_checked(at)?;
        Some((scope, last.strip_prefix('t')?.parse().ok()?))
    }
}

impl TryFrom<String> for Label {
    type Error = InvalidLabel;
    fn try_from(text: String) -> Result<Label, InvalidLabel> {
        Label::parse(&text)
    }
}
impl From<Label> for String {
    fn from(label: Label) -> String {
        label.0.to_string()
    }
}
impl std::borrow::Borrow<str> for Label {
    fn borrow(&self) -> &str {
        &self.0
    }
}
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// A moment: milliseconds since 1970-01-01 UTC. The core never asks for it, it is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// The moment `ms` milliseconds later.
    pub fn plus(self, ms: u64) -> Time {
        Time(self.0.saturating_add(ms))
    }
    /// Milliseconds from `earlier` to this moment; 0 when it is not earlier.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
