//! Ending on request: cancel from inside and from another process, interrupt, a second driver, a log that cannot be written.

use deputize_core::event::Event;
use deputize_core::id::{RunId, Time};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{EventStore, Signal};
use deputize_runtime::{Control, DriveError, Halt, Live, Ready};
use deputize_testkit::stage::{ROOT, finished};
use deputize_testkit::store::FullDisk;
use deputize_testkit::{Stage, team};
use std::sync::Arc;

fn hanging() -> Stage {
    let team = team(&[("lead", &["worker"]), ("worker", &["helper"]), ("helper", &[])]);
    let script = "
  lead:
    - calls:
        - delegate: {agent: worker, objective: one}
        - delegate: {agent: worker, objective: two}
    - text: never said when cancelled
  lead/worker#1:
    - calls: [{delegate: {agent: helper, objective: deep}}]
    - text: one is done
  lead/worker#1/helper:
    - fault: hang
      times: 1
      text: deep is done
  lead/worker#2:
    - text: two is done
";
    Stage::new(team, script)
}

/// Runs until the deepest model call is under way.
async fn until_deep(ready: Ready) -> deputize_runtime::Handle {
    let mut live = ready.watch();
    let handle = ready.go();
    loop {
        if let Live::Event { path, record, .. } = live.recv().await.unwrap()
            && path.as_str().ends_with("helper#1")
            && matches!(record.event, Event::StepStarted(_))
        {
            return handle;
        }
    }
}

async fn last(stage: &Stage) -> Time {
    stage.log(ROOT).await.last().unwrap().at
}

// cancelling a run cancels its subtree, and each run ends with a summary.
// covers E-60
#[tokio::test(start_paused = true)]
async fn cancel_ends_the_whole_subtree_within_a_second() {
    let stage = hanging();
    let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    let before = last(&stage).await;
    handle.control(Control::Cancel { run: RunId::new(ROOT), by: "a person".into() });
    assert_eq!(finished(handle.wait().await).status, Terminal::Cancelled);
    assert!(last(&stage).await.since(before) <= 1_000);
    let tree = stage.tree().await;
    let ended: Vec<_> = tree.runs().iter().map(|r| r.state.summary().unwrap().status).collect();
    assert_eq!(ended, [Terminal::Cancelled, Terminal::Cancelled, Terminal::Cancelled, Terminal::Succeeded]);
}

