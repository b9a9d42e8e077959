//! Ports that misbehave: late failures, adapters that panic before they have made a future, looks that hang. Each is an
//! outcome within its bound.

use deputize_core::brief::{Predicate, Success};
use deputize_core::code;
use deputize_core::definition::{RetryPolicy, Team, ToolSpec};
use deputize_core::event::Event;
use deputize_core::id::{Time, ToolName};
use deputize_core::message::{Request, Turn};
use deputize_core::step::{Failure, Note};
use deputize_core::summary::{Summary, Terminal};
use deputize_runtime::port::{Clock as _, Delta, Model, ModelFailure, Pending, Reply, Tools, Who};
use deputize_runtime::{TokioClock, World};
use deputize_testkit::stage::finished;
use deputize_testkit::toys::Toys;
use deputize_testkit::{Stage, team};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A model whose first calls fail late and whose later ones answer.
struct Late {
    calls: AtomicU64,
    failing: u64,
    ms: u64,
    failure: Failure,
}

impl Model for Late {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        let failed = self.calls.fetch_add(1, Ordering::SeqCst) < self.failing;
        Box::pin(async move {
            if !failed {
                let turn = Turn { text: "at last".into(), ..Turn::default() };
                return Ok(Reply { turn, usage: Default::default() });
            }
            TokioClock::at(Time(0)).sleep_until(Time(self.ms)).await;
            Err(self.failure.clone().into())
        })
    }
}

/// A model that panics instead of giving a future.
struct Broken;
impl Model for Broken {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        panic!("no future at all, as it should be here")
    }
}

/// Tools whose looks misbehave.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    ExistsPanics,
    ExistsHangs,
    PrepareHangs,
}
struct Odd(Toys, Fault);
impl Tools for Odd {
    fn specs(&self) -> Vec<ToolSpec> {
        self.0.specs()
    }
    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        if self.1 == Fault::PrepareHangs {
            Box::pin(std::future::pending())
        } else {
            self.0.prepare(who, tool, arguments)
        }
    }
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        self.0.perform(who, tool, arguments, note)
    }
    fn exists<'a>(&'a self, _: &'a str) -> Pending<'a, bool> {
        match self.1 {
            Fault::ExistsPanics => panic!("no future at all, as it should be here"),
            _ => Box::pin(std::future::pending()),
        }
    }
}

fn solo(change: impl FnOnce(&mut Team)) -> Stage {
    let mut team = team(&[("solo", &[])]);
    change(&mut team);
    Stage::new(team, "solo: [{calls: [{noted: {}}]}, {text: done}]\n")
}

async fn run(stage: &Stage, world: World) -> Arc<Summary> {
    finished(stage.ready_on(world).await.unwrap().run().await)
}

async fn starts(stage: &Stage) -> Vec<u64> {
    let log = stage.log("r").await;
    log.iter().filter(|r| matches!(r.event, Event::StepStarted(_))).map(|r| r.at.since(log[0].at)).collect()
}

// Retry-After counts from the failure, not from the start of the call that failed.
#[tokio::test(start_paused = true)]
async fn a_wait_counts_from_the_failure() {
    let stage = solo(|_| {});
    let failure = Failure::passing(code::MODEL_RATE_LIMITED, "slow down", Some(7_000));
    let model = Arc::new(Late { calls: AtomicU64::new(0), failing: 1, ms: 20_000, failure });
    assert_eq!(run(&stage, World { model, ..stage.world() }).await.status, Terminal::Succeeded);
    let starts = starts(&stage).await;
    assert!(starts.len() == 2 && starts[1] >= 27_000, "{starts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlasts_the_bound_of_all_attempts_is_the_last() {
    let stage = solo(|team| {
        team.retry.insert("scripted".into(), RetryPolicy { total: 300_000, ..RetryPolicy::default() });
    });
    let failure = Failure::passing(code::MODEL_OVERLOADED, "overloaded", None);
    let model = Arc::new(Late { calls: AtomicU64::new(0), failing: 9, ms: 400_000, failure });
    let summary = run(&stage, World { model: model.clone(), ..stage.world() }).await;
    assert_eq!((summary.status, model.calls.load(Ordering::SeqCst)), (Terminal::Failed, 1));
}

// covers F-07
#[tokio::test(start_paused = true)]
async fn an_adapter_that_panics_before_it_gives_a_future_is_an_outcome() {
    let stage = solo(|_| {});
    let summary = run(&stage, World { model: Arc::new(Broken), ..stage.world() }).await;
    assert_eq!((summary.status, summary.reason_code.clone()), (Terminal::Failed, Some(code::MODEL_PANICKED)));
}

// covers F-07
#[tokio::test(start_paused = true)]
async fn looks_at_the_world_that_panic_or_hang_end_within_the_bound_of_a_tool() {
    let asks = |team: &mut Team| {
        let success = Success { predicates: vec![Predicate::FileExists("a".into())], statements: Vec::new() };
        team.agents.values_mut().for_each(|a| a.success = Some(success.clone()));
    };
    for (fault, status) in [
        (Fault::ExistsPanics, Terminal::Unmet),
        (Fault::ExistsHangs, Terminal::Unmet),
        (Fault::PrepareHangs, Terminal::Succeeded),
    ] {
        let stage = solo(|team| {
            if fault == Fault::PrepareHangs {
            } else {
                asks(team)
            }
        });
        let world = World { tools: Arc::new(Odd(stage.tools.clone(), fault)), ..stage.world() };
        assert_eq!(run(&stage, world).await.status, status);
        let log = stage.log("r").await;
        assert!(log.last().unwrap().at.since(log[0].at) <= 60_000, "not at the deadline of the run");
    }
}
