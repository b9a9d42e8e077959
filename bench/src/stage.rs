//! What all benchmarks stand on: a team without tight caps, tools that cost next to nothing, a world, one run of a tree.

use crate::measure::{Cost, Fault, Watch};
use deputize_core::budget::Caps;
use deputize_core::definition::{Definition, ModelLimits, Operation, Profile, Team, ToolChoice, ToolSpec};
use deputize_core::event::Recorded;
use deputize_core::id::{AgentName, ModelName, RunId, Time, ToolName};
use deputize_core::step::{EffectClass, Failure, Note};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{Ids, Model, Pending, Store, Tools, Who};
use deputize_runtime::{Halt, Launch, TokioClock, World, start};
use serde_json::{Value, json};
use std::sync::Arc;

/// The id of every tree.
pub(crate) const ROOT: &str = "bench";
/// Bytes of a tool's result: a page of a file.
pub(crate) const RESULT: usize = 1_024;
/// So much that no cap is ever in the way.
const ENOUGH: u64 = 1_000_000_000_000;

/// Two tools that answer at once with the same page: `look` reads, `put` has an effect and so never runs beside another.
pub(crate) struct Shelf {
    page: String,
}

impl Shelf {
    pub(crate) fn new() -> Shelf {
        let line = "The quick brown fox jumps over the lazy dog near the bank.\n";
        Shelf { page: line.chars().cycle().take(RESULT).collect() }
    }
}

impl Tools for Shelf {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |name: &str, effect, operation| ToolSpec {
            name: ToolName::new(name),
            description: format!("Performs {name} on one path."),
            input_schema: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "additionalProperties": false
            }),
            effect,
            operation,
            paths: Vec::new(),
        };
        vec![
            spec("look", EffectClass::ReadOnly, Operation::Read),
            spec("put", EffectClass::Idempotent, Operation::Other),
        ]
    }
    fn prepare<'a>(&'a self, _: &'a Who, _: &'a ToolName, _: &'a Value) -> Pending<'a, Result<Option<Note>, Failure>> {
        Box::pin(async { Ok(None) })
    }
    fn perform<'a>(
        &'a self,
        _: &'a Who,
        _: &'a ToolName,
        _: &'a Value,
        _: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        Box::pin(async { Ok(self.page.clone()) })
    }
    fn exists<'a>(&'a self, _: &'a str) -> Pending<'a, bool> {
        Box::pin(async { false })
    }
}

struct OneId;
impl Ids for OneId {
    fn run(&self) -> RunId {
        RunId::new(ROOT)
    }
}

/// A team of `(agent, agents it may delegate to)`, the first is the root; every cap far away.
pub(crate) fn team(agents: &[(&str, &[&str])]) -> Team {
    let specs = Shelf::new().specs();
    let model = ModelName::new("mock:small");
    let caps = Caps {
        tokens: Some(ENOUGH),
        time: Some(ENOUGH),
        turns: Some(ENOUGH),
        model_calls: None,
        tool_calls: Some(ENOUGH),
        children: Some(ENOUGH),
        runs: Some(ENOUGH),
    };
    let mut team = Team { name: "bench".into(), profile: Profile::Assisted, ..Team::default() };
    team.ceiling = specs.iter().map(|spec| spec.name.clone()).collect();
    team.tools = specs.into_iter().map(|spec| (spec.name.clone(), spec)).collect();
    team.budget.tree = caps;
    team.budget.run = Caps { tokens: Some(ENOUGH / 1_000), ..caps };
    team.models.roles.insert("default".into(), model.clone());
    team.models.limits.insert(model, ModelLimits { context: ENOUGH, ..ModelLimits::default() });
    for (name, children) in agents {
        let definition = Definition {
            name: AgentName::new(name),
            description: format!("Does the work of {name}."),
            body: format!("You are {name}. Work through the folder you are given and report what you find."),
            pattern: "react".into(),
            tools: ToolChoice::All,
            agents: children.iter().map(AgentName::new).collect(),
            ..Definition::default()
        };
        team.agents.insert(definition.name.clone(), definition);
    }
    team.root = agents.first().map(|(name, _)| AgentName::new(name)).unwrap_or_default();
    team
}

/// Everything outside the core.
pub(crate) fn world(model: Arc<dyn Model>, store: Arc<dyn Store>) -> World {
    let clock = Arc::new(TokioClock::at(Time(1_000_000)));
    World { model, tools: Arc::new(Shelf::new()), store, clock, ids: Arc::new(OneId) }
}

/// A whole tree from its launch to its end, and what that took.
pub(crate) async fn drive(team: &Arc<Team>, world: World) -> Result<Cost, Fault> {
    let (team, objective) = (team.clone(), "Read the folder and say what is in it.".to_string());
    let launch = Launch { team, setup: b"{}".to_vec(), objective, choices: Vec::new() };
    let watch = Watch::start();
    let halt = start(world, launch).await?.run().await?;
    let cost = watch.stop();
    match halt {
        Halt::Finished(summary) if summary.status == Terminal::Succeeded => Ok(cost),
        other => Err(format!("the tree did not succeed: {other:?}").into()),
    }
}

/// All logs of the tree, the root's first.
pub(crate) async fn logs(store: &dyn Store) -> Result<Vec<(RunId, Vec<Recorded>)>, Fault> {
    let mut logs = Vec::new();
    for head in store.tree(&RunId::new(ROOT)).await? {
        let log = store.read(&head.run, 0).await?;
        logs.push((head.run, log));
    }
    Ok(logs)
}
