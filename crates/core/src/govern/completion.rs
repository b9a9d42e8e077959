//! The completed part of a brief: the written part, the child's definition, the parent's grant, the profile, merged.
//! The order is contract, route, completion; whatever is refused on the way leaves by one door, so that the third refusal
//! of the same brief is answered instead of rejected. How much there is to give is the caller's (`admit`), since only it knows what is left.

use super::route::{self, Miss};
use super::written::{NAME, Written};
use crate::brief::{Brief, Draft, Incomplete, MemoryScope, Mode, Origin, Stated, Success};
use crate::budget::{Budget, Caps};
use crate::code;
use crate::definition::resolve::Held;
use crate::definition::{Chosen, Definition, Profile, Team, ToolChoice};
use crate::id::{AgentName, ToolName};
use crate::message::Arguments;
use crate::policy::{Access, Glob, Layer, Layers, Permission, Rule, Source};
use crate::run::RunState;
use crate::schema;
use crate::step::{Fallback, Refusal};

/// The least budget of a child, in tokens.
pub(super) const LEAST_CHILD: u64 = 1_000;

/// A brief that lacks only its budget, and whom it goes to.
pub(super) struct Routed<'a> {
    pub(super) child: &'a Definition,
    pub(super) draft: Draft,
    /// The caps that brief and definition ask for, and who asked.
    pub(super) asked: Stated<Caps>,
    /// Its model.
    pub(super) chosen: Chosen,
    pub(super) reason: Option<String>,
}

/// Checks the written part, finds the child, completes all but the budget. `before`: how often this was rejected already.
pub(super) fn route<'a>(
    state: &RunState,
    team: &'a Team,
    parent: &Definition,
    arguments: &Arguments,
    before: u32,
) -> Result<Routed<'a>, Refusal> {
    let rejected = |bad: Incomplete| reject(team, parent, arguments, before, bad);
    let written = Written::read(arguments, team.profile).map_err(rejected)?;
    if written.text("objective").is_none() {
        let missing = Draft::default().complete().err();
        return Err(rejected(missing.unwrap_or_else(|| Incomplete::new(code::BRIEF_OBJECTIVE_MISSING, ""))));
    }
    if parent.agents.is_empty() {
        let why = format!("{} has nobody to delegate to", parent.name);
        return Err(rejected(Incomplete::new(code::SPAWN_NOT_ALLOWED, why)));
    }
    let child = route::find(team, parent, &written).map_err(|miss| match miss {
        Miss::Rejected(bad) => rejected(bad),
        Miss::Unknown(why) => degraded(team, parent, &written, code::ROUTE_UNKNOWN, why),
    })?;
    complete(state, team, parent, child, &written).map_err(rejected)
}

/// The completed part: everything but what the budget comes to is checked here, before any reservation.
fn complete<'a>(
    state: &RunState,
    team: &'a Team,
    parent: &Definition,
    child: &'a Definition,
    written: &Written,
) -> Result<Routed<'a>, Incomplete> {
    let (depth, above) = (state.started().map(|s| s.depth), state.chosen());
    if depth.is_some_and(|d| d >= team.budget.depth) {
        let why = format!("the tree is {} levels deep and may not grow deeper", team.budget.depth);
        return Err(Incomplete::new(code::SPAWN_DEPTH, why));
    }
    let draft = draft(state, team, parent, child, written)?;
    within(&written.budget, &state.ledger().cap)?;
    narrower(&written.budget, child, &child.budget.or(team.budget.run))?;
    let trial = Draft { budget: Some(Stated::new(any_budget(), Origin::Default)), ..draft.clone() };
    trial.complete()?;
    let by = if written.budget == Caps::default() { Origin::Definition } else { Origin::Model };
    let asked = Stated::new(written.budget.min(child.budget), by);
    if let Some(few) = asked.value.tokens.filter(|n| *n < LEAST_CHILD) {
        let why = format!("a budget of {few} tokens is too small: no agent can work with less than {LEAST_CHILD}");
        return Err(Incomplete::new(code::BRIEF_BUDGET_NOT_POSITIVE, why));
    }
    let chosen = team.models.resolve(&child.model, above.as_ref()).map_err(|name| {
        Incomplete::new(code::MODEL_UNKNOWN, format!("agent {} names the unknown model {name}", child.name))
    })?;
    let reason = written.text("reason").map(str::to_string);
    Ok(Routed { child, draft, asked, chosen, reason })
}

fn any_budget() -> Budget {
    Budget { tokens: 1, time: 1, turns: 1, model_calls: None, tool_calls: 1, children: 1, runs: 1 }
}

