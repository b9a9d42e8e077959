//! Providers that ask for a long pause: the tree is left, nothing is asked before the moment, nothing is done twice.

use crate::crash::{performed, recorded};
use deputize_adapters::provider::Scripted;
use deputize_core::definition::{ModelChoice, RetryPolicy, Team, WhenOverloaded};
use deputize_core::event::Event;
use deputize_core::id::{RunId, Time};
use deputize_core::message::Request;
use deputize_core::projection;
use deputize_core::step::{Failure, Then};
use deputize_core::summary::{Summary, Terminal};
use deputize_core::{code, digest};
use deputize_runtime::port::{Clock as _, Delta, Model, ModelFailure, Pending, Reply, Store, Who};
use deputize_runtime::{DriveError, Halt, TokioClock, World};
use deputize_testkit::stage::{ROOT, finished};
use deputize_testkit::store::{CrashStore, Cut};
use deputize_testkit::{Stage, team};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const HOUR: u64 = 3_600_000;
/// The clock of a stage when its tree starts.
const START: u64 = 1_000_000;

/// A lead with two workers; the first is told to come back later.
fn limited(first: &str) -> Stage {
    let mut team = team(&[("lead", &["worker"]), ("worker", &[])]);
    team.budget.tree.time = Some(60_000);
    let script = format!(
        "
lead:
  - calls: [{{put: {{n: 1}}}}, {{delegate: {{agent: worker, objective: one}}}}, {{delegate: {{agent: worker, objective: two}}}}]
  - text: both are in
lead/worker#1:
  - calls: [{{look: {{}}}}]
  - {first}text: one
lead/worker#2:
  - latency: 10s
    text: two
"
    );
    Stage::new(team, &script)
}

const LIMIT: &str = "fault: rate_limited\n    retry_after: 2h\n    times: 1\n    ";

/// Takes the tree up at a moment and drives it as far as it goes.
async fn resume_at(stage: &Stage, at: u64) -> Result<Halt, DriveError> {
    resume_on(stage, at, Arc::new(stage.store.clone())).await
}

async fn resume_on(stage: &Stage, at: u64, store: Arc<dyn Store>) -> Result<Halt, DriveError> {
    let world = World { clock: Arc::new(TokioClock::at(Time(at))), ..stage.world_on(store) };
    let setup = digest::of_bytes(b"{}");
    deputize_runtime::resume(world, &RunId::new(ROOT), stage.team.clone(), setup).await.unwrap().run().await
}

async fn first(stage: &Stage) -> Option<Time> {
    match stage.ready_on(stage.world()).await.unwrap().run().await {
        Ok(Halt::Waiting { until }) => until,
        other => panic!("it does not wait: {other:?}"),
    }
}

/// What a reader of a summary sees, without the account of tokens and calls.
fn said(summary: &Summary) -> String {
    let Summary { status, payload, findings, evidence, success, .. } = summary;
    format!("{status:?} {payload} {findings:?} {evidence:?} {success:?}")
}

// covers U-02
#[tokio::test(start_paused = true)]
async fn a_limit_with_a_reset_time_parks_the_tree_and_nothing_is_asked_before_it() {
    let undisturbed = said(&*limited("").run().await);
    let stage = limited(LIMIT);
    let until = first(&stage).await.unwrap();
    let log = stage.log("r/t1/c1").await;
    let refused = log.iter().find(|r| matches!(r.event, Event::StepFailed { .. })).unwrap().at;
    assert_eq!(until, refused.plus(2 * HOUR), "from when the provider said so");
    let asked = stage.model.calls().len();
    assert_eq!(asked, 4, "the lead, both workers, and the second turn of the first: the sibling went on");
    let tree = stage.tree().await;
    let rows = projection::waiting(&tree, &RunId::new(ROOT));
    assert_eq!(rows.iter().map(|r| format!("{}/{}", r.run, r.step)).collect::<Vec<_>>(), ["r/t1/c1/t2"]);
    assert_eq!((rows[0].until, &rows[0].code), (Some(until), &code::MODEL_RATE_LIMITED));
    assert!(projection::waits(&tree, &RunId::new(ROOT)));
    let done = recorded(&stage).await;
    for early in [START + 20_000, until.0 - 1_000] {
        let halt = resume_at(&stage, early).await;
        assert!(matches!(halt, Ok(Halt::Waiting { until: Some(at) }) if at == until), "{halt:?}");
        assert_eq!(stage.model.calls().len(), asked, "nothing is asked before the moment");
    }
    let paid = (asked, stage.tools.done().len());
    let summary = finished(resume_at(&stage, until.0).await);
    assert_eq!(said(&summary), undisturbed, "in a tree that may take a minute: parked time does not count");
    let again: Vec<String> = performed(&stage, paid).into_iter().filter(|step| done.contains(step)).collect();
    assert_eq!((again, stage.model.calls().len()), (Vec::<String>::new(), asked + 2));
}

