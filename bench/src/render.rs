//! What grows with a conversation: the request, which is rendered whole for every turn, and the log, which is not.

use crate::Plan;
use crate::longer::{Tail, longer};
use crate::measure::{Fault, Spread, interleaved, per_call, short};
use crate::scene::Scene;
use crate::stage;
use crate::table::Table;
use deputize_adapters::provider::Scripted;
use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_core::context;
use deputize_core::digest;
use deputize_core::id::Label;
use deputize_core::run::RunState;
use std::sync::Arc;
use std::time::Duration;

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    Ok(vec![render(plan).await?, size(plan).await?])
}

#[derive(Clone, Copy)]
enum Part {
    Render,
    Bytes,
    Digest,
}

async fn render(plan: &Plan) -> Result<Table, Fault> {
    let scene = Scene::alone(1, 1, "look").await?;
    let least = Duration::from_millis(plan.size(100, 5));
    let sizes = plan.size([50, 500], [5, 50]);
    let mut states = Vec::new();
    for turns in sizes {
        let state = RunState::fold(&longer(scene.root_log(), turns, Tail::Asked)?);
        let label = Label::under("", &format!("t{}", turns + 1));
        let request = context::render(&state, &scene.team, &label).ok_or("the open step renders nothing")?;
        states.push((turns, state, label, request));
    }
    let at: Vec<usize> = (0..states.len()).collect();
    let variants: Vec<(usize, Part)> =
        at.iter().flat_map(|i| [Part::Render, Part::Bytes, Part::Digest].map(|part| (*i, part))).collect();
    let timed = async |(at, part): (usize, Part)| {
        let (_, state, label, request) = states.get(at).ok_or("no such size")?;
        Ok(match part {
            Part::Render => per_call(least, || context::render(state, &scene.team, label)),
            Part::Bytes => per_call(least, || serde_json::to_vec(request)),
            Part::Digest => per_call(least, || digest::of(request)),
        })
    };
    let mut times = interleaved(plan.rounds, &variants, timed).await?.into_iter().map(Spread::of);
    let head =
        ["turns", "KB", "us to render", "us per turn", "us to write as JSON", "us for the digest, JSON included"];
    let about =
        "One request, CPU. The engine renders and digests it twice: when a step is admitted and when it is launched.";
    let mut table = Table::new(about, &head);
    for (turns, _, _, request) in &states {
        let (Some(render), Some(bytes), Some(digest)) = (times.next(), times.next(), times.next()) else { break };
        let kilobytes = serde_json::to_vec(request)?.len() / 1_000;
        let each = short(render.median / f64::from(u32::try_from(*turns)?));
        let cells = [render.to_string(), each, bytes.to_string(), digest.to_string()];
        table.row([turns.to_string(), kilobytes.to_string()].into_iter().chain(cells));
    }
    Ok(table)
}

/// The log of real runs.
async fn size(plan: &Plan) -> Result<Table, Fault> {
    let about = format!("The log of a real run; each turn has one call whose result has {} bytes.", stage::RESULT);
    let head = ["turns", "events", "bytes of events per turn", "bytes of the SQLite file per turn", "last request, KB"];
    let mut table = Table::new(about, &head);
    for turns in plan.size([50, 200, 400], [5, 10, 20]) {
        let scene = Scene::alone(turns, 1, "look").await?;
        let log = scene.root_log();
        let bytes: usize = log.iter().map(|r| serde_json::to_string(r).map_or(0, |text| text.len())).sum();
        let folder = plan.folder()?;
        let file = folder.path().join("store.sqlite3");
        let model = Arc::new(Scripted::new(scene.script.clone()).forgetful());
        let store = SqliteStore::open(&file, Sync::Normal)?;
        stage::drive(&scene.team, stage::world(model, Arc::new(store))).await?;
        let on_disk = usize::try_from(std::fs::metadata(&file)?.len())?;
        let last = scene.talks.values().next().map(|talk| serde_json::to_vec(&talk.last)).transpose()?;
        let each = |all: usize| (all / turns).to_string();
        let request = last.map_or(0, |bytes| bytes.len() / 1_000).to_string();
        table.row([turns.to_string(), log.len().to_string(), each(bytes), each(on_disk), request]);
    }
    Ok(table)
}
