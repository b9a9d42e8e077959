//! Parking: a run whose provider asked for a long pause waits without a driver. Owns when a subtree is parked, and that
//! the time of a run stands meanwhile.

use super::state::{RunState, Status};
use crate::id::{Label, RunId, Time};

impl RunState {
    /// The parked steps, each with the moment before which it is not tried again; none: when somebody takes the run up.
    pub fn parked_steps(&self) -> impl Iterator<Item = (&Label, Option<Time>)> {
        self.waiting.iter().filter_map(|label| match self.steps.get(label)?.status {
            Status::Parked { until, .. } => Some((label, until)),
            _ => None,
        })
    }

    /// Parked steps without a moment, each with the number of its next attempt.
    pub(super) fn parked_for_good(&self) -> Vec<(Label, u32)> {
        let without = |label: &Label| match self.steps.get(label)?.status {
            Status::Parked { attempt, until: None } => Some((label.clone(), attempt)),
            _ => None,
        };
        self.waiting.iter().filter_map(without).collect()
    }

    /// Once nothing is parked any more, the time of the run goes on where it stood.
    pub(super) fn unpark(&mut self) {
        if self.parked_since.is_none() || self.parked_steps().next().is_some() {
            return;
        }
        if let Some(since) = self.parked_since.take() {
            self.deadline = self.deadline.map(|d| d.plus(self.now.since(since)));
        }
    }
}

/// Whether nothing in the subtree of a run can go on before a parked step may: every run of it that is not over has
/// parked steps, or waits for children of which the same holds. `find` knows the runs.
pub fn is_parked<'a>(run: &RunId, find: &impl Fn(&RunId) -> Option<&'a RunState>) -> bool {
    let Some(state) = find(run).filter(|s| s.summary.is_none() && s.cancelled.is_none()) else { return false };
    let late = |label: &Label| match state.steps.get(label).map(|s| &s.status) {
        Some(Status::Parked { until, .. }) => until.is_none_or(|at| at > state.now),
        _ => false,
    };
    let waits = !(state.waiting.is_empty() && state.open.is_empty());
    waits && state.waiting.iter().all(late) && state.open.iter().all(|label| is_parked(&run.child(label), find))
}
