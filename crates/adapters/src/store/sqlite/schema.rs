//! The schema of the SQLite file and its version. Owns the tables, the check of what a file is, and the steps from an
//! older version; owns no path and no permissions.

use rusqlite::{Connection, OptionalExtension as _, Result};

/// `application_id` of our files: "Dptz".
pub(super) const APPLICATION: i32 = 0x4470_747a;
/// The version of the schema that this build writes, in `user_version`.
pub(super) const VERSION: i64 = 2;

/// The first version. Events stand in a rowid table: they are appended to its end whatever their log, and rows of
/// several kilobytes would make a clustered table's tree deep.
const FIRST: &str = "
CREATE TABLE runs(
  ord INTEGER PRIMARY KEY,
  run TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,
  parent TEXT,
  agent TEXT NOT NULL,
  team TEXT NOT NULL,
  objective TEXT NOT NULL,
  started INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  status TEXT
);
CREATE INDEX runs_of_tree ON runs(root);
CREATE INDEX runs_newest ON runs(started) WHERE run = root;
CREATE TABLE events(
  run TEXT NOT NULL REFERENCES runs(run),
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY(run, seq)
);
CREATE TABLE leases(root TEXT PRIMARY KEY, epoch INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE signals(
  id INTEGER PRIMARY KEY,
  root TEXT NOT NULL,
  data TEXT NOT NULL,
  taken INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX signals_open ON signals(root, id) WHERE taken = 0;
CREATE TABLE blobs(sha256 TEXT PRIMARY KEY, len INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE torn(run TEXT NOT NULL, seq INTEGER NOT NULL, data NOT NULL);
";

/// When a blob was last put, in seconds: one that is about to be named by an event is not swept away before it is.
const TOUCHED: &str = "ALTER TABLE blobs ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;";

/// Steps between versions: the step at index `n` leads from version `n` to `n + 1`, inside the caller's transaction. A
/// step that was released is never changed.
const STEPS: &[&str] = &[FIRST, TOUCHED];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing yet.
    Empty,
    /// A store of this version.
    Ours(i64),
    /// A database of another program.
    Foreign,
}

/// Looks at a file without changing it.
pub(super) fn kind(conn: &Connection) -> Result<Kind> {
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application == APPLICATION {
        return Ok(Kind::Ours(version));
    }
    let any = conn.query_row("SELECT 1 FROM sqlite_master LIMIT 1", [], |_| Ok(())).optional()?;
    Ok(if application == 0 && version == 0 && any.is_none() { Kind::Empty } else { Kind::Foreign })
}

/// Brings an empty file or an older store to the present version. The caller has checked that it is one of these.
pub(super) fn migrate(conn: &mut Connection) -> Result<()> {
    let transaction = conn.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    // Looked at again under the write lock: another process may have been faster.
    let from = match kind(&transaction)? {
        Kind::Ours(version) => version,
        Kind::Empty | Kind::Foreign => 0,
    };
    let done = usize::try_from(from).unwrap_or(0);
    if done >= STEPS.len() {
        return Ok(());
    }
    STEPS.iter().skip(done).try_for_each(|step| transaction.execute_batch(step))?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}

#[cfg(test)]
mod tests;
