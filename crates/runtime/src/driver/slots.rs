//! Slots: how many runs of a tree work at the same time. A run holds one while a model or tool step of its own is under
//! way; one that only waits for children holds none. Slots are the driver's, not the log's.

use deputize_core::id::{Label, RunId};
use std::collections::{BTreeSet, VecDeque};

pub(super) struct Slots {
    most: usize,
    held: BTreeSet<RunId>,
    queue: VecDeque<(RunId, Label)>,
}

impl Slots {
    pub(super) fn new(most: u32) -> Slots {
        Slots { most: most.max(1) as usize, held: BTreeSet::new(), queue: VecDeque::new() }
    }
    /// Whether this step may go on now; else it waits in line, once.
    pub(super) fn enter(&mut self, run: &RunId, label: &Label) -> bool {
        if self.held.contains(run) {
            return true;
        }
        if self.held.len() < self.most {
            self.held.insert(run.clone());
            return true;
        }
        if !self.queue.iter().any(|(r, l)| r == run && l == label) {
            self.queue.push_back((run.clone(), label.clone()));
        }
        false
    }
    /// The run has nothing of its own under way.
    pub(super) fn leave(&mut self, run: &RunId) {
        self.held.remove(run);
    }
    pub(super) fn holders(&self) -> Vec<RunId> {
        self.held.iter().cloned().collect()
    }
    /// The run that has waited longest, while there is a free slot for it.
    pub(super) fn next(&mut self) -> Option<RunId> {
        if self.held.len() >= self.most {
            return None;
        }
        self.queue.pop_front().map(|(run, _)| run)
    }
    /// Takes a run's steps out of the line.
    pub(super) fn forget(&mut self, run: &RunId, label: &Label) {
        self.queue.retain(|(r, l)| r != run || l != label);
    }
}
