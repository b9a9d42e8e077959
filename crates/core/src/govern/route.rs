//! The route of a brief: whom a name or a task type leads to.

use super::written::{NAME, Written};
use crate::brief::Incomplete;
use crate::code::{self, clip};
use crate::definition::{Definition, Team, name};

/// Why nobody was found.
pub(super) enum Miss {
    /// The contract is not kept.
    Rejected(Incomplete),
    /// There is nobody of this name; one sentence.
    Unknown(String),
}

/// Finds the child by name, else by task type.
pub(super) fn find<'a>(team: &'a Team, parent: &Definition, written: &Written) -> Result<&'a Definition, Miss> {
    let (wanted, by_name) = match (written.text("agent"), written.text("task_type")) {
        (Some(name), _) => (name, true),
        (None, Some(kind)) => (kind, false),
        (None, None) => {
            let why = "brief missing agent \u{2014} name an agent or a task_type";
            return Err(Miss::Rejected(Incomplete::new(code::BRIEF_ROUTE_MISSING, why)));
        }
    };
    let own = parent.agents.iter().filter_map(|a| team.agents.get(a));
    let found =
        if by_name { name::find_among(wanted, own.map(named)) } else { name::find_among(wanted, own.flat_map(kinds)) };
    if let Some(child) = found {
        return Ok(child);
    }
    let other = if by_name { name::find_among(wanted, team.agents.values().map(named)) } else { None };
    if let Some(other) = other {
        let why = format!("agent {} is not among those that {} may delegate to", other.name, parent.name);
        return Err(Miss::Rejected(Incomplete::new(code::SPAWN_NOT_ALLOWED, why)));
    }
    let wanted = clip(wanted, NAME);
    let what = if by_name { "agent" } else { "task type" };
    let tool = if team.tools.contains_key(wanted.as_str()) { "; that is a tool: call it directly" } else { "" };
    Err(Miss::Unknown(format!("there is no {what} {wanted}{tool}")))
}

fn named(agent: &Definition) -> (&str, &Definition) {
    (agent.name.as_str(), agent)
}

/// The task types that lead to an agent: its own, else its name.
fn kinds(agent: &Definition) -> Vec<(&str, &Definition)> {
    if agent.task_types.is_empty() {
        return vec![named(agent)];
    }
    agent.task_types.iter().map(|kind| (kind.as_str(), agent)).collect()
}
