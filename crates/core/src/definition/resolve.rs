//! The two sets of an agent: what it may call and what it may pass on, as they follow from its parent's two sets.

use super::{DELEGATE, Definition, Team, ToolChoice};
use crate::id::ToolName;
use crate::step::EffectClass;

/// The tools of a root that names none.
pub const ROOT_TOOLS: [&str; 4] = ["ls", "read_file", "glob", "grep"];

/// What an agent may call and what it may pass on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// What it may call.
    pub tools: Vec<ToolName>,
    /// What it may pass on.
    pub grant: Vec<ToolName>,
}

impl Team {
    /// What stands above the root: the read-only file tools, and the ceiling as grant.
    pub fn above_root(&self) -> Held {
        Held { tools: ROOT_TOOLS.iter().map(ToolName::new).collect(), grant: self.ceiling.clone() }
    }

    /// What an agent holds under a parent (under [`Team::above_root`] for the root): its own list, or its parent's own
    /// tools; within the parent's grant; minus what it disallows.
    pub fn held(&self, agent: &Definition, parent: &Held) -> Held {
        let from = match &agent.tools {
            ToolChoice::Inherit => &parent.tools,
            ToolChoice::All => &parent.grant,
            ToolChoice::Listed(list) => list,
        };
        let granted = |t: &ToolName| parent.grant.contains(t);
        let reads = |t: &ToolName| !agent.read_only || self.effect(t) == EffectClass::ReadOnly;
        let held = |t: &&ToolName| t.as_str() != DELEGATE && granted(t) && !agent.disallowed.contains(t) && reads(t);
        let passed = agent.grant.as_ref().unwrap_or(&parent.grant);
        // An agent that only reads has nobody write for it either.
        let grant = passed.iter().filter(|t| granted(t) && reads(t)).cloned().collect();
        Held { tools: from.iter().filter(held).cloned().collect(), grant }
    }
}
