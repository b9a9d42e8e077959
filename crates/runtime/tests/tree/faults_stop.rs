//! Reported faults of ends: cancels, hangs, waits without a bound. Whatever hangs, the subtree ends within a second of
//! virtual time, what is open is answered, and nothing that comes late is used. The shell tool arrives later; a toy with a
//! real process group stands for it.

use crate::support::*;
use deputize_core::code;
use deputize_core::event::Event;
use deputize_core::id::{RunId, Time, ToolName};
use deputize_core::summary::Terminal;
use deputize_runtime::port::Clock;
use deputize_runtime::{Control, Halt, TokioClock};
use deputize_testkit::group::Groups;
use deputize_testkit::stage::finished;
use deputize_testkit::{Stage, team};
use std::sync::Arc;

fn cancel(run: &str) -> Control {
    Control::Cancel { run: RunId::new(run), by: "a person".into() }
}

/// Lets virtual time pass.
async fn pass(milliseconds: u64) {
    TokioClock::at(Time(0)).sleep_until(Time(milliseconds)).await;
}

// A call that a model makes while it is being stopped is not run, and nothing more is asked.
// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_13_a_call_that_comes_after_the_cancel_is_not_run() {
    let script = "solo:\n  - text: I begin\n    latency: 2s\n    calls: [{send: {}}]\n  - text: never said\n";
    for interrupt in [false, true] {
        let stage = Stage::new(team(&[("solo", &[])]), script);
        let (handle, mut live) = go(&stage).await;
        until(&mut live, "r", started).await;
        handle.control(if interrupt { Control::Interrupt } else { cancel("r") });
        let end = handle.wait().await.unwrap();
        assert!(matches!(end, Halt::Interrupted) == interrupt);
        pass(10_000).await;
        assert_eq!((stage.tools.done().len(), stage.model.calls().len()), (0, 1));
    }
}

// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_15_a_tool_that_is_stopped_is_answered_and_its_processes_are_gone() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}]
  - calls: [{hang: {}}]
  - text: went on
lead/worker:
  - calls: [{hang: {}}]
";
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.tool_timeout.by_tool.insert(ToolName::new("hang"), 3_000);
    let stage = Stage::new(team, script);
    let groups = Groups::default();
    let mut world = stage.world();
    world.tools = Arc::new(groups.clone());
    let (handle, mut live) = going(stage.ready_on(world).await.unwrap());
    let at = until(&mut live, "r/t1/c0", |e| matches!(e, Event::StepStarted(s) if s.label.as_str() == "t1/c0")).await;
    while groups.started().is_empty() {
        tokio::task::yield_now().await;
    }
    handle.control(cancel("r/t1/c0"));
    let over = until(&mut live, "r/t1/c0", is_over).await;
    assert!(over.at.since(at.at) <= 1_000);
    assert_eq!(finished(handle.wait().await).status, Terminal::Succeeded);
    let answered = stage.events("r/t1/c0").await.into_iter().find_map(|e| match e {
        Event::StepFailed { label, code, .. } => Some((label.to_string(), code)),
        _ => None,
    });
    assert_eq!(answered, Some(("t1/c0".to_string(), code::STEP_STOPPED)));
    let last = requests(&stage, "lead").pop().unwrap();
    let told: Vec<&str> = last.messages.iter().map(text).collect();
    assert!(told[2].contains("\"status\":\"cancelled\"") && told[4].contains("tool.timeout"), "{told:?}");
    assert_eq!(groups.started().len(), 2);
    wait_gone(&groups).await;
}

/// The kernel needs a moment to take a killed process away.
async fn wait_gone(groups: &Groups) {
    let begun = std::time::Instant::now();
    while groups.alive() > 0 {
        assert!(begun.elapsed().as_secs() < 30, "processes are left: {:?}", groups.started());
        tokio::task::yield_now().await;
    }
}