#[tokio::test(start_paused = true)]
async fn a_signal_from_another_process_cancels_one_child_and_the_tree_goes_on() {
    let stage = hanging();
    let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    let (root, run) = (RunId::new(ROOT), RunId::new("r/t1/c0"));
    stage.store.signal(&root, Signal::Cancel { run, by: "another process".into() }).await.unwrap();
    assert_eq!(finished(handle.wait().await).status, Terminal::Succeeded);
    let tree = stage.tree().await;
    let ended: Vec<_> = tree.runs().iter().map(|r| r.state.summary().unwrap().status).collect();
    assert_eq!(ended, [Terminal::Succeeded, Terminal::Cancelled, Terminal::Cancelled, Terminal::Succeeded]);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_tree_goes_on_where_it_was() {
    let stage = hanging();
    let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    handle.control(Control::Interrupt);
    assert!(matches!(handle.wait().await, Ok(Halt::Interrupted)));
    let calls = stage.model.calls().len();
    // The hanging call is in doubt: it is made again under the same attempt, so the script hangs again; a later attempt answers.
    let stage = Stage { model: Arc::new(answering()), ..stage };
    assert_eq!(stage.resume().await.status, Terminal::Succeeded);
    assert_eq!(
        (calls, stage.model.calls().len()),
        (4, 3),
        "only the helper, worker#1 and lead had something left to say"
    );
    let recovered = stage.events(ROOT).await.iter().filter(|e| matches!(e, Event::Recovered { .. })).count();
    assert_eq!(recovered, 1);
}

fn answering() -> deputize_adapters::provider::Scripted {
    let script = "
  lead: [{text: x}, {text: both are in}]
  lead/worker#1: [{text: x}, {text: one is done}]
  lead/worker#1/helper: [{text: deep is done}]
";
    deputize_adapters::provider::Scripted::new(deputize_testkit::scripted::Script::parse("s.yaml", script).unwrap())
}

// what cannot be recorded is not done.
// covers E-68
#[tokio::test(start_paused = true)]
async fn a_full_disk_stops_the_driver_and_nothing_is_lost() {
    let total = {
        let stage = hanging();
        let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
        handle.kill();
        stage.log(ROOT).await.len() as u64
    };
    for appends in 0..total {
        let stage = Stage { model: Arc::new(whole()), ..hanging() };
        let disk = Arc::new(FullDisk::after(stage.store.clone(), appends));
        let Ok(ready) = stage.ready_on(stage.world_on(disk)).await else {
            assert_eq!((appends, stage.model.calls().len()), (0, 0), "nothing is done before anything is durable");
            continue;
        };
        let end = ready.run().await;
        assert!(matches!(end, Err(DriveError::Store(_))), "{appends}: {end:?}");
        assert_eq!(stage.resume().await.status, Terminal::Succeeded, "after {appends} appends");
    }
}

fn whole() -> deputize_adapters::provider::Scripted {
    let script = "
  lead:
    - calls:
        - delegate: {agent: worker, objective: one}
        - delegate: {agent: worker, objective: two}
    - text: both are in
  lead/worker#1:
    - calls: [{delegate: {agent: helper, objective: deep}}]
    - text: one is done
  lead/worker#1/helper: [{text: deep is done}]
  lead/worker#2: [{text: two is done}]
";
    deputize_adapters::provider::Scripted::new(deputize_testkit::scripted::Script::parse("s.yaml", script).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_second_driver_fences_the_first() {
    let stage = hanging();
    let first = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    let second = Stage {
        model: Arc::new(whole()),
        team: stage.team.clone(),
        store: stage.store.clone(),
        tools: stage.tools.clone(),
    };
    assert_eq!(second.resume().await.status, Terminal::Succeeded);
    first.control(Control::Cancel { run: RunId::new(ROOT), by: "the first".into() });
    let end = first.wait().await;
    assert!(matches!(end, Err(DriveError::Store(_))), "{end:?}");
    assert_eq!(stage.tree().await.runs()[0].state.summary().unwrap().status, Terminal::Succeeded);
}

// the pause between a crash and its resume is not counted, the time before it is.
// covers E-21
#[tokio::test(start_paused = true)]
async fn a_deadline_does_not_count_the_pause_and_counts_what_was_before() {
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.tree.time = Some(10_000);
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}]
  - fault: hang
lead/worker:
  - latency: 6s
    calls: [{look: {}}]
  - fault: hang
";
    let stage = Stage::new(team, script);
    let ready = stage.ready_on(stage.world()).await.unwrap();
    let mut live = ready.watch();
    let handle = ready.go();
    while !matches!(live.recv().await.unwrap(), Live::Event { record, .. } if record.at >= Time(1_006_000)) {}
    handle.kill();
    let mut world = stage.world();
    world.clock = Arc::new(deputize_runtime::TokioClock::at(Time(90_000_000)));
    let setup = deputize_core::digest::of_bytes(b"{}");
    let ready = deputize_runtime::resume(world, &RunId::new(ROOT), stage.team.clone(), setup).await.unwrap();
    assert_eq!(finished(ready.run().await).status, Terminal::Deadline);
    assert_eq!(last(&stage).await.since(Time(90_000_000)), 4_000, "6 of the 10 s were used before the crash");
}

/// A stage on which one slot serves two children, and the first of them hangs.
fn narrow() -> Stage {
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.concurrency = 1;
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]
  - text: both are in
lead/worker#1: [{fault: hang}]
lead/worker#2: [{text: two}]
";
    Stage::new(team, script)
}

