//! Upkeep of the file: how large it is and why, trees that go, content that nothing names any more, free pages that are
//! given back, a copy while others write. Owns these statements; which trees may go is the caller's to say.
//!
//! # Content
//! An event names a blob by its digest, wherever in the record. So content is in use when its digest stands in any record
//! of any log. Content is put before the event that names it is appended; for the moment between, nothing that was put in
//! the last [`GRACE`] seconds is swept away.

use super::SqliteStore;
use super::fault::{Fault, explain};
use super::open::Opener;
use super::write::unsigned;
use deputize_core::id::{Digest, RunId};
use deputize_runtime::port::StoreError;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Seconds that content is kept for although nothing names it. A put and its append are milliseconds apart; the rest is
/// for a driver that was stopped in between.
pub(super) const GRACE: i64 = 600;
/// Pages of one step of shrinking: about 4 MB, a few milliseconds of the write lock.
const STEP: usize = 1_000;

/// The size of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The version of its schema.
    pub schema: i64,
    /// Bytes of the file and of the write-ahead log beside it.
    pub bytes: u64,
    /// Bytes of the file that hold nothing.
    pub free: u64,
    /// Trees.
    pub trees: u64,
    /// Runs of all trees.
    pub runs: u64,
    /// Events of all runs.
    pub events: u64,
    /// Contents beside the logs.
    pub blobs: u64,
    /// Their bytes.
    pub blob_bytes: u64,
}

/// What each tree takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// The trees.
    pub trees: BTreeMap<RunId, TreeSize>,
    /// Bytes of each content.
    pub blobs: BTreeMap<Digest, u64>,
}

/// What one tree takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Bytes of its records.
    pub bytes: u64,
    /// The contents that it names; others may name them too.
    pub blobs: BTreeSet<Digest>,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Runs.
    pub runs: u64,
    /// Events.
    pub events: u64,
}

/// What was swept away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Contents.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What became of free pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shrunk {
    /// They were given back to the file system.
    Done,
    /// The store was made by a version that could not, and its file is only rebuilt while nothing runs: later runs use
    /// the free pages.
    Later,
}

impl SqliteStore {
    /// The size of the store.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn stats(&self) -> Result<Stats, StoreError> {
        let mut stats = self.inner.readers.query(stats).await?;
        let log = format!("{}-wal", self.inner.place);
        stats.bytes = stats.bytes.saturating_add(std::fs::metadata(log).map_or(0, |found| found.len()));
        Ok(stats)
    }

    /// What each tree takes. Reads every record.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn survey(&self) -> Result<Survey, StoreError> {
        self.inner.readers.query(survey).await
    }

    /// Removes a tree with all that belongs to it but content, which other trees may name. The caller holds its lock.
    ///
    /// # Errors
    /// The store cannot be written; then all of the tree is there.
    pub async fn remove(&self, root: &RunId) -> Result<Removed, StoreError> {
        let root = root.clone();
        self.inner.writer.submit(0, move |conn| remove(conn, &root)).await
    }

    /// Removes content that no record names.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn sweep(&self) -> Result<Swept, StoreError> {
        let (before, unnamed) = self.inner.readers.query(unnamed).await?;
        self.inner.writer.submit(0, move |conn| sweep(conn, before, &unnamed)).await
    }

    /// Gives free pages back to the file system. `alone`: nobody else uses the store now, so that it may be locked for as
    /// long as it takes.
    ///
    /// # Errors
    /// The store cannot be written.
    pub async fn shrink(&self, alone: bool) -> Result<Shrunk, StoreError> {
        let by_steps = self.inner.readers.query(can_step).await?;
        while by_steps && self.inner.writer.submit(0, step).await? {}
        let opener = self.inner.writer.opener().clone();
        let rest = move || tidy(&opener, alone && !by_steps);
        tokio::task::spawn_blocking(rest).await.map_err(|e| StoreError::Failed(format!("shrinking ended: {e}")))??;
        let free = self.inner.readers.query(free).await?;
        Ok(if by_steps || free == 0 { Shrunk::Done } else { Shrunk::Later })
    }

    /// Writes a whole copy to a new file with mode 0600, as the store is at one moment, while others may go on writing.
    /// Returns its bytes.
    ///
    /// # Errors
    /// There is a file already, it cannot be written, or the store cannot be read.
    pub async fn backup(&self, to: &Path) -> Result<u64, StoreError> {
        let failed =
            |e: std::io::Error| StoreError::Failed(format!("the copy {} cannot be written: {e}", to.display()));
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
        let target = to.to_string_lossy().into_owned();
        let copied =
            self.inner.readers.query(move |conn| Ok(conn.execute("VACUUM INTO ?1", [target]).map(|_| ())?)).await;
        let kept = copied.and_then(|()| {
            let file = File::open(to).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            Ok(file.metadata().map_err(failed)?.len())
        });
        if kept.is_err() {
            // Ours, and no copy.
            drop(std::fs::remove_file(to));
        }
        kept
    }
}

fn number(conn: &Connection, sql: &str) -> Result<u64, Fault> {
    Ok(unsigned(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?))
}

fn pragma(conn: &Connection, name: &str) -> Result<u64, Fault> {
    Ok(unsigned(conn.pragma_query_value(None, name, |row| row.get(0))?))
}

fn free(conn: &Connection) -> Result<u64, Fault> {
    pragma(conn, "freelist_count")
}

