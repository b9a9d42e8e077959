//! Taking a tree up: fold its logs, say what is in doubt, go on as if nothing had been. And how a new tree begins.

use super::{DriveError, Driver, PROGRAM_REV};
use deputize_core::definition::Definition;
use deputize_core::event::Started;
use deputize_core::id::{AgentName, RunId};
use deputize_core::run::{Command, RunState};
use deputize_core::step::Ask;

impl Driver {
    /// A new tree: its root run with its first event.
    pub(crate) fn plant(&mut self, started: Started) {
        let root = self.root.clone();
        self.begin(root, started);
    }

    /// An existing tree: every run that is not over and that an open delegation leads to. With `adopt`, the name of who
    /// asks, they take this driver's team on, and that is durable before anything follows from it.
    pub(crate) async fn recover(&mut self, adopt: Option<&str>) -> Result<(), DriveError> {
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
            // One that is over only has to report; what it was stays as it was.
            if state.summary().is_none() {
                self.same(started, adopt.is_some())?;
                self.reserved(&state)?;
            }
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
            if let Some(by) = adopt {
                self.take_on(&run, by);
            }
            self.dirty.insert(run);
        }
        if adopt.is_some() { self.flush().await } else { Ok(()) }
    }

    fn take_on(&mut self, run: &RunId, by: &str) {
        let started = self.nodes.get(run).and_then(|node| node.state.started());
        let Some(definition) = started.and_then(|s| self.team.agents.get(&s.agent)).map(Definition::digest) else {
            return;
        };
        let (by, team) = (by.to_string(), self.team_blob.clone());
        self.command(run, Command::Adopt { by, team, definition });
    }

    /// A run goes on only as what it was started as, or as what it is asked to be from now on.
    fn same(&self, started: &Started, adopting: bool) -> Result<(), DriveError> {
        let changed = |what| Err(DriveError::Changed { run: started.run.clone(), what });
        if started.program_rev != PROGRAM_REV {
            return changed("program");
        }
        let Some(agent) = self.team.agents.get(&started.agent) else {
            return self.gone(&started.run, &started.agent);
        };
        if adopting {
            return Ok(());
        }
        if started.team != self.team_blob {
            return changed("team");
        }
        if agent.digest() != started.definition { changed("definition") } else { Ok(()) }
    }

    /// The agents of open delegations are there.
    fn reserved(&self, state: &RunState) -> Result<(), DriveError> {
        let Some(started) = state.started() else { return Ok(()) };
        for label in state.open() {
            let delegation = state.step(label).and_then(|step| step.delegation.as_ref());
            if let Some(to) = delegation.map(|d| &d.to).filter(|to| !self.team.agents.contains_key(*to)) {
                return self.gone(&started.run.child(label), to);
            }
        }
        Ok(())
    }

    fn gone(&self, run: &RunId, agent: &AgentName) -> Result<(), DriveError> {
        Err(DriveError::Gone { run: run.clone(), agent: agent.clone() })
    }
}

/// The runs of the open delegations.
fn children(state: &RunState) -> Vec<RunId> {
    let Some(started) = state.started() else { return Vec::new() };
    let delegated =
        |l: &&deputize_core::id::Label| state.step(l).is_some_and(|s| matches!(&*s.ask, Ask::Delegate { .. }));
    state.open().into_iter().filter(delegated).map(|l| started.run.child(l)).collect()
}
