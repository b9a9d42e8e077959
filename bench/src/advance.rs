//! The pure core on long logs: the fold, and what one `advance` takes however many turns lie behind it.

use crate::Plan;
use crate::longer::{Tail, longer};
use crate::measure::{Fault, Spread, interleaved, per_call, short};
use crate::scene::Scene;
use crate::table::Table;
use deputize_core::context;
use deputize_core::digest;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::Label;
use deputize_core::message::Request;
use deputize_core::run::RunState;
use std::time::Duration;

pub(crate) async fn run(plan: &Plan) -> Result<Vec<Table>, Fault> {
    let scene = Scene::alone(1, 1, "look").await?;
    let least = Duration::from_millis(plan.size(100, 5));
    Ok(vec![fold(plan, &scene, least).await?, advance(plan, &scene, least).await?])
}

async fn fold(plan: &Plan, scene: &Scene, least: Duration) -> Result<Table, Fault> {
    let about = "Fold of a log in memory, CPU; the state's end is part of it.";
    let mut table = Table::new(about, &["events", "ns per event", "ms in all"]);
    let logs: Vec<Vec<Recorded>> = plan
        .size(vec![250, 2_500, 10_000], vec![25, 250])
        .into_iter()
        .map(|turns| longer(scene.root_log(), turns, Tail::Whole))
        .collect::<Result<_, _>>()?;
    let variants: Vec<&[Recorded]> = logs.iter().map(Vec::as_slice).collect();
    let timed = async |log: &[Recorded]| Ok(per_call(least, || RunState::fold(log)));
    let times = interleaved(plan.rounds, &variants, timed).await?;
    for (log, times) in logs.iter().zip(times) {
        let events = f64::from(u32::try_from(log.len())?);
        let each = Spread::of(times.iter().map(|time| time * 1e3 / events));
        let all = Spread::of(times.iter().map(|time| time / 1e3));
        table.row([log.len().to_string(), each.to_string(), all.to_string()]);
    }
    Ok(table)
}

/// What is called.
#[derive(Clone, Copy)]
enum Call {
    Waits,
    StartsTool,
    StartsModel,
    Renders,
    Hashes,
}

const CALLS: [(Call, &str); 5] = [
    (Call::Waits, "`advance`, a call is under way"),
    (Call::StartsTool, "`advance`, starts a tool call"),
    (Call::StartsModel, "`advance`, starts a model call"),
    (Call::Renders, "of that: rendering the request"),
    (Call::Hashes, "of that: its digest"),
];

/// The three states of a run with so many turns, and its next request.
struct Sized {
    waits: RunState,
    answered: RunState,
    whole: RunState,
    next: Label,
    request: Request,
}

impl Sized {
    fn new(scene: &Scene, turns: u64) -> Result<Sized, Fault> {
        let state = |tail| longer(scene.root_log(), turns, tail).map(|log| RunState::fold(&log));
        let (waits, answered, whole) = (state(Tail::Asked)?, state(Tail::Answered)?, state(Tail::Whole)?);
        let next = Label::under("", &format!("t{}", turns + 1));
        let request = context::render(&waits, &scene.team, &next).ok_or("the open step renders nothing")?;
        let starts = |state: &RunState| state.advance(&scene.team).events;
        let right = starts(&waits).is_empty()
            && matches!(&starts(&answered)[..], [Event::StepStarted(s)] if s.label == next.call(0))
            && matches!(&starts(&whole)[..], [Event::StepStarted(s)] if s.digest == Some(digest::of(&request)));
        if right { Ok(Sized { waits, answered, whole, next, request }) } else { Err("advance does not go on".into()) }
    }

    fn time(&self, scene: &Scene, call: Call, least: Duration) -> f64 {
        let team = &scene.team;
        match call {
            Call::Waits => per_call(least, || self.waits.advance(team)),
            Call::StartsTool => per_call(least, || self.answered.advance(team)),
            Call::StartsModel => per_call(least, || self.whole.advance(team)),
            Call::Renders => per_call(least, || context::render(&self.waits, team, &self.next)),
            Call::Hashes => per_call(least, || digest::of(&self.request)),
        }
    }
}

async fn advance(plan: &Plan, scene: &Scene, least: Duration) -> Result<Table, Fault> {
    let (few, many) = plan.size((1_000, 4_000), (100, 400));
    let (short_run, long_run) = (Sized::new(scene, few)?, Sized::new(scene, many)?);
    let variants: Vec<(&Sized, Call)> =
        CALLS.iter().flat_map(|(call, _)| [(&short_run, *call), (&long_run, *call)]).collect();
    let timed = async |(sized, call): (&Sized, Call)| Ok(sized.time(scene, call, least));
    let times = interleaved(plan.rounds, &variants, timed).await?;
    let head = ["one call", &format!("us at {few} turns"), &format!("us at {many} turns"), "quotient of the medians"];
    let about = format!(
        "One `advance`, CPU. The requests have {} and {} KB.",
        serde_json::to_vec(&short_run.request)?.len() / 1_000,
        serde_json::to_vec(&long_run.request)?.len() / 1_000
    );
    let mut table = Table::new(about, &head);
    let mut times = times.into_iter().map(Spread::of);
    for (_, name) in CALLS {
        let (Some(few), Some(many)) = (times.next(), times.next()) else { break };
        let quotient = short(many.median / few.median);
        table.row([name.to_string(), few.to_string(), many.to_string(), quotient]);
    }
    Ok(table)
}
