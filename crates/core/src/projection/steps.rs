//! The steps of a run as rows: one for each label, in the order of their first event.

use super::RunView;
use crate::code::Code;
use crate::event::Event;
use crate::id::{AgentName, Label, Time};
use crate::message::Usage;
use crate::run::Status;
use crate::step::{Ask, Outcome};
use std::collections::BTreeMap;

/// One step.
#[derive(Clone, Debug)]
pub struct StepRow {
    /// Its label.
    pub label: Label,
    /// `model`, `tool`, `delegate`, `probe`, `decide`.
    pub kind: &'static str,
    /// Who asked for it.
    pub agent: AgentName,
    /// The tool, the child, or the model.
    pub name: String,
    /// The newest attempt; 0 when it never started.
    pub attempt: u32,
    /// `open`, `retry`, `waiting`, `ok`, `failed`, `denied`.
    pub status: &'static str,
    /// Why it failed or was denied.
    pub reason_code: Option<Code>,
    /// When it first appeared in the log.
    pub started: Time,
    /// When it had its final outcome.
    pub ended: Option<Time>,
    /// Tokens of all attempts.
    pub usage: Usage,
    /// What of these nobody counted: it is presumed for attempts that were lost.
    pub presumed: Usage,
}

/// The steps of a run.
pub fn steps(run: &RunView) -> Vec<StepRow> {
    let mut rows: Vec<StepRow> = Vec::new();
    let mut places: BTreeMap<Label, usize> = BTreeMap::new();
    for record in &run.log {
        let Some(label) = label(&record.event) else { continue };
        let place = *places.entry(label.clone()).or_insert_with(|| {
            rows.extend(row(run, label, record.at));
            rows.len().saturating_sub(1)
        });
        let Some(row) = rows.get_mut(place) else { continue };
        match &record.event {
            Event::StepInDoubt { presumed: spent, .. }
            | Event::StepInterrupted { presumed: spent, .. }
            | Event::StepFailed { spent, presumed: true, .. } => row.presumed.add(&spent.usage),
            _ => {}
        }
        match &record.event {
            Event::StepSucceeded { spent, .. }
            | Event::StepFailed { spent, .. }
            | Event::StepRejected { spent, .. }
            | Event::ResultDiscarded { spent, .. }
            | Event::StepInDoubt { presumed: spent, .. }
            | Event::StepInterrupted { presumed: spent, .. } => row.usage.add(&spent.usage),
            _ => {}
        }
        let done = run.state.step(label).and_then(|s| s.done_seq);
        if done == Some(record.seq) {
            row.ended = Some(record.at);
        }
    }
    rows
}

fn label(event: &Event) -> Option<&Label> {
    match event {
        Event::StepStarted(start) => Some(&start.label),
        Event::StepPrepared { label, .. }
        | Event::StepSucceeded { label, .. }
        | Event::StepFailed { label, .. }
        | Event::StepRejected { label, .. }
        | Event::StepDenied { label, .. }
        | Event::StepInDoubt { label, .. }
        | Event::StepInterrupted { label, .. }
        | Event::ResultDiscarded { label, .. }
        | Event::Decided { label, .. } => Some(label),
        Event::RunStarted(_)
        | Event::Recovered { .. }
        | Event::Adopted { .. }
        | Event::Woke { .. }
        | Event::CancelRequested { .. }
        | Event::MessageReceived { .. }
        | Event::RunFinished { .. } => None,
    }
}

fn row(run: &RunView, label: &Label, started: Time) -> Option<StepRow> {
    let (start, step) = (run.state.started()?, run.state.step(label)?);
    let (kind, agent, name) = match &*step.ask {
        Ask::Model { agent, .. } => ("model", agent.clone(), run.state.model_of(step)?.model.to_string()),
        Ask::Tool { agent, name, .. } => ("tool", agent.clone(), name.to_string()),
        Ask::Delegate { agent, arguments, .. } => {
            let to = step.delegation.as_ref().map(|d| d.to.to_string());
            ("delegate", agent.clone(), to.unwrap_or_else(|| super::delegations::wanted(arguments)))
        }
        Ask::Probe { path } => ("probe", start.agent.clone(), path.clone()),
        Ask::Decide { what, .. } => ("decide", start.agent.clone(), what.clone()),
    };
    let (status, reason_code) = match &step.status {
        Status::Open => ("open", None),
        Status::Retry { .. } => ("retry", None),
        Status::Parked { .. } => ("waiting", None),
        Status::Done(outcome) => match &**outcome {
            Outcome::Ok(_) => ("ok", None),
            Outcome::Failed { code, .. } => ("failed", Some(code.clone())),
            Outcome::Denied(refusal) => ("denied", Some(refusal.code.clone())),
        },
    };
    let (label, attempt, usage, presumed) = (label.clone(), step.attempt, Usage::default(), Usage::default());
    Some(StepRow { label, kind, agent, name, attempt, status, reason_code, started, ended: None, usage, presumed })
}