/// What counts for a whole subtree may not be wider than what the delegating run itself has.
fn within(asked: &Caps, own: &Budget) -> Result<(), Incomplete> {
    let pairs =
        [("tokens", asked.tokens, own.tokens), ("ms of time", asked.time, own.time), ("runs", asked.runs, own.runs)];
    match pairs.into_iter().find(|(_, asked, own)| asked.is_some_and(|n| n > *own)) {
        None => Ok(()),
        Some((what, asked, own)) => {
            let why = format!(
                "the brief gives {} {what}, the delegating agent itself has {own}; leave the budget out or lower it",
                asked.unwrap_or(0)
            );
            Err(Incomplete::new(code::BRIEF_OVERRIDE_WIDER, why))
        }
    }
}

/// A brief narrows what the child's definition, else the configuration gives a run; it never widens it.
fn narrower(asked: &Caps, child: &Definition, base: &Caps) -> Result<(), Incomplete> {
    let pairs = [
        ("tokens", asked.tokens, base.tokens),
        ("ms of time", asked.time, base.time),
        ("turns", asked.turns, base.turns),
        ("model calls", asked.model_calls, base.model_calls),
        ("tool calls", asked.tool_calls, base.tool_calls),
        ("children", asked.children, base.children),
        ("runs", asked.runs, base.runs),
    ];
    for (what, asked, base) in pairs {
        if let (Some(asked), Some(base)) = (asked, base)
            && asked > base
        {
            let why = format!(
                "the brief gives {asked} {what}, {} may have {base}; leave the budget out or lower it",
                child.name
            );
            return Err(Incomplete::new(code::BRIEF_OVERRIDE_WIDER, why));
        }
    }
    Ok(())
}

fn reject(team: &Team, parent: &Definition, arguments: &Arguments, before: u32, bad: Incomplete) -> Refusal {
    if before >= 2 {
        let written = Written::read(arguments, Profile::Assisted).unwrap_or_default();
        let why = format!("the same brief was rejected twice before: {}", bad.why);
        return degraded(team, parent, &written, code::BRIEF_REPEATED, why);
    }
    Refusal { code: bad.code, why: bad.why, mode: Some(Mode::Rejected), fallback: None }
}

fn degraded(team: &Team, parent: &Definition, written: &Written, code: code::Code, why: String) -> Refusal {
    let objective = written.text("objective").unwrap_or_default();
    let wanted = written.text("agent").or(written.text("task_type")).unwrap_or("none");
    let answer = format!("supervisor fallback for \"{objective}\" (no specialist: {wanted})");
    let known = parent.agents.iter().filter(|a| team.agents.contains_key(*a)).cloned().collect();
    Refusal { code, why, mode: Some(Mode::Degraded), fallback: Some(Fallback { answer, known }) }
}

fn draft(
    state: &RunState,
    team: &Team,
    parent: &Definition,
    child: &Definition,
    written: &Written,
) -> Result<Draft, Incomplete> {
    let brief = state.started().map(|s| &s.brief);
    let parents =
        brief.map(|b| Held { tools: b.tools.value.clone(), grant: b.grant.value.clone() }).unwrap_or_default();
    let assisted = team.profile == Profile::Assisted;
    let text = |name: &str, definition: Option<&String>, derived: fn(&Definition) -> String| {
        let by_model = written.text(name).map(|t| Stated::new(t.to_string(), Origin::Model));
        let by_definition = || definition.map(|t| Stated::new(t.clone(), Origin::Definition));
        let by_program = || assisted.then(|| Stated::new(derived(child), Origin::Derived));
        by_model.or_else(by_definition).or_else(by_program)
    };
    let held = held(team, child, &parents);
    let tools = narrowed(child, held.tools, written)?;
    Ok(Draft {
        task_type: written.text("task_type").map(|t| Stated::new(t.to_string(), Origin::Model)),
        objective: written.text("objective").map(|t| Stated::new(t.to_string(), Origin::Model)),
        context: context(written),
        output_format: text("output_format", child.brief.output_format.as_ref(), derived_format),
        guidance: text("guidance", child.brief.guidance.as_ref(), |_| {
            "Use the tools you are given where they help.".into()
        }),
        boundaries: text("boundaries", child.brief.boundaries.as_ref(), |c| {
            format!("Do what the objective says, within your task ({}), and nothing else.", c.description.trim())
        }),
        success: success(team, child, written),
        output: Some(match &child.output {
            Some(schema) => Stated::new(schema.clone(), Origin::Definition),
            None => Stated::new(schema::default_output(), Origin::Default),
        }),
        tools: Some(tools),
        grant: Some(held.grant),
        memory: Some(Stated::new(MemoryScope::Private, Origin::Default)),
        budget: None,
        permissions: permissions(brief, child, written),
    })
    .inspect(|_| debug_assert!(parent.agents.contains(&child.name)))
}

