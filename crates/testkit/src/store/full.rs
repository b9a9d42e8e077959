//! A store whose disk is full from a chosen moment on. Owns the switch; reads go on, as they do on a full disk.

use deputize_core::event::Recorded;
use deputize_core::id::{Digest, RunId};
use deputize_runtime::port::{Append, BlobStore, EventStore, Pending, RunHead, Signal, StoreError, Waiting};
use std::sync::atomic::{AtomicU64, Ordering};

/// Room that never ends.
const ENDLESS: u64 = u64::MAX;

/// A store around another one that has room for so many more appends; then every write fails and keeps nothing.
#[derive(Debug)]
pub struct FullDisk<S> {
    inner: S,
    room: AtomicU64,
}

impl<S> FullDisk<S> {
    /// Has room until [`FullDisk::fill`].
    pub fn new(inner: S) -> FullDisk<S> {
        FullDisk::after(inner, ENDLESS)
    }
    /// Has room for so many appends.
    pub fn after(inner: S, appends: u64) -> FullDisk<S> {
        FullDisk { inner, room: AtomicU64::new(appends) }
    }
    /// The disk is full from now on.
    pub fn fill(&self) {
        self.room.store(0, Ordering::SeqCst);
    }
    /// Somebody made room.
    pub fn free(&self) {
        self.room.store(ENDLESS, Ordering::SeqCst);
    }

    /// The inner store, if there is room; an append takes some of it.
    fn room(&self, taken: u64) -> Result<&S, StoreError> {
        let full = |_| StoreError::Failed("the disk is full: nothing more can be written to the store (a test)".into());
        let less = |room: u64| match room {
            0 => None,
            ENDLESS => Some(ENDLESS),
            room => Some(room - taken),
        };
        self.room.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less).map(|_| &self.inner).map_err(full)
    }
}

impl<S: EventStore> EventStore for FullDisk<S> {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        Box::pin(async move { self.room(0)?.lease(root).await })
    }
    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move { self.room(1)?.append(root, epoch, batch).await })
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
        Box::pin(async move { self.room(0)?.signal(root, signal).await })
    }
    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        Box::pin(async move { self.room(0)?.signals(root).await })
    }
    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move { self.room(0)?.acknowledge(root, ids).await })
    }
}

impl<S: BlobStore> BlobStore for FullDisk<S> {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        Box::pin(async move { self.room(0)?.put(content).await })
    }
    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        self.inner.get(digest)
    }
}
