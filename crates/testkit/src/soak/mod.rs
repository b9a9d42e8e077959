//! A soak: random scripted trees with random faults, kills, cancels and messages, one after the other on a virtual clock.
//! Owns what is done to a tree and what must hold afterwards; everything follows from the number of the tree.

mod chaos;
mod dice;

use crate::group::Groups;
use crate::stage::{OneId, ROOT, team};
use chaos::Chaos;
use deputize_adapters::store::memory::MemoryStore;
use deputize_core::budget::Caps;
use deputize_core::definition::Team;
use deputize_core::digest;
use deputize_core::event::Event;
use deputize_core::id::{RunId, Time};
use deputize_core::run::RunState;
use deputize_runtime::port::EventStore;
use deputize_runtime::{Control, Halt, Handle, Launch, Live, Ready, TokioClock, World, resume, start};
use dice::Dice;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// What was done and seen.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Trees.
    pub trees: u64,
    /// Runs of all trees.
    pub runs: u64,
    /// Events in their logs.
    pub events: u64,
    /// Requests that models got.
    pub requests: u64,
    /// Of these, those that met a fault.
    pub faults: u64,
    /// Times a driver was killed or interrupted, and its tree taken up.
    pub resumes: u64,
    /// Cancels and messages.
    pub asked: u64,
    /// Process groups that tools started.
    pub processes: usize,
    /// Open file handles (Linux) before the first tree and after the last.
    pub handles: (usize, usize),
    /// Resident pages (Linux) after the 100th tree (0 if there was none) and after the last.
    pub resident: (u64, u64),
}

/// Something that is done to a tree.
#[derive(Clone, Copy, Debug)]
enum Blow {
    Kill,
    Interrupt,
    CancelRoot,
    CancelSome,
    Say,
}

/// What is known of the tree that is under way.
struct Tree {
    seed: u64,
    world: World,
    team: Arc<Team>,
    model: Arc<Chaos>,
    tools: Groups,
    store: MemoryStore,
    blows: VecDeque<(u64, Blow)>,
    seen: Vec<RunId>,
}

/// Runs so many trees.
///
/// # Errors
/// What does not hold, and the number of the tree.
pub async fn soak(trees: u64) -> Result<Figures, String> {
    let mut figures = Figures { handles: (handles(), 0), ..Figures::default() };
    for seed in 0..trees {
        let tree = Tree::new(seed);
        let limit = Duration::from_secs(24 * 3_600);
        let ended = tokio::time::timeout(limit, tree.live(&mut figures)).await;
        ended.unwrap_or_else(|_| Err("it does not end".into())).map_err(|why| format!("tree {seed}: {why}"))?;
        figures.trees += 1;
        if figures.trees == 100 {
            figures.resident.0 = resident();
        }
    }
    (figures.handles.1, figures.resident.1) = (handles(), resident());
    Ok(figures)
}

fn random_team(dice: &mut Dice) -> Team {
    let mut team = team(&[("lead", &["mid", "leaf"]), ("mid", &["leaf"]), ("leaf", &[])]);
    for agent in team.agents.values_mut() {
        agent.budget = Caps { turns: Some(1 + dice.below(4)), children: Some(1 + dice.below(4)), ..Caps::default() };
        agent.budget.time = (dice.below(3) == 0).then(|| 5_000 + dice.below(60_000));
    }
    team.budget.concurrency = u32::try_from(1 + dice.below(4)).unwrap_or(1);
    team.budget.tree.tokens = Some(5_000 + dice.below(200_000));
    team.budget.tree.time = Some(20_000 + dice.below(100_000));
    team.tool_timeout.default = 1_000 + dice.below(4_000);
    team
}

impl Tree {
    fn new(seed: u64) -> Tree {
        let mut dice = Dice::of(seed, "tree");
        let (model, tools, store) = (Arc::new(Chaos::new(seed)), Groups::default(), MemoryStore::new());
        let world = World {
            model: model.clone(),
            tools: Arc::new(tools.clone()),
            store: Arc::new(store.clone()),
            clock: Arc::new(TokioClock::at(Time(1_000_000))),
            ids: Arc::new(OneId),
        };
        let team = Arc::new(random_team(&mut dice));
        let all = [Blow::Kill, Blow::Kill, Blow::Interrupt, Blow::CancelRoot, Blow::CancelSome, Blow::Say];
        let blow = |dice: &mut Dice| {
            let at = usize::try_from(dice.below(all.len() as u64)).unwrap_or(0);
            (1 + dice.below(25), all.get(at).copied().unwrap_or(Blow::Kill))
        };
        let blows = (0..dice.below(5)).map(|_| blow(&mut dice)).collect();
        Tree { seed, world, team, model, tools, store, blows, seen: vec![RunId::new(ROOT)] }
    }

