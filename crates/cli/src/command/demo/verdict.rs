//! The verdict of `demo --prove`: the access log of the model server against what the run's logs held at each kill. Pure,
//! so that a test can show it a forged log. Owns what counts as paid for twice, not where the logs come from.

use deputize_core::event::{Event, Recorded};
use deputize_core::id::{Label, RunId};
use deputize_core::step::Then;

/// A request as the server's own access log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// Its number, from 1.
    pub(super) n: u64,
    /// The agent's path.
    pub(super) agent: String,
    /// Run and label of the step.
    pub(super) step: String,
    /// The attempt, from 1.
    pub(super) attempt: u32,
}

/// An attempt whose outcome is in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settled {
    /// Run and label of the step.
    pub(super) step: String,
    /// The attempt.
    pub(super) attempt: u32,
    /// The place in the log of its run.
    pub(super) seq: u64,
    /// Whether the step is over, so that no further attempt may follow.
    pub(super) over: bool,
}

/// What there was when the run was killed.
#[derive(Clone, Debug, Default)]
pub(super) struct Kill {
    /// How many requests the server had logged.
    pub(super) asked: usize,
    /// Which outcomes the logs held.
    pub(super) settled: Vec<Settled>,
}

/// A request that should not have been made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repeated {
    /// The request.
    pub(super) n: u64,
    /// Run and label of its step.
    pub(super) step: String,
    /// Which kill came between record and request, from 1.
    pub(super) kill: usize,
}

/// A key as the adapter sends it, `RUN/LABEL#ATTEMPT`, in its parts.
pub(super) fn key(text: &str) -> Option<(String, u32)> {
    let (step, attempt) = text.rsplit_once('#')?;
    Some((step.to_string(), attempt.parse().ok()?))
}

/// The outcomes in the log of one run. A failure after which the same attempt is made again is none: nobody knows
/// whether that request arrived.
pub(super) fn settled(run: &RunId, log: &[Recorded]) -> Vec<Settled> {
    let one = |label: &Label, attempt: u32, seq: u64, then: Option<&Then>| {
        let over = matches!(then, None | Some(Then::Final));
        let again = matches!(then, Some(Then::Retry { attempt: next, .. }) if *next == attempt);
        (!again).then(|| Settled { step: format!("{run}/{label}"), attempt, seq, over })
    };
    log.iter()
        .filter_map(|record| match &record.event {
            Event::StepSucceeded { label, attempt, .. } => one(label, *attempt, record.seq, None),
            Event::StepRejected { label, attempt, then, .. } | Event::StepFailed { label, attempt, then, .. } => {
                one(label, *attempt, record.seq, Some(then))
            }
            _ => None,
        })
        .collect()
}

/// Requests after a kill for something whose outcome was recorded before it. None: nothing was asked twice.
pub(super) fn repeated(asked: &[Asked], kills: &[Kill]) -> Vec<Repeated> {
    let mut found = Vec::new();
    for (at, request) in asked.iter().enumerate() {
        let before = kills.iter().enumerate().filter(|(_, kill)| kill.asked <= at);
        let known = |kill: &Kill| kill.settled.iter().any(|s| is_known(s, request));
        if let Some((number, _)) = before.into_iter().find(|(_, kill)| known(kill)) {
            found.push(Repeated { n: request.n, step: request.step.clone(), kill: number + 1 });
        }
    }
    found
}

fn is_known(settled: &Settled, request: &Asked) -> bool {
    settled.step == request.step && (settled.over || request.attempt <= settled.attempt)
}

#[cfg(test)]
mod tests;
