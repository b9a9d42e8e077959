//! Settling: advance every run that something happened to until nothing more follows, make it durable in one append,
//! then launch what was started, stop what nobody waits for, hand finished children to their parents.

use super::{DriveError, Driver, Node};
use crate::live::Live;
use crate::port::Append;
use deputize_core::budget::Spend;
use deputize_core::code;
use deputize_core::context;
use deputize_core::definition::Definition;
use deputize_core::event::{Event, Started};
use deputize_core::id::{Label, RunId};
use deputize_core::run::{Command, Delivery, Next, RunState, Status, stopped};
use deputize_core::step::Delegation;
use deputize_core::summary::Summary;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Revision of the labels that the programs of this build use; a log of another revision is not taken up.
pub(crate) const PROGRAM_REV: u32 = 1;

impl Driver {
    pub(super) async fn settle(&mut self) -> Result<(), DriveError> {
        while !self.dirty.is_empty() {
            let runs: Vec<RunId> = std::mem::take(&mut self.dirty).into_iter().collect();
            for run in &runs {
                for label in self.advance(run) {
                    self.stop(run, &label);
                }
            }
            self.flush().await?;
            for run in &runs {
                self.report(run).await?;
                self.launch(run);
            }
            self.hand_slots_on();
        }
        while self.tasks.try_join_next().is_some() {}
        Ok(())
    }

    /// Until quiet: what follows may make more follow, with nothing from the world. Returns the steps to stop.
    fn advance(&mut self, run: &RunId) -> Vec<Label> {
        loop {
            let Some(node) = self.nodes.get_mut(run) else { return Vec::new() };
            let next = match &node.abandoned {
                Some((code, why)) => node.state.abandon(code.clone(), why.clone()),
                None => match catch_unwind(AssertUnwindSafe(|| node.state.advance(&self.team))) {
                    Ok(next) => next,
                    Err(_) => {
                        node.abandoned = Some((code::RUN_PANICKED, "the program of this run broke down".into()));
                        continue;
                    }
                },
            };
            let Next { mut events, stop } = next;
            // Any prefix of what follows may be appended; a run's own work follows once the run holds a slot.
            let work = events.iter().position(|event| is_work(event) || (self.still && is_start(event)));
            let waits = work.filter(|_| self.still || !self.slots.enter(run));
            if let Some(at) = waits {
                events.truncate(at);
            }
            let more = !events.is_empty() && waits.is_none();
            self.record(run, events);
            if !more {
                return stop;
            }
        }
    }

    /// A command for one run: its events are folded and wait for the next append.
    pub(super) fn command(&mut self, run: &RunId, command: Command) {
        let Some(node) = self.nodes.get(run) else { return };
        let now = self.world.clock.now();
        // What a model or a tool gave goes through validators here: one that breaks down ends its run, not the tree.
        match catch_unwind(AssertUnwindSafe(|| node.state.decide(&self.team, now, command))) {
            Ok(events) if events.is_empty() => {}
            Ok(events) => {
                self.record(run, events);
                self.dirty.insert(run.clone());
            }
            Err(_) => self.abandon(run, code::RUN_PANICKED, "an outcome of this run broke its checks".into()),
        }
    }