    async fn ready(&self) -> Result<Ready, String> {
        let root = RunId::new(ROOT);
        let ready = if self.store.read(&root, 0).await.map_err(|e| e.to_string())?.is_empty() {
            let (team, setup, objective) = (self.team.clone(), b"{}".to_vec(), "do the work".to_string());
            start(self.world.clone(), Launch { team, setup, objective, choices: Vec::new() }).await
        } else {
            resume(self.world.clone(), &root, self.team.clone(), digest::of_bytes(b"{}")).await
        };
        ready.map_err(|e| e.to_string())
    }

    async fn live(mut self, figures: &mut Figures) -> Result<(), String> {
        loop {
            let ready = self.ready().await?;
            let mut live = ready.watch();
            let handle = ready.go();
            match self.until_blow(handle, &mut live, figures).await? {
                Some(Halt::Finished(_)) => break,
                Some(Halt::Interrupted | Halt::Waiting { .. }) | None => {
                    figures.resumes += 1;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
        self.check(figures).await
    }

    /// Until the tree is over, or its driver has been ended: then there may be no halt.
    async fn until_blow(
        &mut self,
        handle: Handle,
        live: &mut Receiver<Live>,
        figures: &mut Figures,
    ) -> Result<Option<Halt>, String> {
        while let Some((after, blow)) = self.blows.pop_front() {
            // A tree that was over before its driver was killed has nothing more to show.
            if self.is_over().await || self.watch(live, after).await {
                break;
            }
            let pick = Dice::of(self.seed, &format!("some {after}")).below(self.seen.len() as u64);
            let some = self.seen.get(usize::try_from(pick).unwrap_or(0)).cloned();
            let run = some.unwrap_or_else(|| RunId::new(ROOT));
            let by = "the soak".to_string();
            match blow {
                Blow::Kill => {
                    handle.kill();
                    return Ok(None);
                }
                Blow::Interrupt => {
                    handle.control(Control::Interrupt);
                    break;
                }
                Blow::CancelRoot => handle.control(Control::Cancel { run: RunId::new(ROOT), by }),
                Blow::CancelSome => handle.control(Control::Cancel { run, by }),
                Blow::Say => handle.say(&run, "hurry up", &by),
            }
            figures.asked += 1;
        }
        handle.wait().await.map(Some).map_err(|e| e.to_string())
    }

    async fn is_over(&self) -> bool {
        let heads = self.store.tree(&RunId::new(ROOT)).await.unwrap_or_default();
        heads.first().is_some_and(|root| root.status.is_some())
    }

    /// Until so many events were seen; whether the root is over.
    async fn watch(&mut self, live: &mut Receiver<Live>, events: u64) -> bool {
        let mut count = 0;
        while count < events {
            match live.recv().await {
                Ok(Live::Event { run, record, .. }) => {
                    count += 1;
                    if matches!(record.event, Event::RunFinished { .. }) && run.as_str() == ROOT {
                        return true;
                    }
                    if record.seq == 0 && !self.seen.contains(&run) {
                        self.seen.push(run);
                    }
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return true,
            }
        }
        false
    }

    /// What must hold of a tree that is over.
    async fn check(&self, figures: &mut Figures) -> Result<(), String> {
        for head in self.store.tree(&RunId::new(ROOT)).await.map_err(|e| e.to_string())? {
            let log = self.store.read(&head.run, 0).await.map_err(|e| e.to_string())?;
            let mut state = RunState::default();
            for record in &log {
                state.evolve(record);
                let ledger = state.ledger();
                let taken = ledger.spent.usage.tokens().saturating_add(ledger.reserved.tokens);
                if taken > ledger.cap.tokens.saturating_add(ledger.excess) {
                    return Err(format!("{} at {}: {taken} tokens of {}", head.run, record.seq, ledger.cap.tokens));
                }
            }
            if state.summary().is_none() || !state.open().is_empty() {
                return Err(format!("{} has no summary, or open steps: {:?}", head.run, state.open()));
            }
            figures.runs += 1;
            figures.events += log.len() as u64;
        }
        let seen = self.model.seen();
        if let Some(why) = seen.invalid {
            return Err(format!("a request is not valid: {why}"));
        }
        figures.requests += seen.requests;
        figures.faults += seen.faults;
        figures.processes += self.tools.started().len();
        self.gone().await
    }

    /// A killed process may need a moment to be gone; the clock is virtual, so the moment is one of the machine's.
    async fn gone(&self) -> Result<(), String> {
        if self.tools.started().is_empty() {
            return Ok(());
        }
        let begun = std::time::Instant::now();
        while self.tools.alive() > 0 {
            if begun.elapsed() > Duration::from_secs(30) {
                return Err(format!("processes are left: {:?}", self.tools.started()));
            }
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}

fn handles() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0)
}