// covers U-02, F-05
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_event_around_the_wait_changes_nothing() {
    let undisturbed = said(&*limited("").run().await);
    let late = START + 3 * HOUR;
    for n in 1.. {
        let stage = limited(LIMIT);
        let store = Arc::new(CrashStore::new(stage.store.clone(), Cut::After(n)));
        let end = stage.ready_on(stage.world_on(store)).await.unwrap().run().await;
        let whole = matches!(end, Ok(Halt::Waiting { .. }));
        let (before, paid) = (recorded(&stage).await, (stage.model.calls().len(), stage.tools.done().len()));
        // It dies once more while it is taken up.
        let store = Arc::new(CrashStore::new(stage.store.clone(), Cut::After(n % 5 + 1)));
        drop(resume_on(&stage, late, store).await);
        let summary = match resume_at(&stage, late).await {
            Ok(Halt::Waiting { until: Some(at) }) => finished(resume_at(&stage, at.0).await),
            other => finished(other),
        };
        assert_eq!(said(&summary), undisturbed, "crash at {n}");
        let again: Vec<String> = performed(&stage, paid).into_iter().filter(|step| before.contains(step)).collect();
        assert_eq!(again, Vec::<String>::new(), "crash at {n}");
        if whole {
            assert!(n > 15, "it was worth it");
            return;
        }
    }
}

// While somebody drives the tree it goes on by itself when the moment comes, and the clock of the run that waited stood.
// covers U-02
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_while_its_sibling_works_loses_no_time() {
    let mut team = team(&[("lead", &["worker", "slow"]), ("worker", &[]), ("slow", &[])]);
    team.agents.get_mut("worker").unwrap().timeout = Some(60_000);
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: slow, objective: two}}]
  - text: both are in
lead/worker:
  - fault: rate_limited
    retry_after: 8m
    times: 1
    text: one
lead/slow:
  - latency: 12m
    text: two
";
    let stage = Stage::new(team, script);
    assert_eq!(stage.run().await.status, Terminal::Succeeded);
    let worker = stage.tree().await.run(&RunId::new("r/t1/c0")).unwrap().state.summary().unwrap().status;
    assert_eq!(worker, Terminal::Succeeded, "its minute did not pass while it waited for eight");
    let events = stage.events("r/t1/c0").await;
    assert!(events.iter().any(|e| matches!(e, Event::StepFailed { then: Then::Wait { .. }, .. })));
}

/// A gate that a whole process shares: after one 429 of a provider it refuses, without a request, what comes too early.
struct Shared {
    inner: Arc<Scripted>,
    clock: TokioClock,
    until: Mutex<BTreeMap<String, Time>>,
    requests: AtomicU64,
}

impl Model for Shared {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        let (provider, now) = (request.model.provider().to_string(), self.clock.now());
        let closed = self.until.lock().unwrap().get(&provider).copied().filter(|until| *until > now);
        let rest = match closed {
            Some(until) => Some(until.since(now)),
            None if provider == "narrow" && self.requests.fetch_add(1, Ordering::SeqCst) == 0 => Some(2 * HOUR),
            None => None,
        };
        match rest {
            None => self.inner.call(who, request, delta),
            Some(rest) => {
                self.until.lock().unwrap().entry(provider).or_insert(now.plus(rest));
                let failure = Failure::passing(code::MODEL_RATE_LIMITED, "the limit is reached", Some(rest));
                Box::pin(async move { Err(failure.into()) })
            }
        }
    }
}

