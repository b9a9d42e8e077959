//! Tests of the SQLite store that need its inside: grouping, a failed commit, the settings of its connections.

use super::{SqliteStore, Sync, write};
use crate::store::codec;
use deputize_core::id::RunId;
use deputize_runtime::port::{EventStore as _, StoreError};
use deputize_testkit::sample::{append, said, start, woke};
use futures_util::future::{FutureExt as _, join_all};
use rusqlite::Connection;
use tempfile::TempDir;

fn fresh() -> (TempDir, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("store.db"), Sync::Full).unwrap();
    (folder, store)
}

fn id(text: &str) -> RunId {
    RunId::new(text)
}

async fn begin(store: &SqliteStore, run: &RunId) -> u64 {
    let epoch = store.lease(run).await.unwrap();
    store.append(run, epoch, vec![append(run, vec![start(run, 1)])]).await.unwrap();
    epoch
}

async fn pragma(store: &SqliteStore, name: &'static str) -> i64 {
    let ask = move |conn: &Connection| Ok(conn.pragma_query_value(None, name, |row| row.get(0))?);
    store.inner.writer.submit(0, ask).await.unwrap()
}

#[tokio::test]
async fn the_writer_is_durable_by_default() {
    assert_eq!(Sync::default(), Sync::Full);
    let (folder, store) = fresh();
    assert_eq!(pragma(&store, "synchronous").await, 2);
    assert_eq!(pragma(&store, "foreign_keys").await, 1);
    assert!(pragma(&store, "busy_timeout").await >= 5_000);
    let normal = SqliteStore::open(folder.path().join("other.db"), Sync::Normal).unwrap();
    assert_eq!(pragma(&normal, "synchronous").await, 1);
}

#[tokio::test]
async fn in_a_group_a_conflict_fails_only_itself() {
    let (folder, store) = fresh();
    let runs: Vec<RunId> = (0..40).map(|n| id(&format!("r{n}"))).collect();
    for run in &runs {
        begin(&store, run).await;
    }
    // While this connection holds the write lock, the writer waits with its first job and the others queue up: the
    // future at the end, polled after all of them, lets them go.
    let blocker = Connection::open(folder.path().join("store.db")).unwrap();
    blocker.execute_batch("BEGIN IMMEDIATE").unwrap();
    let release = async {
        blocker.execute_batch("COMMIT").unwrap();
        Ok(())
    };
    let appends = runs.iter().enumerate().map(|(n, run)| {
        let seq = if n % 3 == 0 { 5 } else { 1 };
        store.append(run, 1, vec![append(run, vec![woke(seq, 2)])]).boxed_local()
    });
    let results = join_all(appends.chain([release.boxed_local()])).await;
    for (n, (run, result)) in runs.iter().zip(results).enumerate() {
        let conflict = StoreError::Conflict { run: run.clone(), expected: 5, found: 1 };
        assert_eq!(result, if n % 3 == 0 { Err(conflict) } else { Ok(()) }, "run {n}");
        assert_eq!(store.read(run, 0).await.unwrap().len(), if n % 3 == 0 { 1 } else { 2 });
    }
}

#[tokio::test]
async fn a_full_disk_fails_the_group_and_the_next_append_starts_anew() {
    let (_folder, store) = fresh();
    let run = id("a");
    let epoch = begin(&store, &run).await;
    // As full as a disk can be: not a page more. The limit belongs to the connection, so that a new one is free of it.
    let limit = |conn: &Connection| {
        let pages: i64 = conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
        Ok(conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
    };
    store.inner.writer.submit(0, limit).await.unwrap();
    let large = "x".repeat(100_000);
    let result = store.append(&run, epoch, vec![append(&run, vec![said(1, 2, &large)])]).await;
    assert!(matches!(&result, Err(StoreError::Failed(text)) if text.contains("disk is full")), "{result:?}");
    assert_eq!(store.read(&run, 0).await.unwrap().len(), 1, "nothing of it is there");
    store.append(&run, epoch, vec![append(&run, vec![said(1, 2, &large)])]).await.unwrap();
    assert_eq!(store.read(&run, 0).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_refused_job_leaves_the_rest_of_its_own_work_undone() {
    let (_folder, store) = fresh();
    let run = id("a");
    begin(&store, &run).await;
    let rows = codec::encode(&run, &[append(&run, vec![woke(1, 2)])]).unwrap();
    let root = run.clone();
    let refuse = move |conn: &Connection| -> Result<(), _> {
        write::append(conn, &root, 1, &rows)?;
        Err(StoreError::Failed("no".into()).into())
    };
    assert_eq!(store.inner.writer.submit(0, refuse).await, Err(StoreError::Failed("no".into())));
    assert_eq!(store.read(&run, 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_was_submitted_is_done_though_nobody_waits() {
    let (folder, store) = fresh();
    let run = id("a");
    let epoch = begin(&store, &run).await;
    let append = store.append(&run, epoch, vec![append(&run, vec![woke(1, 2)])]);
    assert!(append.now_or_never().is_none(), "submitted, then dropped");
    drop(store);
    let again = SqliteStore::open(folder.path().join("store.db"), Sync::Full).unwrap();
    assert_eq!(again.read(&run, 0).await.unwrap().len(), 2);
}