pub(super) fn derived_format(child: &Definition) -> String {
    match child.output {
        Some(_) => "One JSON document under the output schema.".into(),
        None => "Plain text: the result first, then what it rests on.".into(),
    }
}

fn context(written: &Written) -> Option<Stated<String>> {
    let mut text = written.text("context").unwrap_or_default().to_string();
    for (name, stray) in &written.stray {
        let gap = if text.is_empty() { "" } else { "\n\n" };
        text.push_str(&format!("{gap}[{name}] {stray}"));
    }
    (!text.is_empty()).then(|| Stated::new(text, Origin::Model))
}

/// The child's own condition and the model's, both; in profile `assisted` none means "payload valid".
fn success(team: &Team, child: &Definition, written: &Written) -> Option<Stated<Success>> {
    let said = written.text("success_condition");
    let own = child.success.clone();
    let by = match (&own, said) {
        (_, Some(_)) => Origin::Model,
        (Some(_), None) => Origin::Definition,
        (None, None) if team.profile == Profile::Assisted => Origin::Derived,
        (None, None) => return None,
    };
    let mut success = own.unwrap_or_default();
    success.statements.extend(said.map(str::to_string));
    Some(Stated::new(success, by))
}

/// What an agent holds, and who gave it.
pub(super) struct StatedHeld {
    pub(super) tools: Stated<Vec<ToolName>>,
    pub(super) grant: Stated<Vec<ToolName>>,
}

pub(super) fn held(team: &Team, agent: &Definition, parent: &Held) -> StatedHeld {
    let Held { tools, grant } = team.held(agent, parent);
    let listed = matches!(agent.tools, ToolChoice::Listed(_));
    let by = |own: bool| if own { Origin::Definition } else { Origin::Grant };
    StatedHeld { tools: Stated::new(tools, by(listed)), grant: Stated::new(grant, by(agent.grant.is_some())) }
}

fn narrowed(
    child: &Definition,
    tools: Stated<Vec<ToolName>>,
    written: &Written,
) -> Result<Stated<Vec<ToolName>>, Incomplete> {
    let Some(wanted) = &written.tools else { return Ok(tools) };
    if let Some(wide) = wanted.iter().find(|t| !tools.value.contains(t)) {
        let wide = code::clip(wide.as_str(), NAME);
        let why = format!("the brief gives {} the tool {wide}, which it cannot be given here", child.name);
        return Err(Incomplete::new(code::BRIEF_OVERRIDE_WIDER, why));
    }
    // In the order of the definition and each once, whatever the model wrote: the tools block is the same for all of a kind.
    let kept = tools.value.iter().filter(|t| wanted.contains(t)).cloned().collect();
    Ok(Stated::new(kept, Origin::Model))
}

/// The lists of rules on paths: those of the parent, the child's own, and what the delegation forbids on top.
fn permissions(parent: Option<&Brief>, child: &Definition, written: &Written) -> Layers {
    let above = parent.map(|brief| brief.permissions.clone()).unwrap_or_default();
    let narrowed = written.permissions.clone().map(|mut rules| {
        // It speaks of what it takes away; the rest stays as it is.
        let operations = vec![Access::Read, Access::Write];
        rules.push(Rule { operations, paths: vec![Glob::everything()], mode: Permission::Allow, reason: None });
        Layer { source: Source::Delegation(child.name.clone()), rules }
    });
    above.with(child.layer()).with(narrowed)
}

/// Whom a run may delegate to at its depth: those of its agents that the team has; nobody at the deepest level.
pub(crate) fn may_delegate<'a>(team: &'a Team, agent: &Definition, depth: u32) -> Vec<&'a Definition> {
    if depth >= team.budget.depth {
        return Vec::new();
    }
    agent.agents.iter().filter_map(|a: &AgentName| team.agents.get(a)).collect()
}

/// Caps made complete by the printed defaults.
pub(super) fn whole(caps: Caps, timeout: Option<u64>) -> Budget {
    let d = crate::budget::Budgets::default().run;
    let or = |cap: Option<u64>, default: Option<u64>| cap.or(default).unwrap_or(1);
    let time = or(caps.time, d.time);
    Budget {
        tokens: or(caps.tokens, d.tokens),
        time: timeout.map_or(time, |t| t.min(time)),
        turns: or(caps.turns, d.turns),
        model_calls: caps.model_calls,
        tool_calls: or(caps.tool_calls, d.tool_calls),
        children: or(caps.children, d.children),
        runs: caps.runs.unwrap_or(1),
    }
}
