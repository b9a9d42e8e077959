//! Scenes: what a tree does, as a team and a script, and the requests that come of it. One rehearsal on the memory store
//! finds the requests, so that the bare loop can be held to sending the same ones.

use crate::measure::Fault;
use crate::stage;
use deputize_adapters::provider::Scripted;
use deputize_adapters::provider::scripted::Script;
use deputize_adapters::store::MemoryStore;
use deputize_core::definition::Team;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::{AgentPath, RunId};
use deputize_core::message::Request;
use deputize_core::step::Ask;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The first and the last request of one run.
pub(crate) struct Talk {
    pub(crate) first: Request,
    pub(crate) last: Request,
}

/// A scene.
pub(crate) struct Scene {
    pub(crate) about: String,
    pub(crate) team: Arc<Team>,
    pub(crate) script: Script,
    /// By agent path.
    pub(crate) talks: BTreeMap<AgentPath, Talk>,
    pub(crate) logs: Vec<(RunId, Vec<Recorded>)>,
    pub(crate) models: u32,
    pub(crate) tools: u32,
}

impl Scene {
    /// One agent: `turns` turns with `calls` calls of `tool` each, then the answer.
    pub(crate) async fn alone(turns: usize, calls: usize, tool: &str) -> Result<Scene, Fault> {
        let about = format!("one agent, {turns} turns, {calls} x `{tool}` in each");
        let text = format!("solo:\n{}", rounds(turns, calls, tool));
        Scene::rehearsed(about, stage::team(&[("solo", &[])]), &text).await
    }

    /// A supervisor that hands out `children` tasks in one turn, each of `turns` turns with one read and an answer.
    pub(crate) async fn supervisor(children: usize, turns: usize) -> Result<Scene, Fault> {
        let about = format!("a supervisor with {children} children at once, {turns} tool rounds in each");
        let mut text = String::from("lead:\n  - usage: {input: 400, output: 60}\n    calls:\n");
        for part in 1..=children {
            writeln!(text, "      - delegate: {{agent: worker, objective: Read part {part} and report what it says}}")?;
        }
        text.push_str("  - {text: All parts are read., usage: {input: 400, output: 60}}\nlead/worker:\n");
        text.push_str(&rounds(turns, 1, "look"));
        let mut team = stage::team(&[("lead", &["worker"]), ("worker", &[])]);
        team.budget.concurrency = u32::try_from(children)?;
        Scene::rehearsed(about, team, &text).await
    }

    async fn rehearsed(about: String, team: Team, text: &str) -> Result<Scene, Fault> {
        let (team, script) = (Arc::new(team), Script::parse("bench", text)?);
        let (model, store) = (Arc::new(Scripted::new(script.clone())), MemoryStore::new());
        stage::drive(&team, stage::world(model.clone(), Arc::new(store.clone()))).await?;
        let mut talks: BTreeMap<AgentPath, Talk> = BTreeMap::new();
        for call in model.calls() {
            let request = Request::clone(&call.request);
            match talks.get_mut(&call.path) {
                Some(talk) => talk.last = request,
                None => drop(talks.insert(call.path, Talk { first: request.clone(), last: request })),
            }
        }
        let logs = stage::logs(&store).await?;
        let asks = |kind: fn(&Ask) -> bool| {
            let events = logs.iter().flat_map(|(_, log)| log);
            let count = events.filter(|r| matches!(&r.event, Event::StepStarted(s) if kind(&s.ask))).count();
            u32::try_from(count)
        };
        let (models, tools) = (asks(|a| matches!(a, Ask::Model { .. }))?, asks(|a| matches!(a, Ask::Tool { .. }))?);
        Ok(Scene { about, team, script, talks, logs, models, tools })
    }

    /// The log of the root run.
    pub(crate) fn root_log(&self) -> &[Recorded] {
        self.logs.first().map_or(&[], |(_, log)| log)
    }

    /// Model and tool steps.
    pub(crate) fn steps(&self) -> f64 {
        f64::from(self.models + self.tools)
    }
}

/// The turns of one agent. Usage is given, since estimating it would serialise the whole request once more; it is too small
/// a figure to be taken for the count of a prompt that was cut.
fn rounds(turns: usize, calls: usize, tool: &str) -> String {
    let usage = "usage: {input: 400, output: 60}";
    let mut text = String::new();
    for turn in 1..=turns {
        let calls: Vec<String> = (1..=calls).map(|n| format!("{tool}: {{path: docs/part-{turn}-{n}.md}}")).collect();
        let said = format!("I now look at part {turn} of the folder because the index names it and nothing else does.");
        text.push_str(&format!("  - {{text: {said}, {usage}, calls: [{}]}}\n", calls.join(", ")));
    }
    text.push_str(&format!("  - {{text: The folder holds what its index says., {usage}}}\n"));
    text
}