    /// Makes everything that was recorded durable, and shows it to observers.
    pub(super) async fn flush(&mut self) -> Result<(), DriveError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let batch: Vec<Append> = std::mem::take(&mut self.pending).into_values().collect();
        let watched = self.live.receiver_count() > 0;
        let shown = if watched { batch.clone() } else { Vec::new() };
        self.world.store.append(&self.root, self.epoch, batch).await?;
        for append in shown {
            let Some(started) = self.nodes.get(&append.run).and_then(|n| n.state.started()) else { continue };
            let path = started.path.clone();
            for record in append.events {
                let (run, path, record) = (append.run.clone(), path.clone(), Arc::new(record));
                // Fails only when the last observer has just gone.
                drop(self.live.send(Live::Event { run, path, record }));
            }
        }
        Ok(())
    }

    /// A run that is over reports to its parent.
    async fn report(&mut self, run: &RunId) -> Result<(), DriveError> {
        let Some(node) = self.nodes.get(run) else { return Ok(()) };
        let (Some(summary), Some(started)) = (node.state.summary(), node.state.started()) else { return Ok(()) };
        let Some((parent, label)) = started.parent.clone() else { return Ok(()) };
        let summary = summary.clone();
        let open = self.nodes.get(&parent).and_then(|p| p.state.step(&label)).map(|s| s.attempt);
        if let Some(attempt) = open {
            let value = self.with_artifact(&summary).await?;
            let (delivery, spent) = (Delivery::Child(value), Spend::default());
            if let Some(node) = self.nodes.get_mut(&parent) {
                node.launched.remove(&label);
            }
            self.command(&parent, Command::Deliver { label, attempt, delivery, spent });
        }
        self.slots.leave(run);
        self.nodes.remove(run);
        Ok(())
    }

    /// A payload that is too long for its parent's request is kept whole beside the log.
    async fn with_artifact(&self, summary: &Arc<Summary>) -> Result<serde_json::Value, DriveError> {
        let text = serde_json::to_vec(&summary.payload).unwrap_or_default();
        let mut summary = Summary::clone(summary);
        if context::tokens(text.len()) > self.team.output_limits.child_summary {
            let len = text.len() as u64;
            let sha256 = self.world.store.put(text).await?;
            summary.artifact = Some(deputize_core::message::BlobRef { sha256, len });
        }
        Ok(serde_json::to_value(summary).unwrap_or_default())
    }

    /// Stops a step that nobody waits for: a child is cancelled, everything else is dropped and answered.
    fn stop(&mut self, run: &RunId, label: &Label) {
        // What has landed by now is recorded as it is: it was paid.
        while let Ok(landed) = self.landed.try_recv() {
            self.land_one(landed);
        }
        let Some(node) = self.nodes.get_mut(run) else { return };
        let Some(step) = node.state.step(label).filter(|s| s.status == Status::Open) else { return };
        let (attempt, expired) = (step.attempt, node.state.expired());
        if let Some(delegation) = step.delegation.clone() {
            // A child that was reserved but never created is created and cancelled: each delegation has one summary.
            self.open_child(run, label, &delegation);
            let by = format!("its parent {run}");
            let end = if expired { Command::Expire { by } } else { Command::Cancel { by } };
            self.command(&run.child(label), end);
            return;
        }
        if let Some(Some(task)) = node.launched.remove(label) {
            task.abort();
        }
        let delivery = Delivery::Failure(stopped());
        self.command(run, Command::Deliver { label: label.clone(), attempt, delivery, spent: Spend::default() });
    }

    /// Launches every open step of a run that this process has not launched yet, in order of their start.
    fn launch(&mut self, run: &RunId) {
        let Some(node) = self.nodes.get(run) else { return };
        let new: Vec<Label> =
            node.state.open().into_iter().filter(|l| !node.launched.contains_key(*l)).cloned().collect();
        for label in new {
            let Some(step) = self.nodes.get(run).and_then(|n| n.state.step(&label)) else { continue };
            match step.delegation.clone() {
                Some(delegation) => self.open_child(run, &label, &delegation),
                None => self.perform(run, &label),
            }
        }
    }

    fn mark(&mut self, run: &RunId, label: &Label) {
        if let Some(node) = self.nodes.get_mut(run) {
            node.launched.insert(label.clone(), None);
        }
    }

    /// A delegation that has no log yet gets one; its first event is a function of the parent's start event.
    fn open_child(&mut self, run: &RunId, label: &Label, delegation: &Arc<Delegation>) {
        self.mark(run, label);
        let child = run.child(label);
        if self.nodes.contains_key(&child) {
            return;
        }
        let Some(parent) = self.nodes.get(run).and_then(|n| n.state.started()) else { return };
        // Another one than was recorded only when the tree has adopted it since.
        let definition = self.team.agents.get(&delegation.to).map(Definition::digest);
        let started = Started {
            run: child.clone(),
            parent: Some((run.clone(), label.clone())),
            agent: delegation.to.clone(),
            path: delegation.path.clone(),
            depth: parent.depth + 1,
            brief: delegation.brief.clone(),
            model: delegation.model.clone(),
            role: delegation.role.clone(),
            definition: definition.unwrap_or_else(|| delegation.definition.clone()),
            team: self.team_blob.clone(),
            team_name: parent.team_name.clone(),
            program_rev: PROGRAM_REV,
            choices: Vec::new(),
        };
        self.begin(child, started);
    }

    /// A new run with its first event.
    pub(super) fn begin(&mut self, run: RunId, started: Started) {
        self.adopt(run.clone(), RunState::default());
        self.record(&run, vec![Event::RunStarted(Box::new(started))]);
        self.dirty.insert(run);
    }

    pub(super) fn adopt(&mut self, run: RunId, state: RunState) {
        self.nodes.insert(run, Node { state, launched: BTreeMap::new(), abandoned: None });
    }

    /// Runs that have nothing of their own under way give their slots to those that wait in line.
    fn hand_slots_on(&mut self) {
        for run in self.slots.holders() {
            let busy = self.nodes.get(&run).is_some_and(|n| n.launched.values().any(Option::is_some));
            if !busy && !self.dirty.contains(&run) {
                self.slots.leave(&run);
            }
        }
        while let Some(run) = self.slots.next() {
            self.dirty.insert(run);
        }
    }

    /// The run cannot go on.
    pub(super) fn abandon(&mut self, run: &RunId, code: code::Code, why: String) {
        if let Some(node) = self.nodes.get_mut(run) {
            node.abandoned = Some((code, why));
            self.dirty.insert(run.clone());
        }
    }
}

fn is_start(event: &Event) -> bool {
    matches!(event, Event::StepStarted(_))
}

/// Whether an event starts work of the run itself, which needs a slot.
fn is_work(event: &Event) -> bool {
    matches!(event, Event::StepStarted(start) if start.delegation.is_none())
}
