//! What a tree waits for, one row for each parked step, and whether a run of it waits.

use super::{RunView, Tree};
use crate::code::Code;
use crate::event::Event;
use crate::id::{AgentName, AgentPath, Label, RunId, Time};
use crate::run::is_parked;

/// One thing that is waited for.
#[derive(Clone, Debug)]
pub struct WaitRow {
    /// The run that waits.
    pub run: RunId,
    /// Its step.
    pub step: Label,
    /// Its agent.
    pub agent: AgentName,
    /// Its path.
    pub path: AgentPath,
    /// Since when.
    pub since: Time,
    /// Until when; none: until somebody takes the tree up.
    pub until: Option<Time>,
    /// Why.
    pub code: Code,
    /// The same in one sentence.
    pub why: String,
}

/// Whether nothing in the subtree of a run can go on before what it waits for.
pub fn waits(tree: &Tree, id: &RunId) -> bool {
    let find = |id: &RunId| tree.run(id).map(|r| &r.state);
    is_parked(id, &find)
}

/// What the run and all below it wait for, in the order of the tree.
pub fn waiting(tree: &Tree, id: &RunId) -> Vec<WaitRow> {
    let rows = |run: &RunView| -> Vec<WaitRow> {
        let open = run.state.summary().is_none();
        run.state.parked_steps().filter(|_| open).filter_map(|(label, until)| row(run, label, until)).collect()
    };
    tree.subtree(id).flat_map(rows).collect()
}

fn row(run: &RunView, step: &Label, until: Option<Time>) -> Option<WaitRow> {
    let started = run.state.started()?;
    let (since, code, why) = run.log.iter().rev().find_map(|record| match &record.event {
        Event::StepFailed { label, code, why, .. } if label == step => Some((record.at, code.clone(), why.clone())),
        _ => None,
    })?;
    let (agent, path) = (started.agent.clone(), started.path.clone());
    Some(WaitRow { run: run.id.clone(), step: step.clone(), agent, path, since, until, code, why })
}
