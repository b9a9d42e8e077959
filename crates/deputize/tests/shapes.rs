//! Children behind one tool: some named in files, some made by the embedding program; the model cannot tell them apart, and
//! each is a run of its own with its own log.

use deputize::adapters::loader::{LoadRequest, load};
use deputize::adapters::provider::Scripted;
use deputize::adapters::provider::scripted::Script;
use deputize::adapters::{ids::RandomIds, store::MemoryStore, tool::Registry};
use deputize::core::definition::Definition;
use deputize::core::id::{AgentName, ModelName};
use deputize::runtime::port::EventStore as _;
use deputize::runtime::{Halt, Launch, TokioClock, World, start};
use std::sync::Arc;

const SCRIPT: &str = "
lead:
  - calls: [{delegate: {agent: from-file, objective: one}}, {delegate: {agent: from-code, objective: two}}]
  - text: both answered
lead/from-file: [{text: one}]
lead/from-code: [{text: two}]
";

// covers F-04
#[tokio::test(flavor = "current_thread")]
async fn children_from_files_and_from_code_stand_behind_one_tool_each_with_its_own_log() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("agents")).unwrap();
    let file = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: does {name}\n{more}---\nYou are {name}.\n");
        std::fs::write(folder.path().join(format!("agents/{name}.md")), text).unwrap();
    };
    file("lead", "agents: [from-file]\n");
    file("from-file", "");
    let request = LoadRequest { cwd: folder.path().to_path_buf(), ..LoadRequest::default() };
    let loaded = load(&request);
    let mut team = loaded.setup.unwrap().team;
    let from_file = team.agents.get("from-file").unwrap().clone();
    let name = AgentName::new("from-code");
    let (description, body) = ("does from-code".to_string(), "You are from-code.".to_string());
    let from_code = Definition { name: name.clone(), description, body, ..from_file };
    team.agents.insert(name.clone(), from_code);
    team.agents.get_mut("lead").unwrap().agents.push(name);
    team.models.roles.insert("default".into(), ModelName::new("scripted:any"));

    let model = Arc::new(Scripted::new(Script::parse("inline", SCRIPT).unwrap()));
    let store = MemoryStore::new();
    let world = World {
        model: model.clone(),
        tools: Arc::new(Registry::new()),
        store: Arc::new(store.clone()),
        clock: Arc::new(TokioClock::system()),
        ids: Arc::new(RandomIds),
    };
    let launch = Launch { team: Arc::new(team), setup: Vec::new(), objective: "ask both".into(), choices: Vec::new() };
    let ready = start(world, launch).await.unwrap();
    let root = ready.root().clone();
    let Halt::Finished(summary) = ready.run().await.unwrap() else { unreachable!("nobody interrupts it") };
    assert_eq!(summary.payload["result"], "both answered");

    let calls = model.calls();
    let delegate = calls.first().unwrap().request.tools.first().unwrap().clone();
    for name in ["from-file", "from-code"] {
        assert!(delegate.description.contains(&format!("- {name}: does {name}")), "{}", delegate.description);
    }
    let results = &calls.last().unwrap().request.messages;
    let shown: Vec<String> = results.iter().rev().take(2).map(|m| serde_json::to_string(m).unwrap()).collect();
    let same =
        |text: &str| text.replace("from-code", "X").replace("from-file", "X").replace("two", "N").replace("one", "N");
    let (a, b) = (same(shown.first().unwrap()), same(shown.last().unwrap()));
    assert_eq!(a.replace("t1_c1", "C").replace("t1/c1", "C"), b.replace("t1_c0", "C").replace("t1/c0", "C"));
    let tree = store.tree(&root).await.unwrap();
    assert_eq!(tree.len(), 3, "the lead and two children, each a run");
    for head in tree {
        assert!(!store.read(&head.run, 0).await.unwrap().is_empty(), "{} has a log of its own", head.run);
    }
}
