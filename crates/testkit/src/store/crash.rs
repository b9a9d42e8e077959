//! A store that dies at a chosen event, for sweeps over every place where a crash can happen. Owns the counting and the
//! cut; the store inside keeps what was appended before.

use deputize_core::event::Recorded;
use deputize_core::id::{Digest, RunId};
use deputize_runtime::port::{Append, BlobStore, EventStore, Pending, RunHead, Signal, StoreError, Waiting};
use tokio::sync::Mutex;

/// Where a [`CrashStore`] dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nowhere: it only counts, so that a sweep knows how far to go.
    Never,
    /// After so many events, counted singly: an append that reaches the cut keeps its events up to there and fails; all
    /// that follows fails too. This is harsher than a store that keeps its promise, whose appends are whole or not there.
    After(u64),
    /// At the end of the append that holds the so-many-th event: it is durable as a whole, but its caller is told that
    /// it failed, as when a process dies between the commit and the return.
    AfterAppend(u64),
}

/// A store around another one that works up to its cut and fails in everything from then on, as if the process had
/// died. Give it a clone of the inner store, and go on with the other clone.
#[derive(Debug)]
pub struct CrashStore<S> {
    inner: S,
    cut: Cut,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: u64,
    appends: u64,
    dead: bool,
}

impl<S> CrashStore<S> {
    /// Dies at the cut; `Cut::After(0)` is dead from the start.
    pub fn new(inner: S, cut: Cut) -> CrashStore<S> {
        let state = State { dead: matches!(cut, Cut::After(0) | Cut::AfterAppend(0)), ..State::default() };
        CrashStore { inner, cut, state: Mutex::new(state) }
    }
    /// Events that have been appended.
    pub async fn events(&self) -> u64 {
        self.state.lock().await.events
    }
    /// Appends that have been kept, whole or in part.
    pub async fn appends(&self) -> u64 {
        self.state.lock().await.appends
    }
    /// Whether it has died.
    pub async fn is_dead(&self) -> bool {
        self.state.lock().await.dead
    }

    async fn alive(&self) -> Result<&S, StoreError> {
        if self.is_dead().await { Err(crash()) } else { Ok(&self.inner) }
    }
}

fn crash() -> StoreError {
    StoreError::Failed("the process died here (a crash that a test wants)".into())
}

fn events_of(batch: &[Append]) -> u64 {
    batch.iter().map(|append| append.events.len() as u64).sum()
}

/// The first `most` events of a batch.
fn first(batch: Vec<Append>, most: u64) -> Vec<Append> {
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    let mut kept = Vec::new();
    for Append { run, expected, events } in batch {
        let events: Vec<Recorded> = events.into_iter().take(left).collect();
        left -= events.len();
        if !events.is_empty() {
            kept.push(Append { run, expected, events });
        }
    }
    kept
}

impl<S: EventStore> CrashStore<S> {
    async fn append_up_to_cut(&self, root: &RunId, epoch: u64, batch: Vec<Append>) -> Result<(), StoreError> {
        // Held over the inner append, so that the count is in the order of the appends.
        let mut state = self.state.lock().await;
        if state.dead {
            return Err(crash());
        }
        let (batch, last) = match self.cut {
            Cut::Never => (batch, false),
            Cut::After(cut) => {
                let last = state.events + events_of(&batch) >= cut;
                (first(batch, cut - state.events), last)
            }
            Cut::AfterAppend(cut) => {
                let last = state.events + events_of(&batch) >= cut;
                (batch, last)
            }
        };
        let events = events_of(&batch);
        self.inner.append(root, epoch, batch).await?;
        state.events += events;
        state.appends += 1;
        state.dead = last;
        if last { Err(crash()) } else { Ok(()) }
    }
}

impl<S: EventStore> EventStore for CrashStore<S> {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        Box::pin(async move { self.alive().await?.lease(root).await })
    }
    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(self.append_up_to_cut(root, epoch, batch))
    }
    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>> {
        Box::pin(async move { self.alive().await?.read(run, from).await })
    }
    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move { self.alive().await?.tree(root).await })
    }
    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move { self.alive().await?.roots(most).await })
    }
    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move { self.alive().await?.find(prefix, most).await })
    }
    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move { self.alive().await?.signal(root, signal).await })
    }
    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        Box::pin(async move { self.alive().await?.signals(root).await })
    }
    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move { self.alive().await?.acknowledge(root, ids).await })
    }
}

impl<S: BlobStore> BlobStore for CrashStore<S> {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        Box::pin(async move { self.alive().await?.put(content).await })
    }
    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        Box::pin(async move { self.alive().await?.get(digest).await })
    }
}