fn stats(conn: &Connection) -> Result<Stats, Fault> {
    // One snapshot for all of it.
    let conn = &*conn.unchecked_transaction()?;
    let page = pragma(conn, "page_size")?;
    Ok(Stats {
        schema: conn.pragma_query_value(None, "user_version", |row| row.get(0))?,
        bytes: pragma(conn, "page_count")?.saturating_mul(page),
        free: free(conn)?.saturating_mul(page),
        trees: number(conn, "SELECT count(*) FROM runs WHERE run = root")?,
        runs: number(conn, "SELECT count(*) FROM runs")?,
        events: number(conn, "SELECT count(*) FROM events")?,
        blobs: number(conn, "SELECT count(*) FROM blobs")?,
        blob_bytes: number(conn, "SELECT coalesce(sum(len), 0) FROM blobs")?,
    })
}

/// Every digest that a record may name: a word of 64 hexadecimal digits.
fn digests(record: &[u8]) -> impl Iterator<Item = &str> {
    let hex = |b: &u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    let words = record.split(move |b| !hex(b)).filter(|word| word.len() == 64);
    words.filter_map(|word| std::str::from_utf8(word).ok())
}

fn blobs(conn: &Connection) -> Result<BTreeMap<Digest, u64>, Fault> {
    let mut select = conn.prepare("SELECT sha256, len FROM blobs")?;
    let rows = select.query_map([], |row| Ok((Digest::new(row.get::<_, String>(0)?), unsigned(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn survey(conn: &Connection) -> Result<Survey, Fault> {
    let conn = &*conn.unchecked_transaction()?;
    let mut survey = Survey { trees: BTreeMap::new(), blobs: blobs(conn)? };
    let sql = "SELECT runs.root, CAST(events.data AS BLOB) FROM events JOIN runs ON runs.run = events.run";
    let mut select = conn.prepare(sql)?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let size = survey.trees.entry(RunId::new(row.get::<_, String>(0)?)).or_default();
        let record = row.get_ref(1)?.as_blob_or_null().ok().flatten().unwrap_or_default();
        size.bytes = size.bytes.saturating_add(record.len() as u64);
        let named = digests(record).map(Digest::new).filter(|digest| survey.blobs.contains_key(digest));
        size.blobs.extend(named);
    }
    Ok(survey)
}

/// A moment, and the contents that no record named at it.
fn unnamed(conn: &Connection) -> Result<(i64, BTreeSet<String>), Fault> {
    let conn = &*conn.unchecked_transaction()?;
    let moment = conn.query_row("SELECT unixepoch()", [], |row| row.get(0))?;
    let mut left: BTreeSet<String> = blobs(conn)?.into_keys().map(|digest| digest.to_string()).collect();
    let mut select = conn.prepare("SELECT CAST(data AS BLOB) FROM events")?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let record = row.get_ref(0)?.as_blob_or_null().ok().flatten().unwrap_or_default();
        for digest in digests(record) {
            left.remove(digest);
        }
    }
    Ok((moment, left))
}

fn sweep(conn: &Connection, before: i64, unnamed: &BTreeSet<String>) -> Result<Swept, Fault> {
    let sql = "DELETE FROM blobs WHERE sha256 = ?1 AND touched < ?2 RETURNING len";
    let mut delete = conn.prepare_cached(sql)?;
    let mut swept = Swept::default();
    for digest in unnamed {
        let gone = delete.query_map(params![digest, before.saturating_sub(GRACE)], |row| row.get::<_, i64>(0))?;
        for len in gone {
            swept = Swept { blobs: swept.blobs + 1, bytes: swept.bytes.saturating_add(unsigned(len?)) };
        }
    }
    Ok(swept)
}

fn remove(conn: &Connection, root: &RunId) -> Result<Removed, Fault> {
    let delete = |sql: &str| conn.prepare_cached(sql)?.execute([root.as_str()]);
    let events = delete("DELETE FROM events WHERE run IN (SELECT run FROM runs WHERE root = ?1)")?;
    delete("DELETE FROM torn WHERE run IN (SELECT run FROM runs WHERE root = ?1)")?;
    let runs = delete("DELETE FROM runs WHERE root = ?1")?;
    delete("DELETE FROM signals WHERE root = ?1")?;
    // A driver that was only believed dead finds no lease, so that it cannot begin the tree anew.
    delete("DELETE FROM leases WHERE root = ?1")?;
    Ok(Removed { runs: runs as u64, events: events as u64 })
}

/// Whether free pages can be given back a few at a time.
fn can_step(conn: &Connection) -> Result<bool, Fault> {
    const INCREMENTAL: u64 = 2;
    Ok(pragma(conn, "auto_vacuum")? == INCREMENTAL)
}

/// Gives some free pages back; whether there are more.
fn step(conn: &Connection) -> Result<bool, Fault> {
    let before = free(conn)?;
    // Each row is a page: all of them have to be asked for.
    let mut vacuum = conn.prepare(&format!("PRAGMA incremental_vacuum({STEP})"))?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    let left = free(conn)?;
    Ok(left > 0 && left < before)
}

/// What cannot be done inside a transaction.
fn tidy(opener: &Opener, rebuild: bool) -> Result<(), StoreError> {
    let conn = opener.writer()?;
    let rebuilt = if rebuild { conn.execute_batch("VACUUM") } else { Ok(()) };
    // Readers may be in its way; then the file shrinks when they are gone.
    let cut = |()| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    rebuilt.and_then(cut).map_err(|e| explain(&opener.path, &e))
}

#[cfg(test)]
mod tests;
