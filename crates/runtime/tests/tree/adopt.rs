//! A tree that goes on with definitions that have changed: what is finished stays, what is asked from then on is new.

use crate::crash::{performed, recorded};
use deputize_core::event::Event;
use deputize_core::id::RunId;
use deputize_core::run::RunState;
use deputize_core::summary::Terminal;
use deputize_runtime::{DriveError, Halt, StartError};
use deputize_testkit::stage::{ROOT, finished};
use deputize_testkit::store::{CrashStore, Cut};
use deputize_testkit::{Stage, team};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the changed prompts say.
const NEW: &str = "from now on";
/// What the changed setup is kept as.
const SETUP: &[u8] = b"{\"new\":true}";

/// One child that is over before two others begin.
fn stage() -> Stage {
    let team = team(&[("lead", &["worker", "other"]), ("worker", &[]), ("other", &[])]);
    let script = "
  lead:
    - calls: [{delegate: {agent: worker, objective: one}}]
    - calls: [{put: {n: 1}}, {delegate: {agent: worker, objective: two}}, {delegate: {agent: other, objective: three}}]
    - text: done
  lead/worker#1: [{calls: [{look: {}}]}, {text: one}]
  lead/worker#2: [{calls: [{look: {}}]}, {text: two}]
  lead/other: [{text: three}]
";
    Stage::new(team, script)
}

/// The same stage with other prompts.
fn changed(stage: Stage) -> Stage {
    let mut team = (*stage.team).clone();
    for agent in team.agents.values_mut() {
        agent.body = format!("{} {NEW}", agent.body);
    }
    Stage { team: Arc::new(team), ..stage }
}

/// Runs until the store breaks; none when it never did.
async fn broken(cut: Cut) -> Option<Stage> {
    let stage = stage();
    let store = Arc::new(CrashStore::new(stage.store.clone(), cut));
    let end = stage.ready_on(stage.world_on(store)).await.unwrap().run().await;
    (!matches!(end, Ok(Halt::Finished(_)))).then_some(stage)
}

async fn adopt_on(stage: &Stage, cut: Cut) -> Result<Halt, StartError> {
    let world = stage.world_on(Arc::new(CrashStore::new(stage.store.clone(), cut)));
    let root = RunId::new(ROOT);
    let ready = deputize_runtime::adopt(world, &root, stage.team.clone(), SETUP.to_vec(), "a person").await?;
    Ok(ready.run().await?)
}

/// Every run: whether it is over, and how often it has adopted something.
async fn runs(stage: &Stage) -> BTreeMap<RunId, (bool, usize)> {
    let tree = stage.tree().await;
    let count = |log: &[deputize_core::event::Recorded]| {
        log.iter().filter(|record| matches!(record.event, Event::Adopted { .. })).count()
    };
    tree.runs().iter().map(|run| (run.id.clone(), (run.state.summary().is_some(), count(&run.log)))).collect()
}

/// The tree as it must be after an adoption at any moment.
async fn check(stage: &Stage, old: &BTreeMap<RunId, (bool, usize)>, calls: usize, at: &str) {
    let (new, setup) = (runs(stage).await, deputize_core::digest::of_bytes(SETUP));
    for (run, (_, adopted)) in &new {
        let want = usize::from(old.get(run).is_some_and(|(over, _)| !over));
        assert_eq!(*adopted, want, "{at}: {run} adopts when it is under way, once");
        let state = RunState::fold(&stage.log(run.as_str()).await);
        let started = state.started().unwrap();
        let was_over = old.get(run).is_some_and(|(over, _)| *over);
        assert_eq!(started.team != setup, was_over, "{at}: {run}");
        let definition = stage.team.agents[&started.agent].digest();
        assert_eq!(started.definition != definition, was_over, "{at}: {run}");
    }
    let mut keys = BTreeMap::new();
    for (n, call) in stage.model.calls().into_iter().enumerate() {
        assert!(n < calls || call.request.system.contains(NEW), "{at}: an old prompt: {}", call.request.system);
        let key = (call.run.clone(), call.label.clone(), call.attempt);
        let first = keys.entry(key).or_insert_with(|| call.request.clone());
        assert_eq!(*first, call.request, "{at}: one attempt, two requests: {}/{}", call.run, call.label);
    }
}

