//! What the engine costs per step: the same scene with the bare loop, with the memory store and with the SQLite store.

use crate::measure::{Cost, Fault, Spread, interleaved, short};
use crate::scene::Scene;
use crate::served::Served;
use crate::stage;
use crate::table::Table;
use crate::{Plan, bare};
use deputize_adapters::provider::Scripted;
use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_adapters::store::{MemoryStore, sqlite};
use deputize_runtime::port::Model;
use std::sync::Arc;

#[derive(Clone, Copy)]
enum Way {
    Bare,
    Memory,
    Sqlite,
}

const WAYS: [Way; 3] = [Way::Bare, Way::Memory, Way::Sqlite];

/// What is measured of one scene under one provider, by way.
struct Costs {
    steps: f64,
    ways: Vec<Vec<Cost>>,
}

impl Costs {
    fn of(&self, way: Way) -> &[Cost] {
        self.ways.get(way as usize).map_or(&[], Vec::as_slice)
    }
    /// CPU microseconds per step, round by round.
    fn cpu(&self, way: Way) -> Vec<f64> {
        self.of(way).iter().map(|cost| cost.cpu / self.steps).collect()
    }
    /// Wall microseconds per step, round by round.
    fn wall(&self, way: Way) -> Vec<f64> {
        self.of(way).iter().map(|cost| cost.wall / self.steps).collect()
    }
}

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    let turns = plan.size(200, 20);
    let talk = Scene::alone(turns, 1, "look").await?;
    let calls = Scene::alone(4, plan.size(50, 5), "put").await?;
    let tree = Scene::supervisor(plan.size(20, 4), 3).await?;
    let head = ["scene", "steps", "bare loop", "memory", "/ bare", "SQLite", "/ bare"];
    let mut cpu = Table::new("CPU microseconds per step (a step is a model call or a tool call).", &head);
    let head = ["scene", "bare loop", "memory", "SQLite", "/ bare"];
    let mut wall = Table::new("Wall microseconds per step. The model answers at once, which none does.", &head);
    let mut scripted = Vec::new();
    for scene in [&talk, &calls, &tree] {
        let model = Arc::new(Scripted::new(scene.script.clone()).forgetful());
        let costs = measured(plan, scene, model, None).await?;
        rows(&mut cpu, &mut wall, &format!("scripted: {}", scene.about), &costs);
        scripted.push(costs);
    }
    for scene in [&talk, &tree] {
        let served = Served::start(scene.script.clone()).await?;
        let model = served.client()?;
        let costs = measured(plan, scene, model, Some(&served)).await?;
        rows(&mut cpu, &mut wall, &format!("OpenAI over HTTP: {}", scene.about), &costs);
    }
    Ok(vec![cpu, apart(&talk, &calls, &scripted), wall])
}

async fn measured(plan: &Plan, scene: &Scene, model: Arc<dyn Model>, served: Option<&Served>) -> Result<Costs, Fault> {
    let run = async |way: Way| {
        let before = server_cpu(served).await?;
        let cost = once(plan, scene, model.clone(), way).await?;
        let server = server_cpu(served).await? - before;
        Ok(Cost { cpu: cost.cpu - server, ..cost })
    };
    let ways = interleaved(plan.rounds, &WAYS, run).await?;
    Ok(Costs { steps: scene.steps(), ways })
}

async fn server_cpu(served: Option<&Served>) -> Result<f64, Fault> {
    match served {
        Some(served) => served.cpu().await,
        None => Ok(0.0),
    }
}

async fn once(plan: &Plan, scene: &Scene, model: Arc<dyn Model>, way: Way) -> Result<Cost, Fault> {
    match way {
        Way::Bare => bare::perform(scene, &*model).await,
        Way::Memory => stage::drive(&scene.team, stage::world(model, Arc::new(MemoryStore::new()))).await,
        Way::Sqlite => {
            let folder = plan.folder()?;
            let store: SqliteStore = sqlite::SqliteStore::open(folder.path().join("store.sqlite3"), Sync::Full)?;
            stage::drive(&scene.team, stage::world(model, Arc::new(store))).await
        }
    }
}

fn rows(cpu: &mut Table, wall: &mut Table, name: &str, costs: &Costs) {
    let [bare, memory, sqlite] = WAYS.map(|way| costs.cpu(way));
    cpu.row([
        name.to_string(),
        short(costs.steps),
        Spread::of(bare.clone()).to_string(),
        Spread::of(memory.clone()).to_string(),
        Spread::of_ratios(&memory, &bare).to_string(),
        Spread::of(sqlite.clone()).to_string(),
        Spread::of_ratios(&sqlite, &bare).to_string(),
    ]);
    let [bare, memory, sqlite] = WAYS.map(|way| costs.wall(way));
    wall.row([
        name.to_string(),
        Spread::of(bare.clone()).to_string(),
        Spread::of(memory).to_string(),
        Spread::of(sqlite.clone()).to_string(),
        Spread::of_ratios(&sqlite, &bare).to_string(),
    ]);
}

/// Model and tool steps apart: `calls` is nearly all tool steps, and what `talk` takes beyond its tool steps is the models'.
fn apart(talk: &Scene, calls: &Scene, costs: &[Costs]) -> Table {
    let about = "The engine's own CPU (what it takes beyond the bare loop), microseconds per step, scripted provider.";
    let mut table = Table::new(about, &["step", "memory", "SQLite"]);
    let own = |costs: Option<&Costs>, way: Way| -> Vec<f64> {
        let Some(costs) = costs else { return Vec::new() };
        let pairs = costs.of(way).iter().zip(costs.of(Way::Bare));
        pairs.map(|(engine, bare)| engine.cpu - bare.cpu).collect()
    };
    let split = |way: Way| {
        let pairs = own(costs.first(), way).into_iter().zip(own(costs.get(1), way));
        let solved = pairs.map(|(talk_all, calls_all)| {
            let [m1, t1, m2, t2] = [talk.models, talk.tools, calls.models, calls.tools].map(f64::from);
            // Two equations: m1 * model + t1 * tool = talk, m2 * model + t2 * tool = calls.
            let whole = m1 * t2 - m2 * t1;
            ((talk_all * t2 - calls_all * t1) / whole, (m1 * calls_all - m2 * talk_all) / whole)
        });
        solved.unzip::<f64, f64, Vec<f64>, Vec<f64>>()
    };
    let ((model_m, tool_m), (model_s, tool_s)) = (split(Way::Memory), split(Way::Sqlite));
    let half = talk.models / 2;
    let named = format!("model call, {half} turns behind it on average");
    table.row([named, Spread::of(model_m).to_string(), Spread::of(model_s).to_string()]);
    table.row(["tool call".to_string(), Spread::of(tool_m).to_string(), Spread::of(tool_s).to_string()]);
    table
}
