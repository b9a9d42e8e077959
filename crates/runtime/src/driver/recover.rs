//! Taking a tree up: fold its logs, say what is in doubt, go on as if nothing had been. And how a new tree begins.

use super::{DriveError, Driver, PROGRAM_REV};
use deputize_core::event::Started;
use deputize_core::id::RunId;
use deputize_core::run::{Command, RunState};
use deputize_core::step::Ask;

impl Driver {
    /// A new tree: its root run with its first event.
    pub(crate) fn plant(&mut self, started: Started) {
        let root = self.root.clone();
        self.begin(root, started);
    }

    /// An existing tree: every run that is not over and that an open delegation leads to.
    pub(crate) async fn recover(&mut self) -> Result<(), DriveError> {
        let mut found = Vec::new();
        let mut todo = vec![self.root.clone()];
        while let Some(run) = todo.pop() {
            let log = self.world.store.read(&run, 0).await?;
            if log.is_empty() {
                if run == self.root {
                    return Err(DriveError::NoRun(run));
                }
                continue; // reserved in the parent, not created yet: launching does it
            }
            let state = RunState::fold(&log);
            let Some(started) = state.started() else { return Err(DriveError::NoStart(run)) };
            self.same(started)?;
            todo.extend(children(&state));
            found.push((run, state));
        }
        // The pause is the same for all: from the last event of the whole tree. What a run spent waiting before it counts.
        let last = found.iter().map(|(_, s)| s.latest()).max().unwrap_or_default();
        let idle = self.world.clock.now().since(last);
        for (run, state) in found {
            let now = state.latest().plus(idle);
            self.adopt(run.clone(), state);
            self.command(&run, Command::Recover { now });
            self.dirty.insert(run);
        }
        Ok(())
    }

    /// A run goes on only as what it was started as.
    fn same(&self, started: &Started) -> Result<(), DriveError> {
        let changed = |what| Err(DriveError::Changed { run: started.run.clone(), what });
        if started.team != self.team_blob {
            return changed("team");
        }
        if self.team.agents.get(&started.agent).is_none_or(|a| a.digest() != started.definition) {
            return changed("definition");
        }
        if started.program_rev != PROGRAM_REV { changed("program") } else { Ok(()) }
    }
}

/// The runs of the open delegations.
fn children(state: &RunState) -> Vec<RunId> {
    let Some(started) = state.started() else { return Vec::new() };
    let delegated =
        |l: &&deputize_core::id::Label| state.step(l).is_some_and(|s| matches!(&*s.ask, Ask::Delegate { .. }));
    state.open().into_iter().filter(delegated).map(|l| started.run.child(l)).collect()
}
