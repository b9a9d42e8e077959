//! The driver of one tree: it advances runs, appends what follows, performs what is started, delivers what lands.
//! It holds only what it has launched in this process; everything else is in the logs. One driver a tree, under a lease.
//!
//! It owns the order of effects and slots; it does not own what is allowed, retried, repaired or reserved (the core does).

mod park;
mod perform;
mod recover;
mod settle;
mod slots;

use crate::live::Live;
use crate::port::{Append, Clock, Ids, Model, Signal, Store, StoreError, Tools, Waiting};
use deputize_core::budget::Spend;
use deputize_core::code::Code;
use deputize_core::definition::Team;
use deputize_core::event::{Event, Recorded, VERSION};
use deputize_core::id::{AgentName, Digest, Label, RunId, Time};
use deputize_core::run::{Command, Delivery, RunState};
use deputize_core::step::Note;
use deputize_core::summary::Summary;
pub(crate) use settle::PROGRAM_REV;
use slots::Slots;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::{broadcast, mpsc};
use tokio::task::{AbortHandle, JoinSet};

/// How often signals from other processes are looked for, in milliseconds.
const SIGNALS_EVERY: u64 = 250;
/// How long running steps may go on after an interrupt, in milliseconds.
const GRACE: u64 = 1_000;

/// Everything outside the core.
#[derive(Clone)]
pub struct World {
    /// Model providers.
    pub model: Arc<dyn Model>,
    /// Tools.
    pub tools: Arc<dyn Tools>,
    /// Logs and blobs.
    pub store: Arc<dyn Store>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids of new trees.
    pub ids: Arc<dyn Ids>,
}

/// Why a driver stopped.
#[derive(Clone, Debug)]
pub enum Halt {
    /// The root run is over.
    Finished(Arc<Summary>),
    /// It was interrupted; a resume goes on.
    Interrupted,
    /// Everything that is left of it waits for a provider; nothing was under way. A resume goes on.
    Waiting {
        /// The first moment at which a resume gets further; none: at any.
        until: Option<Time>,
    },
}

/// Why a driver had to give up. The logs are as they were at the last append.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Nothing may happen that cannot be recorded.
    #[error("the log cannot be written, so nothing more is done: {0}")]
    Store(#[from] StoreError),
    /// There is no such run.
    #[error("there is no run {0}")]
    NoRun(RunId),
    /// The run was started with another team, another definition or another revision of its program.
    #[error("run {run} cannot be taken up: its {what} is not the one it was started with")]
    Changed {
        /// The run.
        run: RunId,
        /// What differs.
        what: &'static str,
    },
    /// An agent that the tree still needs is not there any more.
    #[error("run {run} cannot go on with these definitions: its agent {agent} is not among them")]
    Gone {
        /// The run; one that is only reserved, too.
        run: RunId,
        /// Its agent.
        agent: AgentName,
    },
    /// A fault of the driver itself; the log is intact.
    #[error("the driver broke down: {0}")]
    Broken(String),
    /// The log is not one of a run.
    #[error("the log of {0} does not begin with the start of a run")]
    NoStart(RunId),
}

/// What an operator or another process asks of a running driver.
#[derive(Clone, Debug)]
pub enum Control {
    /// Nothing new starts; running steps get a second; then the driver stops.
    Interrupt,
    /// End this run and all below it.
    Cancel {
        /// The run.
        run: RunId,
        /// Who asks.
        by: String,
    },
    /// Say this to the model of a run: it is read before the next turn, after the results of the one under way. What is
    /// said during a last answer makes another turn follow; what comes after the end, or during a last synthesis, is too
    /// late and changes nothing.
    Say {
        /// The run.
        run: RunId,
        /// What.
        text: String,
        /// Who.
        by: String,
    },
}

/// What comes back from a performed step.
enum Landed {
    Ended { run: RunId, label: Label, attempt: u32, delivery: Delivery, spent: Spend },
    Prepared { run: RunId, label: Label, attempt: u32, note: Note },
}

/// One run of the tree in this process.
struct Node {
    state: RunState,
    /// Steps that this process has launched: tasks for models and tools, none for children.
    launched: BTreeMap<Label, Option<AbortHandle>>,
    /// The run cannot go on: its program broke down, or a request came out with other bytes.
    abandoned: Option<(Code, String)>,
}

