//! What is written: the statements on the tables, each inside the writer's transaction. Owns the checks that need the
//! store's content; owns neither the transaction nor the form of a batch.

use super::super::codec::{self, Row, Rows};
use super::super::head::Head;
use super::fault::Fault;
use deputize_core::id::{Digest, RunId, Time};
use deputize_runtime::port::{Signal, StoreError};
use rusqlite::{Connection, OptionalExtension as _, params};

/// SQLite's integers are signed; beyond 2^63 no moment or place is real.
pub(super) fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The other way; our own columns hold nothing below 0.
pub(super) fn unsigned(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// The next epoch of a tree.
pub(super) fn lease(conn: &Connection, root: &RunId) -> Result<u64, Fault> {
    let sql = "INSERT INTO leases(root, epoch) VALUES(?1, 1)
               ON CONFLICT(root) DO UPDATE SET epoch = epoch + 1 RETURNING epoch";
    let epoch: i64 = conn.prepare_cached(sql)?.query_row([root.as_str()], |row| row.get(0))?;
    Ok(unsigned(epoch))
}

/// Appends to the logs of one tree; on an error the caller undoes what was done.
pub(super) fn append(conn: &Connection, root: &RunId, epoch: u64, batch: &[Rows]) -> Result<(), Fault> {
    let found: Option<i64> = conn
        .prepare_cached("SELECT epoch FROM leases WHERE root = ?1")?
        .query_row([root.as_str()], |row| row.get(0))
        .optional()?;
    let found = found.map_or(0, unsigned);
    if epoch != found || found == 0 {
        return Err(StoreError::Fenced { root: root.clone(), epoch, found }.into());
    }
    batch.iter().try_for_each(|rows| append_one(conn, rows))
}

fn append_one(conn: &Connection, rows: &Rows) -> Result<(), Fault> {
    let Rows { run, expected, head, updated, status, rows } = rows;
    let found = length(conn, run)?;
    if found != *expected {
        let torn = *expected > 0 && found.checked_sub(1) == Some(*expected) && set_torn_aside(conn, run, *expected)?;
        if !torn {
            return Err(StoreError::Conflict { run: run.clone(), expected: *expected, found }.into());
        }
    }
    if let Some(head) = head {
        begin(conn, head)?;
    }
    let mut insert = conn.prepare_cached("INSERT INTO events(run, seq, at, data) VALUES(?1, ?2, ?3, ?4)")?;
    for Row { seq, at, data } in rows {
        insert.execute(params![run.as_str(), signed(*seq), signed(at.0), data])?;
    }
    let sql = "UPDATE runs SET updated = ?2, status = coalesce(?3, status) WHERE run = ?1";
    let status = status.map(|status| status.word());
    conn.prepare_cached(sql)?.execute(params![run.as_str(), signed(updated.0), status])?;
    Ok(())
}

fn length(conn: &Connection, run: &RunId) -> rusqlite::Result<u64> {
    let last: Option<i64> = conn
        .prepare_cached("SELECT max(seq) FROM events WHERE run = ?1")?
        .query_row([run.as_str()], |row| row.get(0))?;
    Ok(last.map_or(0, |last| unsigned(last).saturating_add(1)))
}

/// Moves the last record of a log out of the way if it cannot be read; whether it did. A reader that was given the log
/// without it appends at its place.
fn set_torn_aside(conn: &Connection, run: &RunId, seq: u64) -> Result<bool, Fault> {
    let key = params![run.as_str(), signed(seq)];
    let data: Vec<u8> = conn
        .prepare_cached("SELECT CAST(data AS BLOB) FROM events WHERE run = ?1 AND seq = ?2")?
        .query_row(key, |row| row.get(0))?;
    if !codec::is_torn(seq, &data) {
        return Ok(false);
    }
    conn.execute("INSERT INTO torn SELECT run, seq, data FROM events WHERE run = ?1 AND seq = ?2", key)?;
    conn.execute("DELETE FROM events WHERE run = ?1 AND seq = ?2", key)?;
    // It may have been the end of the run.
    conn.execute("UPDATE runs SET status = NULL WHERE run = ?1", [run.as_str()])?;
    Ok(true)
}

fn begin(conn: &Connection, head: &Head) -> rusqlite::Result<()> {
    let sql = "INSERT INTO runs(run, root, parent, agent, team, objective, started, updated)
               VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
    let line = &head.line;
    let (run, root, parent) = (line.run.as_str(), line.root.as_str(), head.parent.as_ref().map(RunId::as_str));
    let (agent, Time(started)) = (line.agent.as_str(), line.started);
    conn.prepare_cached(sql)?.execute(params![run, root, parent, agent, line.team, line.objective, signed(started)])?;
    Ok(())
}

/// Leaves a signal.
pub(super) fn signal(conn: &Connection, root: &RunId, signal: &Signal) -> Result<(), Fault> {
    let data = serde_json::to_string(signal)
        .map_err(|e| StoreError::Failed(format!("a signal for {root} cannot be written as JSON: {e}")))?;
    let sql = "INSERT INTO signals(root, data) VALUES(?1, ?2)";
    conn.prepare_cached(sql)?.execute([root.as_str(), data.as_str()])?;
    Ok(())
}

/// Marks signals of a tree as taken.
pub(super) fn acknowledge(conn: &Connection, root: &RunId, ids: &[u64]) -> Result<(), Fault> {
    let mut update = conn.prepare_cached("UPDATE signals SET taken = 1 WHERE root = ?1 AND id = ?2")?;
    for id in ids {
        update.execute(params![root.as_str(), i64::try_from(*id).unwrap_or(i64::MAX)])?;
    }
    Ok(())
}

/// Keeps content; one that is there is marked as wanted again.
pub(super) fn put(conn: &Connection, digest: &Digest, content: &[u8]) -> Result<(), Fault> {
    let sql = "INSERT INTO blobs(sha256, len, data, touched) VALUES(?1, ?2, ?3, unixepoch())
               ON CONFLICT(sha256) DO UPDATE SET touched = unixepoch()";
    let len = i64::try_from(content.len()).unwrap_or(i64::MAX);
    conn.prepare_cached(sql)?.execute(params![digest.as_str(), len, content])?;
    Ok(())
}
