//! Slots: how many runs of a tree work at the same time. A run holds one while a model or tool step of its own is under
//! way; one that only waits for children holds none. A run gets its slot before its step is started, so that what is
//! started is also launched. Slots are the driver's, not the log's; who waits longest is next.

use deputize_core::id::RunId;
use std::collections::{BTreeSet, VecDeque};

pub(super) struct Slots {
    most: usize,
    held: BTreeSet<RunId>,
    line: VecDeque<RunId>,
}

impl Slots {
    pub(super) fn new(most: u32) -> Slots {
        Slots { most: most.max(1) as usize, held: BTreeSet::new(), line: VecDeque::new() }
    }
    /// Whether the run may work now; else it waits in line, once.
    pub(super) fn enter(&mut self, run: &RunId) -> bool {
        if self.held.contains(run) {
            return true;
        }
        if self.line.is_empty() && self.held.len() < self.most {
            self.held.insert(run.clone());
            return true;
        }
        if !self.line.contains(run) {
            self.line.push_back(run.clone());
        }
        false
    }
    /// The run has nothing of its own under way.
    pub(super) fn leave(&mut self, run: &RunId) {
        self.held.remove(run);
    }
    /// The runs that hold a slot.
    pub(super) fn holders(&self) -> Vec<RunId> {
        self.held.iter().cloned().collect()
    }
    /// Gives a free slot to the run that has waited longest.
    pub(super) fn next(&mut self) -> Option<RunId> {
        if self.held.len() >= self.most {
            return None;
        }
        let run = self.line.pop_front()?;
        self.held.insert(run.clone());
        Some(run)
    }
}