/// The driver.
pub(crate) struct Driver {
    world: World,
    team: Arc<Team>,
    team_blob: Digest,
    root: RunId,
    epoch: u64,
    nodes: BTreeMap<RunId, Node>,
    dirty: BTreeSet<RunId>,
    slots: Slots,
    landed: mpsc::UnboundedReceiver<Landed>,
    land: mpsc::UnboundedSender<Landed>,
    control: mpsc::UnboundedReceiver<Control>,
    live: broadcast::Sender<Live>,
    pending: BTreeMap<RunId, Append>,
    tasks: JoinSet<()>,
    /// Nothing of the tree's own is started: only what somebody asked for is done.
    still: bool,
}

impl Driver {
    pub(crate) fn new(
        world: World,
        team: Arc<Team>,
        team_blob: Digest,
        root: RunId,
        epoch: u64,
        control: mpsc::UnboundedReceiver<Control>,
        live: broadcast::Sender<Live>,
    ) -> Driver {
        let (land, landed) = mpsc::unbounded_channel();
        let slots = Slots::new(team.budget.concurrency);
        Driver {
            world,
            team,
            team_blob,
            root,
            epoch,
            nodes: BTreeMap::new(),
            dirty: BTreeSet::new(),
            slots,
            landed,
            land,
            control,
            live,
            pending: BTreeMap::new(),
            tasks: JoinSet::new(),
            still: false,
        }
    }

    /// Drives the tree until its root is over or it is interrupted.
    pub(crate) async fn drive(mut self) -> Result<Halt, DriveError> {
        let halt = self.work().await;
        self.quiet().await;
        halt
    }

    async fn work(&mut self) -> Result<Halt, DriveError> {
        // What was asked for while nobody drove the tree takes effect before anything starts.
        self.signals().await?;
        let mut poll = self.world.clock.now().plus(SIGNALS_EVERY);
        let mut deaf = false;
        loop {
            self.settle().await?;
            if let Some(summary) = self.nodes.get(&self.root).and_then(|n| n.state.summary()) {
                return Ok(Halt::Finished(summary.clone()));
            }
            if let Some(halt) = self.parked() {
                match self.control.try_recv() {
                    Ok(Control::Interrupt) | Err(_) => return Ok(halt),
                    Ok(Control::Cancel { run, by }) => self.cancel(&run, &by),
                    Ok(Control::Say { run, text, by }) => self.command(&run, Command::Say { text, by }),
                }
                continue;
            }
            let wake = self.nodes.values().filter_map(|n| n.state.wake_at()).min();
            let until = wake.map_or(poll, |w| w.min(poll));
            tokio::select! {
                biased;
                Some(landed) = self.landed.recv() => self.take(landed),
                control = self.control.recv(), if !deaf => match control {
                    Some(Control::Interrupt) => return self.interrupt().await,
                    Some(Control::Cancel { run, by }) => self.cancel(&run, &by),
                    Some(Control::Say { run, text, by }) => self.command(&run, Command::Say { text, by }),
                    None => deaf = true, // nobody holds the handle any more; the tree goes on
                },
                () = self.world.clock.sleep_until(until) => self.wake(),
            }
            if self.world.clock.now() >= poll {
                self.signals().await?;
                poll = self.world.clock.now().plus(SIGNALS_EVERY);
            }
        }
    }

    /// Numbers events, folds them, and queues them for the next append. Nothing is performed before that append is durable;
    /// if it fails, this driver ends and its states with it.
    fn record(&mut self, run: &RunId, events: Vec<Event>) {
        let Some(node) = self.nodes.get_mut(run) else { return };
        let at = self.world.clock.now();
        for event in events {
            let record = Recorded { v: VERSION, seq: node.state.next_seq(), at, event };
            let fresh = || Append { run: run.clone(), expected: record.seq, events: Vec::new() };
            node.state.evolve(&record);
            self.pending.entry(run.clone()).or_insert_with(fresh).events.push(record);
        }
    }

