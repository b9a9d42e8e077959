//! The store in memory. Owns the same promises as the SQLite store except durability: its content ends with the last
//! handle. Its futures are ready when they are first polled: no thread, no timer, so that it suits a paused clock.

use super::codec::{self, Decoder, Rows};
use super::head::{self, Head};
use deputize_core::digest;
use deputize_core::event::Recorded;
use deputize_core::id::{Digest, RunId};
use deputize_runtime::port::{Append, BlobStore, EventStore, Pending, RunHead, Signal, StoreError, Waiting};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store in memory; clones are handles of the same store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    logs: BTreeMap<RunId, Log>,
    leases: BTreeMap<RunId, u64>,
    signals: BTreeMap<RunId, Vec<Waiting>>,
    last_signal: u64,
    blobs: BTreeMap<Digest, Vec<u8>>,
}

#[derive(Debug)]
struct Log {
    head: Head,
    /// The number of logs before it, which sorts those of the same moment.
    ord: usize,
    rows: Vec<String>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is applied in one go after all its checks, so a panic elsewhere leaves nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heads(&self, which: impl Fn(&Head) -> bool) -> Vec<Head> {
        let state = self.state();
        let mut logs: Vec<&Log> = state.logs.values().filter(|log| which(&log.head)).collect();
        logs.sort_by_key(|log| (log.head.line.started, log.ord));
        logs.into_iter().map(|log| log.head.clone()).collect()
    }
}

impl State {
    fn append(&mut self, root: &RunId, epoch: u64, batch: Vec<Rows>) -> Result<(), StoreError> {
        let found = self.leases.get(root).copied().unwrap_or(0);
        if epoch != found || found == 0 {
            return Err(StoreError::Fenced { root: root.clone(), epoch, found });
        }
        let mut lengths: BTreeMap<RunId, u64> = BTreeMap::new();
        for rows in &batch {
            let kept = self.logs.get(&rows.run).map_or(0, |log| log.rows.len());
            let length = lengths.entry(rows.run.clone()).or_insert(u64::try_from(kept).unwrap_or(u64::MAX));
            if *length != rows.expected {
                return Err(StoreError::Conflict { run: rows.run.clone(), expected: rows.expected, found: *length });
            }
            *length = length.saturating_add(u64::try_from(rows.rows.len()).unwrap_or(u64::MAX));
        }
        for rows in batch {
            self.keep(rows);
        }
        Ok(())
    }

    /// Keeps rows whose place has been checked.
    fn keep(&mut self, rows: Rows) {
        let ord = self.logs.len();
        let log = match (self.logs.entry(rows.run), rows.head) {
            (Entry::Occupied(log), _) => log.into_mut(),
            (Entry::Vacant(place), Some(head)) => place.insert(Log { head, ord, rows: Vec::new() }),
            // Rows of a log that is not there begin it, and rows that begin a log have a head.
            (Entry::Vacant(_), None) => return,
        };
        log.rows.extend(rows.rows.into_iter().map(|row| row.data));
        log.head.line.updated = rows.updated;
        log.head.line.status = rows.status.or(log.head.line.status);
    }

    fn read(&self, run: &RunId, from: u64) -> Result<Vec<Recorded>, StoreError> {
        let mut decoder = Decoder::new("memory", run, from);
        let rows = self.logs.get(run).map_or(&[][..], |log| &log.rows);
        let skip = usize::try_from(from).unwrap_or(usize::MAX);
        for (row, seq) in rows.iter().skip(skip).zip(from..) {
            decoder.row(seq, row.as_bytes())?;
        }
        Ok(decoder.finish()?.0)
    }
}

impl EventStore for MemoryStore {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            let mut state = self.state();
            let epoch = state.leases.entry(root.clone()).or_insert(0);
            *epoch = epoch.saturating_add(1);
            Ok(*epoch)
        })
    }

    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let rows = codec::encode(root, &batch)?;
            self.state().append(root, epoch, rows)
        })
    }

    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>> {
        Box::pin(async move { self.state().read(run, from) })
    }

    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move { Ok(head::depth_first(self.heads(|head| head.line.root == *root))) })
    }

    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move {
            let roots = self.heads(Head::is_root).into_iter().rev().take(most);
            Ok(roots.map(|head| head.line).collect())
        })
    }

    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        Box::pin(async move {
            let mut heads = self.heads(|head| head.line.run.as_str().starts_with(prefix));
            heads.sort_by_key(|head| (Reverse(head.is_root()), head.line.run.clone()));
            Ok(heads.into_iter().take(most).map(|head| head.line).collect())
        })
    }

    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut state = self.state();
            state.last_signal += 1;
            let id = state.last_signal;
            state.signals.entry(root.clone()).or_default().push(Waiting { id, signal });
            Ok(())
        })
    }

    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        Box::pin(async move { Ok(self.state().signals.get(root).cloned().unwrap_or_default()) })
    }

    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if let Some(waiting) = self.state().signals.get_mut(root) {
                waiting.retain(|w| !ids.contains(&w.id));
            }
            Ok(())
        })
    }
}

impl BlobStore for MemoryStore {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        Box::pin(async move {
            let digest = digest::of_bytes(&content);
            self.state().blobs.entry(digest.clone()).or_insert(content);
            Ok(digest)
        })
    }

    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        Box::pin(async move { Ok(self.state().blobs.get(digest).cloned()) })
    }
}
