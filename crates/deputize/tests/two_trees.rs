//! Two trees of one process on one store: each runs to its end, under its own root, with its own workspace.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use deputize::adapters::ids::RandomIds;
use deputize::adapters::loader::{LoadRequest, load};
use deputize::adapters::provider::Scripted;
use deputize::adapters::provider::scripted::Script;
use deputize::adapters::store::sqlite::{SqliteStore, Sync};
use deputize::adapters::tool::{BUILTIN, Builtin, FileTools};
use deputize::core::definition::Team;
use deputize::core::id::{ModelName, RunId};
use deputize::core::summary::Summary;
use deputize::runtime::port::EventStore as _;
use deputize::runtime::{Halt, Launch, Ready, TokioClock, World, start};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;

const SCRIPT: &str = "
lead:
  - calls: [{read_file: {path: own.txt}}, {delegate: {agent: kid, objective: look}}]
  - calls: [{write_file: {path: out.txt, content: done}}, {read_file: {path: ../other/own.txt}}]
  - text: over
lead/kid:
  - calls: [{read_file: {path: own.txt}}, {ls: {path: .}}]
  - text: seen
";

/// A folder with two agents and a file of its own.
fn team(folder: &Path, own: &str) -> Team {
    std::fs::create_dir_all(folder.join("agents")).unwrap();
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
    write("own.txt", own);
    write("deputize.yaml", "profile: assisted\nroot: lead\n");
    let tools = "tools: [ls, read_file, write_file]\n";
    write("agents/lead.md", &format!("---\nname: lead\ndescription: Leads.\n{tools}agents: [kid]\n---\nLead.\n"));
    write("agents/kid.md", &format!("---\nname: kid\ndescription: Looks.\n{tools}---\nLook.\n"));
    let tools = BUILTIN.iter().map(Builtin::spec).collect();
    let loaded = load(&LoadRequest { cwd: folder.to_path_buf(), tools, ..LoadRequest::default() });
    let mut team = loaded.setup.unwrap().team;
    team.models.roles.insert("default".into(), ModelName::new("scripted:any"));
    team
}

struct Run {
    root: RunId,
    model: Arc<Scripted>,
    summary: Arc<Summary>,
}

async fn ready(folder: &Path, own: &str, store: &SqliteStore) -> (Ready, Arc<Scripted>) {
    let team = team(folder, own);
    let model = Arc::new(Scripted::new(Script::parse("inline", SCRIPT).unwrap()));
    let world = World {
        model: model.clone(),
        tools: Arc::new(FileTools::open(folder).unwrap()),
        store: Arc::new(store.clone()),
        clock: Arc::new(TokioClock::system()),
        ids: Arc::new(RandomIds),
    };
    let team = Arc::new(team);
    let launch = Launch { team, setup: Vec::new(), objective: "look".into(), choices: Vec::new() };
    (start(world, launch).await.unwrap(), model)
}

// covers S-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_trees_at_once_do_not_see_each_other() {
    let place = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(place.path().join("store.sqlite3"), Sync::Normal).unwrap();
    let at_once = Arc::new(Barrier::new(2));
    let run = |name: &'static str| {
        let (folder, store, at_once) = (place.path().join(name), store.clone(), at_once.clone());
        tokio::spawn(async move {
            let (ready, model) = ready(&folder, &format!("the secret of {name}"), &store).await;
            let root = ready.root().clone();
            at_once.wait().await;
            let Halt::Finished(summary) = ready.run().await.unwrap() else { unreachable!("nobody interrupts it") };
            Run { root, model, summary }
        })
    };
    let (first, second) = (run("one"), run("other"));
    let both = async { (first.await.unwrap(), second.await.unwrap()) };
    let (one, other) = tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    assert_ne!(one.root, other.root);
    for (run, own, foreign) in
        [(&one, "the secret of one", "the secret of other"), (&other, "the secret of other", "the secret of one")]
    {
        assert_eq!(run.summary.payload["result"], "over");
        let sent: String = run.model.calls().iter().map(|call| serde_json::to_string(&call.request).unwrap()).collect();
        assert!(sent.contains(own) && !sent.contains(foreign), "{sent}");
        let tree = store.tree(&run.root).await.unwrap();
        assert_eq!(tree.len(), 2);
        assert!(tree.iter().all(|head| head.root == run.root && head.status.is_some()));
    }
    assert_eq!(store.roots(9).await.unwrap().len(), 2);
    assert!(place.path().join("one/out.txt").exists() && place.path().join("other/out.txt").exists());
}
