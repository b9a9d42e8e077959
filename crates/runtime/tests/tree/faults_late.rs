//! Reported faults of what comes late or at a bad moment: streams that go on after a stop, appends that hang, crashes
//! between the figures of a tree.

use crate::support::*;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::{Digest, RunId, Time};
use deputize_core::message::{Arguments, Request, Stop, ToolCall, Turn, Usage};
use deputize_core::projection::{RunView, steps};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{
    Append, BlobStore, Clock as _, Delta, EventStore, Model, ModelFailure, Pending, Reply, RunHead, Signal, StoreError,
    Waiting, Who,
};
use deputize_runtime::{Control, Halt, Live, TokioClock, World};
use deputize_testkit::store::{CrashStore, Cut};
use deputize_testkit::{Stage, team};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// A model that says something, waits until it is let go, and then calls a tool with an effect.
#[derive(Default)]
struct Held {
    asked: AtomicU64,
    go: Notify,
}

impl Model for Held {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, delta: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            delta("I begin");
            self.go.notified().await;
            let call = ToolCall { name: "send".into(), arguments: Arguments::Json(serde_json::json!({})) };
            let turn = Turn { text: "I begin".into(), calls: vec![call], stop: Stop::ToolCalls, ..Turn::default() };
            Ok(Reply { turn, usage: Usage::default() })
        })
    }
}

async fn pass(milliseconds: u64) {
    TokioClock::at(Time(0)).sleep_until(Time(milliseconds)).await;
}

// The stream has begun, the run is stopped, and only then the stream calls a tool: the tool is not run and nothing more is
// asked. After an interrupt the call stands in the log, since it was paid, and waits for a resume.
// covers X-08
#[tokio::test(start_paused = true)]
async fn fault_13_a_stream_that_goes_on_after_the_stop_runs_no_tool() {
    for interrupt in [false, true] {
        let stage = Stage::new(team(&[("solo", &[])]), "solo: [{text: never asked}]");
        let model = Arc::new(Held::default());
        let (handle, mut live) = going(stage.ready_on(World { model: model.clone(), ..stage.world() }).await.unwrap());
        while !matches!(live.recv().await.unwrap(), Live::Delta { .. }) {}
        let cancel = Control::Cancel { run: RunId::new("r"), by: "a person".into() };
        handle.control(if interrupt { Control::Interrupt } else { cancel });
        pass(100).await; // the stop is under way, well within its grace
        model.go.notify_one();
        let end = handle.wait().await.unwrap();
        assert_eq!(matches!(end, Halt::Interrupted), interrupt);
        pass(10_000).await;
        assert_eq!((stage.tools.done().len(), model.asked.load(Ordering::SeqCst)), (0, 1), "interrupt: {interrupt}");
        let events = stage.events("r").await;
        let kept = events.iter().any(|e| matches!(e, Event::StepSucceeded { .. }));
        let tool = events.iter().any(|e| matches!(e, Event::StepStarted(s) if s.label.as_str() == "t1/c0"));
        assert_eq!((kept, tool), (interrupt, false), "{events:?}");
    }
}

/// A store whose append that starts a tool with an effect hangs until it is let go.
struct Slow {
    inner: deputize_adapters::store::memory::MemoryStore,
    hangs: Notify,
    go: Notify,
}

fn starts_send(batch: &[Append]) -> bool {
    let tool = |r: &Recorded| matches!(&r.event, Event::StepStarted(s) if s.label.as_str() == "t1/c0");
    batch.iter().flat_map(|append| &append.events).any(tool)
}

impl EventStore for Slow {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        self.inner.lease(root)
    }
    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if starts_send(&batch) {
                self.hangs.notify_one();
                self.go.notified().await;
            }
            self.inner.append(root, epoch, batch).await
        })
    }
    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>> {
        self.inner.read(run, from)
    }
    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        self.inner.tree(root)
    }
    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>> {
        self.inner.roots(most)
    }
    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        self.inner.find(prefix, most)
    }
    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>> {
        self.inner.signal(root, signal)
    }
    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        self.inner.signals(root)
    }
    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        self.inner.acknowledge(root, ids)
    }
}

impl BlobStore for Slow {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        self.inner.put(content)
    }
    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        self.inner.get(digest)
    }
}

// An interrupt that comes while an append hangs takes effect when the append is through: the run stops in good order, no
// further model call is made, and the effect is there once, whatever came of its start.
// covers X-13
#[tokio::test(start_paused = true)]
async fn an_interrupt_while_an_append_hangs_stops_the_tree_behind_it() {
    let script = "solo:\n  - calls: [{send: {}}]\n  - text: done\n";
    let stage = Stage::new(team(&[("solo", &[])]), script);
    let store = Arc::new(Slow { inner: stage.store.clone(), hangs: Notify::new(), go: Notify::new() });
    let handle = stage.ready_on(stage.world_on(store.clone())).await.unwrap().go();
    store.hangs.notified().await;
    handle.control(Control::Interrupt);
    pass(5_000).await;
    assert_eq!(stage.tools.done().len(), 0, "nothing is done before its start is durable");
    store.go.notify_one();
    assert!(matches!(handle.wait().await, Ok(Halt::Interrupted)));
    assert_eq!(stage.model.calls().len(), 1);
    assert_eq!(stage.resume().await.status, Terminal::Succeeded);
    assert_eq!(stage.tools.done().len(), 1);
}

/// What is known to be used by the model calls of a run, and what is presumed.
fn known(run: &RunView) -> (u64, u64) {
    let rows = steps(run);
    let model = || rows.iter().filter(|row| row.kind == "model");
    let presumed: u64 = model().map(|row| row.presumed.tokens()).sum();
    (model().map(|row| row.usage.tokens()).sum::<u64>() - presumed, presumed)
}

// A crash at every record: what was counted adds up to the last token in each run, what was presumed for lost attempts
// stands apart, and the tree's total is the sum of both.
// covers X-06, X-13
#[tokio::test(start_paused = true)]
async fn fault_31_the_figures_are_exact_over_a_crash() {
    let script = "
lead:
  - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]
    usage: {input: 1, output: 2}
  - text: done
    usage: {input: 4, output: 8}
lead/worker#1:
  - calls: [{look: {}}]
    usage: {input: 16, output: 32}
  - text: one
    usage: {input: 64, output: 128}
lead/worker#2:
  - fault: auth
    usage: {input: 256, output: 512}
";
    let figures = [15_u64, 240, 768];
    let (mut presumed_once, mut ended) = (false, false);
    for n in 1..200 {
        let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), script);
        let store = Arc::new(CrashStore::new(stage.store.clone(), Cut::After(n)));
        let Ok(ready) = stage.ready_on(stage.world_on(store)).await else { continue };
        ended = matches!(ready.run().await, Ok(Halt::Finished(_)));
        if ended {
            break;
        }
        let summary = stage.resume().await;
        let tree = stage.tree().await;
        let runs: Vec<(u64, u64)> = tree.runs().iter().map(known).collect();
        // A call whose answer was lost is made again under the same attempt, so each figure is in the log exactly once.
        assert_eq!(runs.iter().map(|r| r.0).collect::<Vec<_>>(), figures, "cut at {n}");
        let presumed: u64 = runs.iter().map(|r| r.1).sum();
        presumed_once |= presumed > 0;
        assert_eq!(summary.spent.usage.tokens(), 1_023 + presumed, "cut at {n}");
    }
    assert!(ended && presumed_once, "some cut lost an answer");
}
