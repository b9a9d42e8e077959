//! The tree of the demo, stopped after every event that is appended: the same end each time, and no model call again
//! whose outcome was recorded.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use deputize::adapters::loader::{LoadRequest, Overrides, Setup, load};
use deputize::adapters::provider::Scripted;
use deputize::adapters::store::MemoryStore;
use deputize::adapters::tool::{BUILTIN, Builtin, FileTools};
use deputize::core::definition::Team;
use deputize::core::id::{RunId, Time};
use deputize::core::projection::Tree;
use deputize::core::run::Status;
use deputize::core::summary::{Summary, Terminal};
use deputize::runtime::port::{EventStore as _, Ids, Store};
use deputize::runtime::{Halt, Launch, TokioClock, World, resume, start};
use deputize_testkit::store::{CrashStore, Cut};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct OneId;
impl Ids for OneId {
    fn run(&self) -> RunId {
        RunId::new("r")
    }
}

fn setup() -> Setup {
    let review = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../teams/review");
    let script = Some(review.join("demo.script.yaml"));
    let overrides = Overrides { script, ..Overrides::default() };
    let workspace = Some(PathBuf::from("sample"));
    let tools = BUILTIN.iter().map(Builtin::spec).collect();
    let request = LoadRequest { cwd: review, workspace, overrides, tools, ..LoadRequest::default() };
    load(&request).setup.unwrap()
}

/// What one process holds; the store outlives it.
struct Process {
    team: Arc<Team>,
    model: Arc<Scripted>,
    world: World,
}

fn process(setup: &Setup, store: Arc<dyn Store>) -> Process {
    let script = setup.providers.values().find_map(|p| p.script.clone()).unwrap();
    let model = Arc::new(Scripted::load(&script).unwrap());
    let world = World {
        model: model.clone(),
        tools: Arc::new(FileTools::open(&setup.workspace).unwrap()),
        store,
        clock: Arc::new(TokioClock::at(Time(1_000_000))),
        ids: Arc::new(OneId),
    };
    Process { team: Arc::new(setup.team.clone()), model, world }
}

async fn begin(process: &Process) -> Option<Arc<Summary>> {
    let objective = "Review the files of this folder. We also want to know about performance.".to_string();
    let launch = Launch { team: process.team.clone(), setup: b"demo".to_vec(), objective, choices: Vec::new() };
    let ready = start(process.world.clone(), launch).await.ok()?;
    match ready.run().await {
        Ok(Halt::Finished(summary)) => Some(summary),
        _ => None,
    }
}

async fn tree(store: &MemoryStore) -> Tree {
    let mut logs = Vec::new();
    for head in store.tree(&RunId::new("r")).await.unwrap() {
        let log = store.read(&head.run, 0).await.unwrap();
        logs.push((head.run, log));
    }
    Tree::new(logs)
}

/// `run/label` of every model step with a final outcome.
fn recorded(tree: &Tree) -> BTreeSet<String> {
    let of = |run: &deputize::core::projection::RunView| {
        let done = run.state.steps().filter(|(_, s)| s.attempt > 0 && matches!(s.status, Status::Done(_)));
        done.map(|(label, _)| format!("{}/{label}", run.id)).collect::<Vec<_>>()
    };
    tree.runs().iter().flat_map(of).collect()
}

// covers F-05, L-62
#[tokio::test(start_paused = true)]
async fn the_demo_tree_survives_a_stop_after_every_event() {
    let setup = setup();
    let counter = Arc::new(CrashStore::new(MemoryStore::new(), Cut::Never));
    let whole = process(&setup, counter.clone());
    let want = begin(&whole).await.unwrap();
    assert_eq!((want.status, want.spent.runs), (Terminal::Succeeded, 6));
    for cut in 1..counter.events().await {
        let store = MemoryStore::new();
        let first = process(&setup, Arc::new(CrashStore::new(store.clone(), Cut::After(cut))));
        assert!(begin(&first).await.is_none_or(|s| s.status == want.status), "stopped after {cut}");
        drop(first);
        let before = recorded(&tree(&store).await);
        let second = process(&setup, Arc::new(store.clone()));
        let digest = deputize::core::digest::of_bytes(b"demo");
        let ready = resume(second.world.clone(), &RunId::new("r"), second.team.clone(), digest).await.unwrap();
        let Halt::Finished(got) = ready.run().await.unwrap() else { unreachable!("nobody interrupts it") };
        assert_eq!((got.status, &got.payload), (want.status, &want.payload), "stopped after {cut}");
        let calls = second.model.calls();
        let again: Vec<String> =
            calls.iter().map(|c| format!("{}/{}", c.run, c.label)).filter(|step| before.contains(step)).collect();
        assert_eq!(again, Vec::<String>::new(), "stopped after {cut}: made again though it was recorded");
    }
}
