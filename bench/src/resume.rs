//! Taking up a tree that was under way everywhere when its driver died: a supervisor whose children all have long logs.

use crate::Plan;
use crate::longer::{Tail, longer};
use crate::measure::{Fault, Spread, Watch, interleaved, short};
use crate::scene::Scene;
use crate::stage;
use crate::table::Table;
use deputize_adapters::store::MemoryStore;
use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_core::digest;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::RunId;
use deputize_core::message::Request;
use deputize_core::run::RunState;
use deputize_runtime::port::{Append, Delta, Model, ModelFailure, Pending, Reply, Store, Who};
use deputize_runtime::resume;
use std::sync::Arc;
use tokio::sync::Notify;

/// A model that rings when it is called, and never answers.
#[derive(Default)]
struct Bell(Notify);

impl Model for Bell {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        self.0.notify_one();
        Box::pin(std::future::pending())
    }
}

/// A tree as it stands in a store when its driver has died.
struct Tree {
    logs: Vec<(RunId, Vec<Recorded>)>,
    events: usize,
}

impl Tree {
    /// All children are under way, each with so many turns behind it.
    fn of(scene: &Scene, turns: u64) -> Result<Tree, Fault> {
        let mut logs = Vec::new();
        for (at, (run, log)) in scene.logs.iter().enumerate() {
            let log = if at == 0 { delegated(log) } else { longer(log, turns, Tail::Asked)? };
            logs.push((run.clone(), log));
        }
        let events = logs.iter().map(|(_, log)| log.len()).sum();
        Ok(Tree { logs, events })
    }

    async fn keep(&self, store: &dyn Store) -> Result<(), Fault> {
        let root = RunId::new(stage::ROOT);
        let epoch = store.lease(&root).await?;
        for (run, log) in &self.logs {
            let batch = vec![Append { run: run.clone(), expected: 0, events: log.clone() }];
            store.append(&root, epoch, batch).await?;
        }
        Ok(())
    }
}

/// The supervisor's log until the first child has reported.
fn delegated(log: &[Recorded]) -> Vec<Recorded> {
    let back = |r: &&Recorded| !matches!(&r.event, Event::StepSucceeded { label, .. } if label.as_call().is_some());
    log.iter().take_while(back).cloned().collect()
}

#[derive(Clone, Copy)]
enum Kind {
    Memory,
    Sqlite,
}

/// Milliseconds.
struct Taken {
    /// Reading and decoding all logs.
    read: f64,
    /// Folding them.
    fold: f64,
    /// `resume`: lease, read, fold, doubts.
    ready: f64,
    /// From there until a model is called: the doubts are durable, the requests rendered.
    call: f64,
    /// CPU of both.
    cpu: f64,
}

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    let scene = Scene::supervisor(plan.size(20, 4), 3).await?;
    let tree = Tree::of(&scene, plan.size(125, 20))?;
    let kinds = [(Kind::Memory, "memory"), (Kind::Sqlite, "SQLite")];
    let run = async |(kind, _): (Kind, &str)| {
        let folder = plan.folder()?;
        let store: Arc<dyn Store> = match kind {
            Kind::Memory => Arc::new(MemoryStore::new()),
            Kind::Sqlite => Arc::new(SqliteStore::open(folder.path().join("store.sqlite3"), Sync::Full)?),
        };
        tree.keep(&*store).await?;
        take_up(&scene, store).await
    };
    let results = interleaved(plan.rounds, &kinds, run).await?;
    let head =
        ["store", "read all logs", "fold them", "`resume`", "then to the first model call", "CPU of both", "us/event"];
    let about = format!("A tree of {} events in {} runs, all under way. Milliseconds.", tree.events, tree.logs.len());
    let mut table = Table::new(about, &head);
    let events = f64::from(u32::try_from(tree.events)?);
    for ((_, name), rounds) in kinds.iter().zip(results) {
        let of = |part: fn(&Taken) -> f64| Spread::of(rounds.iter().map(part));
        let parts = [of(|t| t.read), of(|t| t.fold), of(|t| t.ready), of(|t| t.call), of(|t| t.cpu)];
        let each = short(of(|t| t.cpu).median * 1e3 / events);
        table.row([(*name).to_string()].into_iter().chain(parts.map(|part| part.to_string())).chain([each]));
    }
    Ok(vec![table])
}

async fn take_up(scene: &Scene, store: Arc<dyn Store>) -> Result<Taken, Fault> {
    let root = RunId::new(stage::ROOT);
    let watch = Watch::start();
    let logs = stage::logs(&*store).await?;
    let read = watch.stop().wall / 1e3;
    let watch = Watch::start();
    let states: Vec<RunState> = logs.iter().map(|(_, log)| RunState::fold(log)).collect();
    let fold = watch.stop().wall / 1e3;
    drop((logs, states));
    let bell = Arc::new(Bell::default());
    let world = stage::world(bell.clone(), store);
    let watch = Watch::start();
    let ready = resume(world, &root, scene.team.clone(), digest::of_bytes(b"{}")).await?;
    let until_ready = watch.stop().wall / 1e3;
    let handle = ready.go();
    bell.0.notified().await;
    let whole = watch.stop();
    handle.kill();
    Ok(Taken { read, fold, ready: until_ready, call: whole.wall / 1e3 - until_ready, cpu: whole.cpu / 1e3 })
}
