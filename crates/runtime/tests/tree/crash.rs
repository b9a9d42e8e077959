//! Crash after every event of a two-level and a three-level tree: same end, nothing that was recorded is done again.

use deputize_core::id::RunId;
use deputize_core::run::Status;
use deputize_core::summary::Terminal;
use deputize_runtime::Halt;
use deputize_testkit::store::{CrashStore, Cut};
use deputize_testkit::{Stage, team};
use std::collections::BTreeSet;
use std::sync::Arc;

fn two_levels() -> Stage {
    let team = team(&[("lead", &["worker"]), ("worker", &[])]);
    let script = "
  lead:
    - calls: [{look: {}}, {put: {n: 1}}, {noted: {}}]
    - calls:
        - delegate: {agent: worker, objective: one}
        - delegate: {agent: worker, objective: ''}
        - delegate: {agent: stranger, objective: two}
        - delegate: {agent: worker, objective: three}
    - text: done
  lead/worker#1:
    - calls: [{look: {}}, {look: {}}]
    - text: one
  lead/worker#2:
    - fault: overloaded
      times: 1
      text: three
";
    Stage::new(team, script)
}

fn three_levels() -> Stage {
    let team = team(&[("top", &["lead"]), ("lead", &["worker"]), ("worker", &[])]);
    let script = "
  top:
    - calls: [{delegate: {agent: lead, objective: left}}, {delegate: {agent: lead, objective: right}}]
    - text: both
  top/lead#1:
    - calls: [{delegate: {agent: worker, objective: a}}, {delegate: {agent: worker, objective: b}}]
    - text: left
  top/lead#2:
    - calls: [{put: {n: 2}}, {delegate: {agent: worker, objective: c}}]
    - text: right
  top/lead#1/worker:
    - calls: [{look: {}}]
    - text: found
  top/lead#2/worker:
    - text: seen
";
    Stage::new(team, script)
}

/// Every step with a final outcome that came of an effect, as `run/label`.
pub(crate) async fn recorded(stage: &Stage) -> BTreeSet<String> {
    let tree = stage.tree().await;
    let mut done = BTreeSet::new();
    for run in tree.runs() {
        let of = run.state.steps().filter(|(_, s)| s.attempt > 0 && matches!(s.status, Status::Done(_)));
        done.extend(of.map(|(label, _)| format!("{}/{label}", run.id)));
    }
    done
}

/// Model calls and tool calls that were made after the first so many of each.
pub(crate) fn performed(stage: &Stage, (models, tools): (usize, usize)) -> Vec<String> {
    let models = stage.model.calls().into_iter().skip(models).map(|c| format!("{}/{}", c.run, c.label));
    let tools = stage.tools.done().into_iter().skip(tools).map(|(key, _)| key.split('#').next().unwrap().to_string());
    models.chain(tools).collect()
}

pub(crate) async fn sweep(make: fn() -> Stage, cut: fn(u64) -> Cut) {
    let whole = make();
    let counter = Arc::new(CrashStore::new(whole.store.clone(), Cut::Never));
    let ready = whole.ready_on(whole.world_on(counter.clone())).await.unwrap();
    let want = deputize_testkit::stage::finished(ready.run().await);
    assert_eq!(want.status, Terminal::Succeeded);
    let total = counter.events().await;
    assert!(total > 20, "the tree is worth a sweep");
    for n in 1..total {
        let stage = make();
        let store = Arc::new(CrashStore::new(stage.store.clone(), cut(n)));
        let ready = stage.ready_on(stage.world_on(store)).await.unwrap();
        let end = ready.run().await;
        if let Ok(Halt::Finished(_)) = end {
            continue; // the cut fell behind the last append
        }
        let before = recorded(&stage).await;
        let paid = (stage.model.calls().len(), stage.tools.done().len());
        let got = stage.resume().await;
        assert_eq!((got.status, &got.payload), (want.status, &want.payload), "crash at {n}");
        let again: Vec<String> = performed(&stage, paid).into_iter().filter(|s| before.contains(s)).collect();
        assert_eq!(again, Vec::<String>::new(), "crash at {n}: done again though it was recorded");
        let open = stage.tree().await.runs().iter().filter(|r| r.state.summary().is_none()).count();
        assert_eq!(open, 0, "crash at {n}: every run has its summary");
    }
}

// covers L-62, F-05, X-13
#[tokio::test(start_paused = true)]
async fn two_levels_survive_a_crash_after_every_event() {
    sweep(two_levels, Cut::After).await;
}

// covers L-62, F-05
#[tokio::test(start_paused = true)]
async fn three_levels_survive_a_crash_after_every_event() {
    sweep(three_levels, Cut::After).await;
}

// the append is durable, but its caller died before it knew.
// covers L-62, F-05
#[tokio::test(start_paused = true)]
async fn trees_survive_a_crash_between_commit_and_return() {
    sweep(two_levels, Cut::AfterAppend).await;
    sweep(three_levels, Cut::AfterAppend).await;
}

#[tokio::test(start_paused = true)]
async fn a_tree_survives_a_crash_of_its_recovery() {
    let stage = three_levels();
    let want = three_levels().run().await;
    let mut cut = 6;
    loop {
        let store = Arc::new(CrashStore::new(stage.store.clone(), Cut::After(cut)));
        let world = stage.world_on(store);
        let root = RunId::new(deputize_testkit::stage::ROOT);
        let ready = if stage.log("r").await.is_empty() {
            stage.ready_on(world).await.unwrap()
        } else {
            let setup = deputize_core::digest::of_bytes(b"{}");
            deputize_runtime::resume(world, &root, stage.team.clone(), setup).await.unwrap()
        };
        if let Ok(Halt::Finished(got)) = ready.run().await {
            assert_eq!((got.status, &got.payload), (want.status, &want.payload));
            return;
        }
        cut += 1;
    }
}

// a cancel that a crash cuts short ends every run all the same, also a child that was only reserved.
// covers E-60
#[tokio::test(start_paused = true)]
async fn a_cancel_after_a_crash_at_any_event_ends_every_run_with_a_summary() {
    for n in 1.. {
        let stage = three_levels();
        let store = Arc::new(CrashStore::new(stage.store.clone(), Cut::After(n)));
        let ready = stage.ready_on(stage.world_on(store)).await.unwrap();
        let over = matches!(ready.run().await, Ok(Halt::Finished(_)));
        if over || stage.tree().await.runs()[0].state.summary().is_some() {
            return;
        }
        let (root, calls) = (RunId::new(deputize_testkit::stage::ROOT), stage.model.calls().len());
        let setup = deputize_core::digest::of_bytes(b"{}");
        let ready = deputize_runtime::resume(stage.world(), &root, stage.team.clone(), setup).await.unwrap();
        let control = ready.cancel(&root, "a person");
        assert_eq!(deputize_testkit::stage::finished(control.run().await).status, Terminal::Cancelled, "crash at {n}");
        assert_eq!(stage.model.calls().len(), calls, "crash at {n}: nothing new is paid for");
        let tree = stage.tree().await;
        for run in tree.runs() {
            assert!(run.state.summary().is_some(), "crash at {n}: {} has no summary", run.id);
            assert!(run.state.open().is_empty(), "crash at {n}: {} has open steps", run.id);
            let reserved = run.state.steps().filter(|(_, s)| s.delegation.is_some());
            for (label, _) in reserved {
                assert!(tree.run(&run.id.child(label)).is_some(), "crash at {n}: {label} has no run");
            }
        }
    }
}
