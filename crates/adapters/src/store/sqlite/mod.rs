//! The SQLite store: the handle and its ports. Owns how reads and writes are handed to the pool and to the writer; the
//! parts are `open` (file, permissions, settings), `schema`, `writer` (group commit), `write` and `read` (statements),
//! `upkeep` (size, removal, copies) and `fault` (messages).
//!
//! Any number of processes may open one file: SQLite's locks keep their transactions apart, an append checks epoch and
//! length inside its own, and a read sees every commit that returned before it began. Keep the file on a local disk.

mod fault;
mod open;
mod read;
mod schema;
mod sync;
mod upkeep;
mod write;
mod writer;

pub use sync::Sync;
pub use upkeep::{Removed, Shrunk, Stats, Survey, Swept, TreeSize};

use super::codec;
use deputize_core::digest;
use deputize_core::event::Recorded;
use deputize_core::id::{Digest, RunId};
use deputize_runtime::port::{Append, BlobStore, EventStore, Pending, RunHead, Signal, StoreError, Waiting};
use open::Opener;
use read::Readers;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use writer::Writer;

/// A store in a SQLite file; clones are handles of the same store. Dropping the last one waits until everything that
/// was submitted is written. Its methods need a tokio runtime.
#[derive(Clone)]
pub struct SqliteStore {
    inner: Arc<Inner>,
}

struct Inner {
    place: String,
    // Before the writer, so that its connections are closed first and the last one tidies the write-ahead log away.
    readers: Readers,
    writer: Writer,
    dropped: Mutex<Vec<StoreError>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.inner.place).finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a store, and makes it where there is none: the folder with mode 0700, the file with mode 0600. Blocks for
    /// as long as another process is just making it.
    ///
    /// # Errors
    /// [`StoreError::Newer`] when a later version of the program made it, [`StoreError::Failed`] when it is no store or
    /// cannot be read and written. The file is left as it is in both cases.
    pub fn open(path: impl AsRef<Path>, sync: Sync) -> Result<SqliteStore, StoreError> {
        let opener = Opener { path: path.as_ref().to_path_buf(), sync };
        let conn = opener.first()?;
        let inner = Inner {
            place: opener.path.display().to_string(),
            readers: Readers::new(opener.clone()),
            writer: Writer::start(opener, conn)?,
            dropped: Mutex::new(Vec::new()),
        };
        Ok(SqliteStore { inner: Arc::new(inner) })
    }

    /// The torn last records that reads by this handle and its clones have left out, as [`StoreError::Damaged`], each
    /// once. For a message to a person: nothing has to be done about them.
    pub fn dropped(&self) -> Vec<StoreError> {
        self.inner.dropped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_dropped(&self, torn: StoreError) {
        let mut dropped = self.inner.dropped.lock().unwrap_or_else(PoisonError::into_inner);
        if !dropped.contains(&torn) {
            dropped.push(torn);
        }
    }
}

impl EventStore for SqliteStore {
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>> {
        let root = root.clone();
        Box::pin(self.inner.writer.submit(0, move |conn| write::lease(conn, &root)))
    }

    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // Encoded here, so that the writer's thread has nothing to do but to write.
            let rows = codec::encode(root, &batch)?;
            let bytes = rows.iter().flat_map(|log| &log.rows).map(|row| row.data.len()).sum();
            let root = root.clone();
            self.inner.writer.submit(bytes, move |conn| write::append(conn, &root, epoch, &rows)).await
        })
    }

    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>> {
        Box::pin(async move {
            let (place, run) = (self.inner.place.clone(), run.clone());
            let (events, torn) = self.inner.readers.query(move |conn| read::log(conn, &place, &run, from)).await?;
            if let Some(torn) = torn {
                self.note_dropped(torn);
            }
            Ok(events)
        })
    }

    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        let root = root.clone();
        Box::pin(self.inner.readers.query(move |conn| read::tree(conn, &root)))
    }

    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>> {
        Box::pin(self.inner.readers.query(move |conn| read::roots(conn, most)))
    }

    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>> {
        let prefix = prefix.to_string();
        Box::pin(self.inner.readers.query(move |conn| read::find(conn, &prefix, most)))
    }

    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>> {
        let root = root.clone();
        Box::pin(self.inner.writer.submit(0, move |conn| write::signal(conn, &root, &signal)))
    }

    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>> {
        let root = root.clone();
        Box::pin(self.inner.readers.query(move |conn| read::signals(conn, &root)))
    }

    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>> {
        let root = root.clone();
        Box::pin(self.inner.writer.submit(0, move |conn| write::acknowledge(conn, &root, &ids)))
    }
}

impl BlobStore for SqliteStore {
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>> {
        Box::pin(async move {
            // Off the async threads because the digest of a large content takes a while. What is there needs no write.
            let look = move |conn: &rusqlite::Connection| {
                let digest = digest::of_bytes(&content);
                let there = read::has_blob(conn, &digest)?;
                Ok((digest, (!there).then_some(content)))
            };
            let (digest, missing) = self.inner.readers.query(look).await?;
            if let Some(content) = missing {
                let (digest, bytes) = (digest.clone(), content.len());
                let work = move |conn: &rusqlite::Connection| write::put(conn, &digest, &content);
                self.inner.writer.submit(bytes, work).await?;
            }
            Ok(digest)
        })
    }

    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>> {
        let digest = digest.clone();
        Box::pin(self.inner.readers.query(move |conn| read::blob(conn, &digest)))
    }
}

#[cfg(test)]
mod tests;