    fn take(&mut self, landed: Landed) {
        self.land_one(landed);
        while let Ok(more) = self.landed.try_recv() {
            self.land_one(more);
        }
    }

    fn land_one(&mut self, landed: Landed) {
        match landed {
            Landed::Ended { run, label, attempt, delivery, spent } => {
                if let Some(node) = self.nodes.get_mut(&run) {
                    node.launched.remove(&label);
                }
                self.command(&run, Command::Deliver { label, attempt, delivery, spent });
                self.dirty.insert(run);
            }
            Landed::Prepared { run, label, attempt, note } => {
                if let Some(node) = self.nodes.get_mut(&run) {
                    node.launched.remove(&label);
                }
                self.command(&run, Command::Prepare { label, attempt, note });
                self.dirty.insert(run);
            }
        }
    }

    pub(crate) fn hold_still(&mut self) {
        self.still = true;
    }

    pub(crate) fn cancel(&mut self, run: &RunId, by: &str) {
        self.command(run, Command::Cancel { by: by.to_string() });
    }

    /// Wakes the runs whose moment has come.
    fn wake(&mut self) {
        let now = self.world.clock.now();
        let due = |n: &&Node| n.state.wake_at().is_some_and(|at| at <= now);
        let runs: Vec<RunId> =
            self.nodes.values().filter(due).filter_map(|n| Some(n.state.started()?.run.clone())).collect();
        for run in runs {
            self.command(&run, Command::Wake { now });
        }
    }

    /// Takes up what other processes asked for. A signal is acknowledged once what it asked for is durable; one for a run
    /// that is about to exist is looked at again.
    async fn signals(&mut self) -> Result<(), DriveError> {
        let mut heard = Vec::new();
        for Waiting { id, signal } in self.world.store.signals(&self.root).await? {
            match signal {
                Signal::Cancel { run, .. } | Signal::Say { run, .. }
                    if !self.nodes.contains_key(&run) && self.is_reserved(&run) =>
                {
                    continue;
                }
                Signal::Cancel { run, by } => self.cancel(&run, &by),
                Signal::Say { run, text, by } => self.command(&run, Command::Say { text, by }),
            }
            heard.push(id);
        }
        if !heard.is_empty() {
            self.flush().await?;
            self.world.store.acknowledge(&self.root, heard).await?;
        }
        Ok(())
    }

    /// Whether an open delegation leads to this run or to one above it.
    fn is_reserved(&self, run: &RunId) -> bool {
        let leads = |node: &Node| {
            let Some(started) = node.state.started() else { return false };
            let open = node.state.open().into_iter().map(|l| started.run.child(l));
            open.filter(|child| !self.nodes.contains_key(child))
                .any(|child| run == &child || run.as_str().starts_with(&format!("{child}/")))
        };
        self.nodes.values().any(leads)
    }

    /// Nothing new starts; what lands within the grace is recorded as it lands, what does not is recorded as interrupted.
    async fn interrupt(&mut self) -> Result<Halt, DriveError> {
        let until = self.world.clock.now().plus(GRACE);
        while self.nodes.values().any(|n| n.launched.values().any(Option::is_some)) {
            tokio::select! {
                biased;
                Some(landed) = self.landed.recv() => {
                    self.take(landed);
                    self.flush().await?;
                }
                () = self.world.clock.sleep_until(until) => break,
            }
        }
        self.abort_all();
        let runs: Vec<RunId> = self.nodes.keys().cloned().collect();
        for run in runs {
            self.command(&run, Command::Interrupt);
        }
        self.flush().await?;
        Ok(Halt::Interrupted)
    }

    /// Waits until everything that was stopped is gone, its processes included; what does not let itself be stopped is left
    /// behind after the grace.
    async fn quiet(&mut self) {
        self.abort_all();
        let until = self.world.clock.now().plus(GRACE);
        loop {
            tokio::select! {
                biased;
                gone = self.tasks.join_next() => if gone.is_none() { return },
                () = self.world.clock.sleep_until(until) => return,
            }
        }
    }

    fn abort_all(&mut self) {
        for task in self.nodes.values_mut().flat_map(|n| std::mem::take(&mut n.launched).into_values().flatten()) {
            task.abort();
        }
    }
}