// What only waited for a slot was never started: no crash makes it doubtful, and nothing is booked for it.
#[tokio::test(start_paused = true)]
async fn a_step_is_started_only_when_its_run_has_a_slot() {
    let stage = narrow();
    for _ in 0..4 {
        let world = stage.world();
        let root = RunId::new(ROOT);
        let setup = deputize_core::digest::of_bytes(b"{}");
        let ready = if stage.log(ROOT).await.is_empty() {
            stage.ready_on(world).await.unwrap()
        } else {
            deputize_runtime::resume(world, &root, stage.team.clone(), setup).await.unwrap()
        };
        let mut live = ready.watch();
        let handle = ready.go();
        let calling = |item: &Live| match item {
            Live::Event { path, record, .. } => {
                path.as_str() == "lead/worker#1" && matches!(record.event, Event::StepStarted(_))
            }
            Live::Delta { .. } | Live::Queued { .. } => false,
        };
        while !calling(&live.recv().await.unwrap()) {}
        handle.kill();
    }
    let log = stage.events("r/t1/c1").await;
    assert!(!log.iter().any(|e| matches!(e, Event::StepStarted(_) | Event::StepInDoubt { .. })), "{log:?}");
}

// An interrupt is no crash: however often, it makes no step doubtful.
#[tokio::test(start_paused = true)]
async fn interrupts_do_not_wear_a_step_out() {
    let stage = narrow();
    let root = RunId::new(ROOT);
    let setup = deputize_core::digest::of_bytes(b"{}");
    for _ in 0..6 {
        let ready = if stage.log(ROOT).await.is_empty() {
            stage.ready_on(stage.world()).await.unwrap()
        } else {
            deputize_runtime::resume(stage.world(), &root, stage.team.clone(), setup.clone()).await.unwrap()
        };
        let mut live = ready.watch();
        let handle = ready.go();
        while !matches!(live.recv().await.unwrap(), Live::Event { path, record, .. }
            if path.as_str() == "lead/worker#1" && matches!(record.event, Event::StepStarted(_)))
        {}
        handle.control(Control::Interrupt);
        assert!(matches!(handle.wait().await, Ok(Halt::Interrupted)));
    }
    let script = "lead: [{text: x}, {text: both are in}]\nlead/worker#1: [{text: one}]\nlead/worker#2: [{text: two}]\n";
    let script = deputize_testkit::scripted::Script::parse("s.yaml", script).unwrap();
    let stage = Stage { model: Arc::new(deputize_adapters::provider::Scripted::new(script)), ..stage };
    assert_eq!(stage.resume().await.status, Terminal::Succeeded);
    let doubts = stage.events("r/t1/c0").await.iter().filter(|e| matches!(e, Event::StepInDoubt { .. })).count();
    assert_eq!(doubts, 0);
}

// A signal counts as taken once what it asks for is durable.
#[tokio::test(start_paused = true)]
async fn a_signal_survives_a_driver_that_dies_before_it_took_effect() {
    let stage = hanging();
    let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    handle.kill();
    let (root, by) = (RunId::new(ROOT), "another process".to_string());
    stage.store.signal(&root, Signal::Cancel { run: root.clone(), by }).await.unwrap();
    let setup = deputize_core::digest::of_bytes(b"{}");
    let dead = Arc::new(FullDisk::after(stage.store.clone(), 0));
    if let Ok(ready) = deputize_runtime::resume(stage.world_on(dead), &root, stage.team.clone(), setup).await {
        assert!(ready.run().await.is_err());
    }
    let paid = stage.model.calls().len();
    assert_eq!(stage.resume().await.status, Terminal::Cancelled);
    assert_eq!(stage.model.calls().len(), paid, "nothing is asked of a model before the cancel takes effect");
    assert!(stage.store.signals(&root).await.unwrap().is_empty(), "and then it is taken");
}

#[tokio::test(start_paused = true)]
async fn a_tree_is_taken_up_only_as_what_it_was_started_as() {
    let stage = hanging();
    let handle = until_deep(stage.ready_on(stage.world()).await.unwrap()).await;
    handle.kill();
    let mut other = deputize_core::definition::Team::clone(&stage.team);
    other.agents.get_mut("worker").unwrap().body = "You are somebody else.".into();
    let setup = deputize_core::digest::of_bytes(b"{}");
    let taken = deputize_runtime::resume(stage.world(), &RunId::new(ROOT), Arc::new(other), setup).await;
    assert!(taken.is_err(), "another definition");
    let setup = deputize_core::digest::of_bytes(b"other");
    let taken = deputize_runtime::resume(stage.world(), &RunId::new(ROOT), stage.team.clone(), setup).await;
    assert!(taken.is_err(), "another setup");
}
