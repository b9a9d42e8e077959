//! Leaving a tree that waits. What it waits for stands in its logs, so that whoever takes it up later goes on; a driver
//! that stayed would only hold the lock and the memory.

use super::Driver;
use deputize_core::id::Time;
use deputize_core::run::{self, RunState};

/// What the driver leaves for: the tree waits.
impl Driver {
    /// Whether nothing is under way and everything that is left waits for a provider; then until when.
    pub(super) fn parked(&self) -> Option<super::Halt> {
        let busy = self.nodes.values().any(|n| n.launched.values().any(Option::is_some));
        let find = |id: &deputize_core::id::RunId| self.nodes.get(id).map(|n| &n.state);
        if busy || !self.dirty.is_empty() || !run::is_parked(&self.root, &find) {
            return None;
        }
        let moments: Vec<Option<Time>> =
            self.nodes.values().map(|n| &n.state).flat_map(RunState::parked_steps).map(|(_, until)| until).collect();
        // None sorts first: what waits for nothing but a resume gets further at once.
        Some(super::Halt::Waiting { until: moments.into_iter().min().flatten() })
    }
}