// The whole tree ends, or its driver is interrupted or dies: no process outlives it.
// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_15_no_process_outlives_its_driver() {
    for way in 0..3 {
        let stage = Stage::new(team(&[("solo", &[])]), "solo:\n  - calls: [{hang: {}}, {hang: {}}]\n");
        let groups = Groups::default();
        let mut world = stage.world();
        world.tools = Arc::new(groups.clone());
        let handle = stage.ready_on(world).await.unwrap().go();
        while groups.alive() < 2 {
            tokio::task::yield_now().await;
        }
        match way {
            0 => handle.control(cancel("r")),
            1 => handle.control(Control::Interrupt),
            _ => {}
        }
        if way == 2 {
            handle.kill()
        } else {
            assert!(handle.wait().await.is_ok())
        }
        assert_eq!(groups.started().len(), 2);
        wait_gone(&groups).await;
    }
}

// covers X-07
#[tokio::test(start_paused = true)]
async fn fault_17_a_child_that_hangs_does_not_hold_its_siblings_result_back() {
    let script = "
lead:
  - calls:
      - delegate: {agent: worker, objective: one}
      - delegate: {agent: worker, objective: two, budget: {time_s: 20}}
  - text: one of two
lead/worker#1:
  - text: one is done
lead/worker#2:
  - calls: [{hang: {}}]
";
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let last = requests(&stage, "lead").pop().unwrap();
    let told: Vec<&str> = last.messages.iter().map(text).collect();
    assert!(told[2].contains("one is done") && told[3].contains("\"status\":\"deadline\""), "{told:?}");
    let log = stage.log("r").await;
    assert!(log.last().unwrap().at.since(log[0].at) <= 20_000);
    let stage = Stage { model: Arc::new(deputize_adapters::provider::Scripted::new(parse(script))), ..fresh(script) };
    let (handle, mut live) = go(&stage).await;
    until(&mut live, "r/t1/c0", is_over).await;
    handle.control(cancel("r"));
    assert_eq!(finished(handle.wait().await).status, Terminal::Cancelled);
}

fn parse(script: &str) -> deputize_testkit::scripted::Script {
    deputize_testkit::scripted::Script::parse("s.yaml", script).unwrap()
}

fn fresh(script: &str) -> Stage {
    Stage::new(team(&[("lead", &["worker"]), ("worker", &["leaf"]), ("leaf", &[])]), script)
}

// A child that waits for a slot is there at once, with its place in the log, and ends when it is told to.
// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_19_a_child_without_a_slot_is_there_and_can_be_ended() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]
  - text: two was given up
lead/worker#1:
  - text: one
    latency: 60s
lead/worker#2:
  - text: never said
";
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.concurrency = 1;
    let stage = Stage::new(team, script);
    let (handle, mut live) = go(&stage).await;
    let begun = until(&mut live, "r/t1/c1", |e| matches!(e, Event::RunStarted(_))).await;
    assert_eq!(begun.at, stage.log("r").await[0].at, "it is there at once");
    handle.control(cancel("r/t1/c1"));
    let over = until(&mut live, "r/t1/c1", is_over).await;
    assert!(over.at.since(begun.at) <= 1_000);
    assert_eq!(finished(handle.wait().await).status, Terminal::Succeeded);
    assert!(requests(&stage, "lead/worker#2").is_empty());
}