// covers U-02
#[tokio::test(start_paused = true)]
async fn one_refusal_parks_every_run_of_its_provider_and_no_other() {
    let mut team = team(&[("lead", &["worker", "other"]), ("worker", &[]), ("other", &[])]);
    team.agents.get_mut("worker").unwrap().model = ModelChoice::Named("narrow:small".into());
    let script = "
lead:
  - calls:
      - delegate: {agent: worker, objective: one}
      - delegate: {agent: worker, objective: two}
      - delegate: {agent: other, objective: three}
  - text: all are in
lead/worker: [{text: found}]
lead/other:
  - latency: 1m
    calls: [{look: {}}]
  - text: three
";
    let stage = Stage::new(team, script);
    let clock = TokioClock::at(Time(START));
    let (until, requests) = (Mutex::new(BTreeMap::new()), AtomicU64::new(0));
    let model = Arc::new(Shared { inner: stage.model.clone(), clock, until, requests });
    let world = || World { model: model.clone(), ..stage.world() };
    let halt = stage.ready_on(world()).await.unwrap().run().await;
    let Ok(Halt::Waiting { until: Some(until) }) = halt else { panic!("{halt:?}") };
    assert_eq!(until, Time(START + 2 * HOUR));
    assert_eq!(model.requests.load(Ordering::SeqCst), 1, "the second worker is parked without a request");
    let tree = stage.tree().await;
    let waiting: Vec<String> =
        projection::waiting(&tree, &RunId::new(ROOT)).iter().map(|r| r.run.to_string()).collect();
    assert_eq!(waiting, ["r/t1/c0", "r/t1/c1"]);
    let other = tree.run(&RunId::new("r/t1/c2")).unwrap().state.summary().unwrap();
    assert_eq!(other.payload["result"], "three", "another provider's run went on to its end");
    tokio::time::advance(std::time::Duration::from_millis(2 * HOUR)).await;
    let world = World { clock: Arc::new(clock), ..world() };
    let setup = digest::of_bytes(b"{}");
    let ready = deputize_runtime::resume(world, &RunId::new(ROOT), stage.team.clone(), setup).await.unwrap();
    assert_eq!(finished(ready.run().await).payload["result"], "all are in");
    assert_eq!(model.requests.load(Ordering::SeqCst), 3);
}

fn overloaded(then: WhenOverloaded) -> Stage {
    let mut team: Team = team(&[("solo", &[])]);
    team.retry.insert("scripted".into(), RetryPolicy { attempts: 2, then, ..RetryPolicy::default() });
    Stage::new(team, "solo: [{fault: overloaded, times: 3, text: at last}]")
}

// covers U-02
#[tokio::test(start_paused = true)]
async fn overload_without_a_time_fails_or_parks_as_configured() {
    let stage = overloaded(WhenOverloaded::Fail);
    let summary = stage.run().await;
    assert_eq!((summary.status, summary.reason_code.clone()), (Terminal::Failed, Some(code::MODEL_OVERLOADED)));
    assert_eq!(stage.model.calls().len(), 2, "the retries are bounded");
    let stage = overloaded(WhenOverloaded::Park);
    assert_eq!(first(&stage).await, None);
    assert_eq!(stage.model.calls().len(), 2);
    let summary = finished(resume_at(&stage, START + 60_000).await);
    assert_eq!((summary.status, summary.payload["result"].as_str()), (Terminal::Succeeded, Some("at last")));
    assert_eq!(stage.model.calls().iter().map(|c| c.attempt).collect::<Vec<_>>(), [1, 2, 3, 4]);
}

// covers U-02, E-60
#[tokio::test(start_paused = true)]
async fn a_tree_that_waits_can_be_cancelled_without_a_request() {
    for run in [ROOT, "r/t1/c1"] {
        let stage = limited(LIMIT);
        first(&stage).await;
        let asked = stage.model.calls().len();
        let world = World { clock: Arc::new(TokioClock::at(Time(START + 60_000))), ..stage.world() };
        let setup = digest::of_bytes(b"{}");
        let ready = deputize_runtime::resume(world, &RunId::new(ROOT), stage.team.clone(), setup).await.unwrap();
        let summary = finished(ready.cancel(&RunId::new(run), "a person").run().await);
        let child = stage.tree().await.run(&RunId::new("r/t1/c1")).unwrap().state.summary().unwrap().status;
        assert_eq!(child, Terminal::Cancelled);
        let (status, more) = if run == ROOT { (Terminal::Cancelled, 0) } else { (Terminal::Succeeded, 1) };
        assert_eq!((summary.status, stage.model.calls().len()), (status, asked + more), "{run}");
    }
}
