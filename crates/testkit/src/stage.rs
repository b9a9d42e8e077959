//! A stage: a team, a script, toy tools, a store, a virtual clock; everything to run a tree in a test and look at it.

use crate::toys::Toys;
use deputize_adapters::provider::Scripted;
use deputize_adapters::provider::scripted::Script;
use deputize_adapters::store::memory::MemoryStore;
use deputize_core::definition::{Definition, Profile, Team, ToolChoice};
use deputize_core::event::{Event, Recorded};
use deputize_core::id::{AgentName, ModelName, RunId, Time, ToolName};
use deputize_core::projection::Tree;
use deputize_core::summary::Summary;
use deputize_runtime::port::{EventStore, Ids, Store, Tools};
use deputize_runtime::{DriveError, Halt, Launch, Ready, TokioClock, World, resume, start};
use std::sync::Arc;

/// The root of every tree on a stage.
pub const ROOT: &str = "r";

/// The id of the only tree of a stage.
pub(crate) struct OneId;
impl Ids for OneId {
    fn run(&self) -> RunId {
        RunId::new(ROOT)
    }
}

/// A team of agents with all toys; each agent is `(name, agents it may delegate to)`, the first is the root.
pub fn team(agents: &[(&str, &[&str])]) -> Team {
    let mut team = Team { name: "stage".into(), profile: Profile::Assisted, ceiling: Toys::names(), ..Team::default() };
    for spec in Toys::new().specs() {
        team.tools.insert(spec.name.clone(), spec);
    }
    team.models.roles.insert("default".into(), ModelName::new("scripted:script"));
    for (name, children) in agents {
        let definition = Definition {
            name: AgentName::new(name),
            description: format!("Does the work of {name}."),
            body: format!("You are {name}."),
            pattern: "react".into(),
            tools: ToolChoice::All,
            agents: children.iter().map(AgentName::new).collect(),
            ..Definition::default()
        };
        team.agents.insert(definition.name.clone(), definition);
    }
    if let Some((root, _)) = agents.first() {
        team.root = AgentName::new(root);
    }
    team
}

/// A stage. Clone-cheap parts are public, so that a test may take them apart.
pub struct Stage {
    /// The team.
    pub team: Arc<Team>,
    /// The model.
    pub model: Arc<Scripted>,
    /// The tools.
    pub tools: Toys,
    /// The store that outlives crashes.
    pub store: MemoryStore,
}

impl Stage {
    /// A stage for this team and this script (YAML).
    ///
    /// # Panics
    /// The script is none.
    pub fn new(team: Team, script: &str) -> Stage {
        let script = match Script::parse("stage.script.yaml", script) {
            Ok(script) => script,
            Err(e) => panic!("{e}"),
        };
        let model = Arc::new(Scripted::new(script));
        Stage { team: Arc::new(team), model, tools: Toys::new(), store: MemoryStore::new() }
    }
    /// The world over the stage's own store.
    pub fn world(&self) -> World {
        self.world_on(Arc::new(self.store.clone()))
    }
    /// The world over another store, a crashing one say.
    pub fn world_on(&self, store: Arc<dyn Store>) -> World {
        World {
            model: self.model.clone(),
            tools: Arc::new(self.tools.clone()),
            store,
            clock: Arc::new(TokioClock::at(Time(1_000_000))),
            ids: Arc::new(OneId),
        }
    }
    /// A new tree, ready to go.
    ///
    /// # Panics
    /// It cannot start.
    pub async fn ready_on(&self, world: World) -> Result<Ready, deputize_runtime::StartError> {
        let objective = "do the work".to_string();
        start(world, Launch { team: self.team.clone(), setup: b"{}".to_vec(), objective, choices: Vec::new() }).await
    }
    /// Runs a tree to its end.
    ///
    /// # Panics
    /// It does not end by itself.
    pub async fn run(&self) -> Arc<Summary> {
        match self.ready_on(self.world()).await {
            Ok(ready) => finished(ready.run().await),
            Err(e) => panic!("{e}"),
        }
    }
    /// Takes the tree up and runs it to its end.
    ///
    /// # Panics
    /// It does not end by itself.
    pub async fn resume(&self) -> Arc<Summary> {
        let root = RunId::new(ROOT);
        let setup = deputize_core::digest::of_bytes(b"{}");
        match resume(self.world(), &root, self.team.clone(), setup).await {
            Ok(ready) => finished(ready.run().await),
            Err(e) => panic!("{e}"),
        }
    }
    /// The log of a run.
    pub async fn log(&self, run: &str) -> Vec<Recorded> {
        self.store.read(&RunId::new(run), 0).await.unwrap_or_default()
    }
    /// The events of a run, without their places.
    pub async fn events(&self, run: &str) -> Vec<Event> {
        self.log(run).await.into_iter().map(|r| r.event).collect()
    }
    /// The whole tree.
    pub async fn tree(&self) -> Tree {
        let root = RunId::new(ROOT);
        let mut logs = Vec::new();
        for head in self.store.tree(&root).await.unwrap_or_default() {
            let log = self.store.read(&head.run, 0).await.unwrap_or_default();
            logs.push((head.run, log));
        }
        Tree::new(logs)
    }
    /// The names of all toys.
    pub fn tools() -> Vec<ToolName> {
        Toys::names()
    }
}

/// The summary of a tree that ended.
///
/// # Panics
/// It did not.
pub fn finished(halt: Result<Halt, DriveError>) -> Arc<Summary> {
    match halt {
        Ok(Halt::Finished(summary)) => summary,
        other => panic!("the tree did not end: {other:?}"),
    }
}
