//! Following a tree from outside: everything is seen once, in order, and nothing is read twice.

use deputize_core::event::Recorded;
use deputize_core::id::{Digest, RunId};
use deputize_core::projection::Tree;
use deputize_runtime::port::{Append, BlobStore, EventStore, Pending, RunHead, Signal, StoreError, Waiting};
use deputize_runtime::{Follower, Live};
use deputize_testkit::{Stage, team};
use std::sync::{Arc, Mutex};

/// A store that notes what is read from where.
struct Noting<S>(S, Mutex<Vec<(RunId, u64)>>);

impl<S: EventStore> EventStore for Noting<S> {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        self.0.lease(root)
    }
    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        self.0.append(root, epoch, batch)
    }
    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>> {
        self.1.lock().unwrap().push((run.clone(), from));
        self.0.read(run, from)
    }
    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        self.0.tree(root)
    }
    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>> {
        self.0.roots(most)
    }
    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        self.0.find(prefix, most)
    }
    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>> {
        self.0.signal(root, signal)
    }
    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        self.0.signals(root)
    }
    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        self.0.acknowledge(root, ids)
    }
}

impl<S: BlobStore> BlobStore for Noting<S> {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        self.0.put(content)
    }
    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        self.0.get(digest)
    }
}

const SCRIPT: &str = "
  lead:
    - calls: [{delegate: {agent: worker, objective: one}}, {delegate: {agent: worker, objective: two}}]
    - calls: [{look: {n: 1}}]
    - text: done
  lead/worker:
    - calls: [{slow: {n: 2}}]
      latency: 1s
    - text: a part
";

fn same(one: &Tree, other: &Tree) {
    let runs = |tree: &Tree| -> Vec<_> {
        tree.runs().iter().map(|run| (run.id.clone(), run.log.clone(), run.own.clone(), tree.spent(&run.id))).collect()
    };
    assert_eq!(runs(one), runs(other));
    let ends = |tree: &Tree| -> Vec<_> { tree.runs().iter().map(|run| run.state.summary().cloned()).collect() };
    assert_eq!(ends(one), ends(other));
}

// covers U-07
#[tokio::test(start_paused = true)]
async fn a_follower_sees_every_event_once_and_reads_nothing_twice() {
    let stage = Stage::new(team(&[("lead", &["worker"]), ("worker", &[])]), SCRIPT);
    let store = Arc::new(Noting(stage.store.clone(), Mutex::default()));
    let ready = stage.ready_on(stage.world()).await.unwrap();
    let root = ready.root().clone();
    let mut follower = Follower::new(store.clone(), root.clone());
    assert!(follower.look().await.is_err(), "it has not begun");
    let mut items = ready.watch();
    let handle = ready.go();
    let mut seen: Vec<(RunId, Recorded)> = Vec::new();
    // A look after every event that is durable.
    while let Ok(item) = items.recv().await {
        if matches!(item, Live::Event { .. }) {
            let news = follower.look().await.unwrap();
            assert!(news.is_sorted_by_key(|(_, record)| record.at));
            seen.extend(news);
            same(follower.tree(), &stage.tree().await);
            // The handle keeps the stream open: the root's account is the last that comes.
            if follower.tree().runs().first().is_some_and(|run| run.state.summary().is_some()) {
                break;
            }
        }
    }
    handle.wait().await.unwrap();
    assert_eq!(follower.look().await.unwrap(), []);
    for run in stage.tree().await.runs() {
        let of_run: Vec<Recorded> =
            seen.iter().filter(|(of, _)| *of == run.id).map(|(_, record)| record.clone()).collect();
        assert_eq!(of_run, run.log, "all of it, once, in order");
        let reads = store.1.lock().unwrap();
        let from: Vec<u64> = reads.iter().filter(|(of, _)| *of == run.id).map(|(_, from)| *from).collect();
        assert!(from.is_sorted() && from.iter().filter(|from| **from == 0).count() == 1, "{from:?}");
        assert!(
            from.iter().all(|from| (*from as usize) < run.log.len()),
            "one that is over is not asked for: {from:?}"
        );
    }
    let reads = store.1.lock().unwrap().len();
    follower.look().await.unwrap();
    assert_eq!(store.1.lock().unwrap().len(), reads);
}
