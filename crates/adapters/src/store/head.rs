//! The line of a run in the list of runs, as stores keep it: what a log's first event says, and where it stands in its
//! tree. Owns the orders of `tree`, `roots` and `find`; owns no table.

use deputize_core::event::{Event, Recorded};
use deputize_core::id::RunId;
use deputize_runtime::port::{RunHead, StoreError};
use std::collections::{BTreeMap, BTreeSet};

/// A line of the list of runs, and its parent.
#[derive(Clone, Debug)]
pub(super) struct Head {
    /// What readers get.
    pub(super) line: RunHead,
    /// The run that delegated to it; none for a root.
    pub(super) parent: Option<RunId>,
}

impl Head {
    /// The line of a log that begins with this event.
    pub(super) fn begin(root: &RunId, run: &RunId, first: &Recorded) -> Result<Head, StoreError> {
        let Event::RunStarted(started) = &first.event else {
            let kind = first.event.kind();
            return Err(StoreError::Failed(format!(
                "the log of {run} cannot begin with {kind}, only with run_started"
            )));
        };
        if started.run != *run {
            let other = &started.run;
            return Err(StoreError::Failed(format!("the log of {run} cannot begin with the start of {other}")));
        }
        let line = RunHead {
            run: run.clone(),
            root: root.clone(),
            agent: started.agent.clone(),
            team: started.team_name.clone(),
            objective: started.brief.objective.value.clone(),
            started: first.at,
            updated: first.at,
            status: None,
        };
        Ok(Head { line, parent: started.parent.as_ref().map(|(parent, _)| parent.clone()) })
    }

    /// Whether it is the root of its tree.
    pub(super) fn is_root(&self) -> bool {
        self.line.run == self.line.root
    }
}

/// The runs of one tree depth first, siblings in the order in which they are given.
pub(super) fn depth_first(heads: Vec<Head>) -> Vec<RunHead> {
    let known: BTreeSet<RunId> = heads.iter().map(|head| head.line.run.clone()).collect();
    let mut children: BTreeMap<Option<RunId>, Vec<RunHead>> = BTreeMap::new();
    for Head { line, parent } in heads {
        // A child whose parent's log is missing is shown all the same, beside the root.
        let below = parent.filter(|parent| known.contains(parent));
        children.entry(below).or_default().push(line);
    }
    let mut sorted = Vec::with_capacity(known.len());
    let mut open = children.remove(&None).unwrap_or_default();
    open.reverse();
    while let Some(line) = open.pop() {
        let below = children.remove(&Some(line.run.clone())).unwrap_or_default();
        open.extend(below.into_iter().rev());
        sorted.push(line);
    }
    sorted
}

/// The first text that is greater than every text with this prefix; none when there is no such text.
pub(super) fn after_prefix(prefix: &str) -> Option<String> {
    let mut text = prefix.to_string();
    while let Some(last) = text.pop() {
        // Code points and their UTF-8 bytes have the same order; the step over the surrogates is the char range's own.
        if let Some(next) = (last..=char::MAX).nth(1) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests;
