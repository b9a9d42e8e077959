//! What is read: a small pool of connections that cannot write, used off the async threads, and the queries. Owns the
//! pool; owns no change.

use super::super::codec::Decoder;
use super::super::head::{self, Head};
use super::fault::Fault;
use super::open::Opener;
use super::upkeep::GRACE;
use super::write::{signed, unsigned};
use deputize_core::digest;
use deputize_core::event::Recorded;
use deputize_core::id::{AgentName, Digest, RunId, Time};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{RunHead, StoreError, Waiting};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;

/// Connections at a time: reads are short, and each connection holds a page cache of its own.
const READERS: usize = 4;

/// The pool.
pub(super) struct Readers {
    shared: Arc<Shared>,
}

struct Shared {
    opener: Opener,
    turns: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Shared {
    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        // A list of connections is whole whatever happened to its last user.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn query<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, Fault> {
        // Taken in a statement of its own, or the list would stay locked while a connection is opened.
        let idle = self.idle().pop();
        let conn = match idle {
            Some(conn) => conn,
            None => self.opener.reader()?,
        };
        let result = work(&conn);
        // A connection that SQLite was unhappy with is not used again.
        if !matches!(result, Err(Fault::Sql(_))) {
            self.idle().push(conn);
        }
        result
    }
}

impl Readers {
    /// An empty pool; connections are opened when they are needed.
    pub(super) fn new(opener: Opener) -> Readers {
        let shared = Shared { opener, turns: Semaphore::new(READERS), idle: Mutex::new(Vec::new()) };
        Readers { shared: Arc::new(shared) }
    }

    /// Runs a query on a thread that may block.
    pub(super) async fn query<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failed = |e: String| StoreError::Failed(format!("a reader of the store has ended: {e}"));
        let turn = self.shared.turns.acquire().await.map_err(|e| failed(e.to_string()))?;
        let shared = Arc::clone(&self.shared);
        let result = tokio::task::spawn_blocking(move || shared.query(work)).await;
        drop(turn);
        result.map_err(|e| failed(e.to_string()))?.map_err(|fault| fault.explain(&self.shared.opener.path))
    }
}

/// One log from a place on, and the torn last record that was left out. `place` is where the store is.
pub(super) fn log(
    conn: &Connection,
    place: &str,
    run: &RunId,
    from: u64,
) -> Result<(Vec<Recorded>, Option<StoreError>), Fault> {
    let sql = "SELECT seq, data FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq";
    let mut select = conn.prepare_cached(sql)?;
    let mut rows = select.query(params![run.as_str(), signed(from)])?;
    let mut decoder = Decoder::new(place, run, from);
    while let Some(row) = rows.next()? {
        let data = match row.get_ref(1)? {
            ValueRef::Text(data) | ValueRef::Blob(data) => data,
            // Never written by us; an empty record is damaged like any other that cannot be read.
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => &[],
        };
        decoder.row(unsigned(row.get(0)?), data)?;
    }
    Ok(decoder.finish()?)
}

const HEAD: &str = "SELECT run, root, parent, agent, team, objective, started, updated, status FROM runs";

fn heads(conn: &Connection, rest: &str, values: impl Params) -> Result<Vec<Head>, Fault> {
    let mut select = conn.prepare_cached(&format!("{HEAD} {rest}"))?;
    let heads = select.query_map(values, to_head)?.collect::<Result<Vec<Head>, _>>()?;
    Ok(heads)
}

fn to_head(row: &Row<'_>) -> rusqlite::Result<Head> {
    let text = |at: usize| row.get::<_, String>(at);
    let status: Option<String> = row.get(8)?;
    let line = RunHead {
        run: RunId::new(text(0)?),
        root: RunId::new(text(1)?),
        agent: AgentName::new(text(3)?),
        team: text(4)?,
        objective: text(5)?,
        started: Time(unsigned(row.get(6)?)),
        updated: Time(unsigned(row.get(7)?)),
        status: status.and_then(|word| Terminal::ALL.into_iter().find(|status| status.word() == word)),
    };
    Ok(Head { line, parent: row.get::<_, Option<String>>(2)?.map(RunId::new) })
}

fn lines(heads: Vec<Head>) -> Vec<RunHead> {
    heads.into_iter().map(|head| head.line).collect()
}

/// A limit as SQLite takes it.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

/// The runs of a tree.
pub(super) fn tree(conn: &Connection, root: &RunId) -> Result<Vec<RunHead>, Fault> {
    let heads = heads(conn, "WHERE root = ?1 ORDER BY started, ord", [root.as_str()])?;
    Ok(head::depth_first(heads))
}

/// Root runs, newest first.
pub(super) fn roots(conn: &Connection, most: usize) -> Result<Vec<RunHead>, Fault> {
    let rest = "WHERE run = root ORDER BY started DESC, ord DESC LIMIT ?1";
    Ok(lines(heads(conn, rest, [limit(most)])?))
}

/// Runs by the beginning of their ids: a range of the index, so that no character of the text has a meaning.
pub(super) fn find(conn: &Connection, prefix: &str, most: usize) -> Result<Vec<RunHead>, Fault> {
    let order = "ORDER BY run <> root, run LIMIT ?2";
    let found = match head::after_prefix(prefix) {
        Some(end) => {
            let rest = format!("WHERE run >= ?1 AND run < ?3 {order}");
            heads(conn, &rest, params![prefix, limit(most), end])?
        }
        None => heads(conn, &format!("WHERE run >= ?1 {order}"), params![prefix, limit(most)])?,
    };
    Ok(lines(found))
}

/// The signals of a tree that wait. One that this build cannot read is left out: it is for a later one.
pub(super) fn signals(conn: &Connection, root: &RunId) -> Result<Vec<Waiting>, Fault> {
    let sql = "SELECT id, data FROM signals WHERE root = ?1 AND taken = 0 ORDER BY id";
    let mut select = conn.prepare_cached(sql)?;
    let rows = select.query_map([root.as_str()], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let mut waiting = Vec::new();
    for row in rows {
        let (id, text) = row?;
        if let (Ok(id), Ok(signal)) = (u64::try_from(id), serde_json::from_str(&text)) {
            waiting.push(Waiting { id, signal });
        }
    }
    Ok(waiting)
}

/// Whether content is kept and will be for long enough to be named by an event, though nothing names it yet.
pub(super) fn has_blob(conn: &Connection, digest: &Digest) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS(SELECT 1 FROM blobs WHERE sha256 = ?1 AND touched > unixepoch() - ?2)";
    Ok(conn.prepare_cached(sql)?.query_row(params![digest.as_str(), GRACE / 2], |row| row.get(0))?)
}

/// Content by its digest, checked.
pub(super) fn blob(conn: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Fault> {
    let content: Option<Vec<u8>> = conn
        .prepare_cached("SELECT data FROM blobs WHERE sha256 = ?1")?
        .query_row([digest.as_str()], |row| row.get(0))
        .optional()?;
    if content.as_deref().is_some_and(|content| digest::of_bytes(content) != *digest) {
        return Err(StoreError::Failed(format!("the content {digest} is damaged: its digest is another one")).into());
    }
    Ok(content)
}