async fn sweep(cut: fn(u64) -> Cut, within: &[Cut]) {
    let mut shapes = BTreeSet::new();
    for n in 1.. {
        let Some(stage) = broken(cut(n)).await else { break };
        let (old, before) = (runs(&stage).await, recorded(&stage).await);
        if old.get(&RunId::new(ROOT)).is_some_and(|(over, _)| *over) {
            break;
        }
        shapes.insert(old.values().map(|(over, _)| *over).collect::<Vec<_>>());
        let paid = (stage.model.calls().len(), stage.tools.done().len());
        let stage = changed(stage);
        for cut in within {
            assert!(adopt_on(&stage, *cut).await.is_err(), "it must break");
        }
        let at = format!("crash at {n}");
        let summary = match adopt_on(&stage, Cut::Never).await {
            Ok(halt) => finished(Ok(halt)),
            Err(e) => panic!("{at}: {e}"),
        };
        let said = summary.payload["result"].as_str();
        assert_eq!((summary.status, said), (Terminal::Succeeded, Some("done")), "{at}");
        let again: Vec<String> = performed(&stage, paid).into_iter().filter(|s| before.contains(s)).collect();
        assert_eq!(again, Vec::<String>::new(), "{at}: done again though it was recorded");
        check(&stage, &old, paid.0, &at).await;
        assert_eq!(stage.tree().await.spent(&RunId::new(ROOT)).usage, summary.spent.usage, "{at}: it adds up");
    }
    assert!(shapes.contains(&vec![false, true, false]), "one over, one under way, one reserved: {shapes:?}");
}

// covers F-13
#[tokio::test(start_paused = true)]
async fn a_tree_adopts_changed_definitions_after_a_crash_anywhere() {
    sweep(Cut::After, &[]).await;
}

// The adoption is cut short: harsher than a store may be, after every event of it; and between its commit and its return.
// covers F-13
#[tokio::test(start_paused = true)]
async fn a_tree_survives_a_crash_of_its_adoption() {
    sweep(Cut::After, &[Cut::After(1), Cut::After(2)]).await;
    sweep(Cut::After, &[Cut::AfterAppend(1)]).await;
}

// After the adoption, the new team is what a run is; nothing of the old one takes it up.
// covers F-13
#[tokio::test(start_paused = true)]
async fn what_was_adopted_is_what_is_taken_up() {
    let stage = broken(Cut::After(14)).await.unwrap();
    let (old, root) = (stage.team.clone(), RunId::new(ROOT));
    let stage = changed(stage);
    assert!(adopt_on(&stage, Cut::AfterAppend(1)).await.is_err());
    let blob = deputize_core::digest::of_bytes(b"{}");
    let taken = deputize_runtime::resume(stage.world(), &root, old, blob).await;
    assert!(matches!(taken.err(), Some(StartError::Drive(DriveError::Changed { what: "team", .. }))));
    let blob = deputize_core::digest::of_bytes(SETUP);
    let ready = deputize_runtime::resume(stage.world(), &root, stage.team.clone(), blob).await.unwrap();
    assert_eq!(finished(ready.run().await).status, Terminal::Succeeded);
}

// covers F-13
#[tokio::test(start_paused = true)]
async fn an_agent_that_is_needed_and_gone_is_named_and_nothing_is_recorded() {
    let mut refused = BTreeSet::new();
    for n in 1.. {
        let Some(stage) = broken(Cut::After(n)).await else { break };
        let mut team = (*stage.team).clone();
        team.agents.remove("other");
        let stage = Stage { team: Arc::new(team), ..stage };
        let before = runs(&stage).await;
        match adopt_on(&stage, Cut::Never).await {
            Err(StartError::Drive(DriveError::Gone { run, agent })) => {
                assert_eq!(agent.as_str(), "other");
                refused.insert(before.contains_key(&run));
                assert_eq!(runs(&stage).await, before, "crash at {n}");
            }
            Err(e) => panic!("crash at {n}: {e}"),
            Ok(_) => {}
        }
    }
    assert_eq!(refused, [false, true].into(), "reserved, and under way");
}
