//! The brief of a root run: the objective is the user's, everything else the program writes from the team.

use super::completion::{derived_format, held, whole};
use crate::brief::{Brief, Draft, Incomplete, MemoryScope, Origin, Stated, Success};
use crate::budget::Caps;
use crate::code;
use crate::definition::Team;
use crate::schema;

/// The brief of a root run, written by the program from the team; only the objective comes from the user.
///
/// # Errors
/// The objective is blank, the team has no such root, or its output schema is unusable.
pub fn root_brief(team: &Team, objective: &str) -> Result<Brief, Incomplete> {
    let agent = team.agents.get(&team.root).ok_or_else(|| {
        Incomplete::new(code::ROUTE_UNKNOWN, format!("the team has no agent {} to start with", team.root))
    })?;
    let fixed = |text: &str| Some(Stated::new(text.to_string(), Origin::Default));
    let held = held(team, agent, &team.above_root());
    let definition = |text: &Option<String>, default: &str| match text {
        Some(text) => Some(Stated::new(text.clone(), Origin::Definition)),
        None => fixed(default),
    };
    let caps = agent.budget.min(team.budget.tree).or(team.budget.run).or(Caps { runs: Some(50), ..Caps::default() });
    Draft {
        task_type: None,
        objective: Some(Stated::new(objective.to_string(), Origin::Flag)),
        context: None,
        output_format: definition(&agent.brief.output_format, &derived_format(agent)),
        guidance: definition(&agent.brief.guidance, "Use the tools and agents you are given where they help."),
        boundaries: definition(&agent.brief.boundaries, "Do what the objective says and nothing else."),
        success: Some(match &agent.success {
            Some(success) => Stated::new(success.clone(), Origin::Definition),
            None => Stated::new(Success::default(), Origin::Default),
        }),
        output: Some(match &agent.output {
            Some(schema) => Stated::new(schema.clone(), Origin::Definition),
            None => Stated::new(schema::default_output(), Origin::Default),
        }),
        tools: Some(held.tools),
        grant: Some(held.grant),
        memory: Some(Stated::new(MemoryScope::Private, Origin::Default)),
        budget: Some(Stated::new(whole(caps, agent.timeout), Origin::Config)),
        permissions: team.layers.with(agent.layer()),
    }
    .complete()
}