// Whatever a tree waits for, its end takes at most a second, and every run has its account.
// covers X-08
#[tokio::test(start_paused = true)]
async fn a_cancel_ends_whatever_hangs_within_a_second() {
    let deep = "lead/worker: [{calls: [{delegate: {agent: leaf, objective: deep}}]}]\n";
    let all = [
        ("a model", "lead/worker: [{fault: hang}]\n".to_string()),
        ("a stream", "lead/worker: [{text: half, fault: stall}]\n".to_string()),
        ("a tool", "lead/worker: [{calls: [{hang: {}}, {slow: {}}]}]\n".to_string()),
        ("a child of a child", format!("{deep}lead/worker/leaf: [{{calls: [{{hang: {{}}}}]}}]\n")),
        ("a retry", "lead/worker: [{fault: rate_limited, retry_after: 60s}]\n".to_string()),
        ("a slot", "lead/worker#1: [{fault: hang}]\nlead/worker#2: [{text: two}]\n".to_string()),
    ];
    for (what, rest) in all {
        let calls = "[{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]";
        let mut stage = fresh(&format!("lead: [{{calls: {calls}}}]\n{rest}"));
        let mut team = deputize_core::definition::Team::clone(&stage.team);
        team.budget.concurrency = if what == "a slot" { 1 } else { 4 };
        stage.team = Arc::new(team);
        let handle = stage.ready_on(stage.world()).await.unwrap().go();
        pass(2_000).await;
        handle.control(cancel("r"));
        let asked = tokio::time::Instant::now();
        assert_eq!(finished(handle.wait().await).status, Terminal::Cancelled, "{what}");
        assert!(asked.elapsed().as_millis() <= 1_000, "{what}");
        for run in stage.tree().await.runs() {
            assert!(run.state.summary().is_some() && run.state.open().is_empty(), "{what}: {}", run.id);
        }
    }
}

// A child whose parent's time is up ends as one whose time is up, not as one that somebody cancelled; and a child that
// uses all its time leaves its parent enough for last words.
// covers X-08
#[tokio::test(start_paused = true)]
async fn a_childs_time_is_its_parents_less_a_share_for_the_closing() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}]
  - text: it ran out of time
lead/worker: [{fault: hang}]
";
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.tree.time = Some(100_000);
    let stage = Stage::new(team, script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let tree = stage.tree().await;
    let child = tree.runs()[1].state.summary().unwrap();
    assert_eq!((child.status, child.limit.as_deref()), (Terminal::Deadline, Some("time")));
    let log = stage.log("r").await;
    assert_eq!(log.last().unwrap().at.since(log[0].at), 90_000);
}

// covers X-08
#[tokio::test(start_paused = true)]
async fn a_grandchild_ends_by_deadline_when_its_grandparents_time_is_up() {
    let script = "
lead:
  - calls: [{hang: {}}, {delegate: {agent: worker, objective: one}}]
lead/worker:
  - calls: [{delegate: {agent: leaf, objective: deep}}]
  - fault: hang
lead/worker/leaf:
  - fault: hang
";
    let mut stage = fresh(script);
    let mut team = deputize_core::definition::Team::clone(&stage.team);
    team.budget.tree.time = Some(60_000);
    team.tool_timeout.default = 600_000;
    stage.team = Arc::new(team);
    assert_eq!(stage.run().await.status, Terminal::Deadline);
    for run in stage.tree().await.runs() {
        assert_eq!(run.state.summary().unwrap().status, Terminal::Deadline, "{}", run.id);
    }
}

// What is cancelled while nobody drives the tree: the rest of it stays as it is, and nothing is booked for it twice.
#[tokio::test(start_paused = true)]
async fn a_child_is_cancelled_in_a_still_tree_at_no_cost() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]
  - text: done
lead/worker: [{text: x, fault: hang}]
";
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
    let (handle, mut live) = go(&stage).await;
    until(&mut live, "r/t1/c1", started).await;
    handle.kill();
    let paid = stage.model.calls().len();
    let (handle, mut live) = going(take_up(&stage).await.still());
    handle.control(cancel("r/t1/c0"));
    until(&mut live, "r/t1/c0", is_over).await;
    handle.control(Control::Interrupt);
    assert!(matches!(handle.wait().await, Ok(Halt::Interrupted)));
    assert_eq!(stage.model.calls().len(), paid);
    let booked = stage.events("r/t1/c1").await.iter().filter(|e| matches!(e, Event::StepInDoubt { .. })).count();
    let stopped = stage.events("r/t1/c1").await.iter().filter(|e| matches!(e, Event::StepInterrupted { .. })).count();
    assert_eq!((booked, stopped), (1, 0));
    assert!(!stage.events("r").await.iter().any(|e| matches!(e, Event::StepStarted(s) if s.label.as_str() == "t2")));
}
