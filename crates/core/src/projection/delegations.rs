//! The delegations of a run, one row each, in call order: brief digest, route, mode, terminal state, artifact.

use super::RunView;
use crate::brief::Mode;
use crate::code::Code;
use crate::digest;
use crate::id::{Digest, Label, RunId};
use crate::message::{Arguments, BlobRef};
use crate::run::call_order;
use crate::step::{Ask, Outcome, Product};
use crate::summary::Terminal;

/// One delegation.
#[derive(Clone, Debug)]
pub struct DelegationRow {
    /// The step.
    pub step: Label,
    /// The child's name; the name that was asked for when there was no child.
    pub agent: String,
    /// The task type that was asked for.
    pub task_type: Option<String>,
    /// Whether the call named an agent; a name wins over a task type.
    pub named: bool,
    /// What became of it.
    pub mode: Mode,
    /// Why it was refused, or why the child did not succeed.
    pub reason_code: Option<Code>,
    /// The same in one sentence.
    pub reason: Option<String>,
    /// Digest of the complete brief; of the written part when there was no child.
    pub brief_digest: Digest,
    /// The child's run.
    pub child: Option<RunId>,
    /// How the child ended; none while it runs.
    pub status: Option<Terminal>,
    /// The child's whole payload, when it is kept beside the log.
    pub artifact: Option<BlobRef>,
}

/// The delegations of a run, in call order.
pub fn delegations(run: &RunView) -> Vec<DelegationRow> {
    let mut rows: Vec<DelegationRow> = run.state.steps().filter_map(|(label, _)| row(run, label)).collect();
    rows.sort_by_cached_key(|r| call_order(&r.step));
    rows
}

fn row(run: &RunView, label: &Label) -> Option<DelegationRow> {
    let step = run.state.step(label)?;
    let Ask::Delegate { arguments, .. } = &*step.ask else { return None };
    let outcome = run.state.outcome(label.as_str());
    let summary = match outcome {
        Some(Outcome::Ok(Product::Summary(summary))) => Some(summary),
        _ => None,
    };
    let (mode, code, reason) = match outcome {
        Some(Outcome::Denied(refusal)) => {
            let mode = refusal.mode.unwrap_or(Mode::Rejected);
            let word = if mode == Mode::Rejected { "rejected: " } else { "" };
            (mode, Some(refusal.code.clone()), Some(format!("{word}{}", refusal.why)))
        }
        Some(Outcome::Failed { code, why }) => (Mode::Delegated, Some(code.clone()), Some(why.clone())),
        _ => (Mode::Delegated, summary.and_then(|s| s.reason_code.clone()), summary.and_then(|s| s.reason.clone())),
    };
    let failed = matches!(outcome, Some(Outcome::Failed { .. })).then_some(Terminal::Failed);
    Some(DelegationRow {
        step: label.clone(),
        agent: step.delegation.as_ref().map_or_else(|| wanted(arguments), |d| d.to.to_string()),
        task_type: given(arguments, "task_type"),
        named: given(arguments, "agent").is_some_and(|a| !a.trim().is_empty()),
        mode,
        reason_code: code,
        reason,
        brief_digest: step.delegation.as_ref().map_or_else(|| digest::of(arguments), |d| digest::of(&d.brief)),
        child: step.delegation.as_ref().map(|_| run.id.child(label)),
        status: summary.map(|s| s.status).or(failed),
        artifact: summary.and_then(|s| s.artifact.clone()),
    })
}

fn given(arguments: &Arguments, field: &str) -> Option<String> {
    let Arguments::Json(value) = arguments else { return None };
    value.get(field)?.as_str().map(str::to_string)
}

/// The agent or task type that a call names.
pub(super) fn wanted(arguments: &Arguments) -> String {
    given(arguments, "agent").or_else(|| given(arguments, "task_type")).unwrap_or_default()
}

/// One line for people: `delegated: search -> search-specialist`, `degraded: no specialist for taskType=translate`,
/// `rejected: brief missing objective`.
pub fn line(row: &DelegationRow) -> String {
    let by_type = row.task_type.as_deref().filter(|_| !row.named);
    let route = by_type.unwrap_or(&row.agent);
    match row.mode {
        Mode::Delegated => format!("delegated: {route} -> {}", row.agent),
        Mode::Degraded if by_type.is_some() => format!("degraded: no specialist for taskType={route}"),
        Mode::Degraded => format!("degraded: no specialist for agent={route}"),
        Mode::Rejected => {
            let reason = row.reason.as_deref().unwrap_or("rejected");
            reason.split(" \u{2014} ").next().unwrap_or(reason).to_string()
        }
    }
}
