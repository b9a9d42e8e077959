//! One SQLite store under several processes at once: nothing is lost, everything is seen, one fences the other. The
//! other processes are this program again, told by an environment variable what to do.
#![expect(clippy::unwrap_used, reason = "tests and their helpers: a surprise ends them")]

use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_core::id::RunId;
use deputize_runtime::port::{EventStore as _, Signal, StoreError};
use deputize_testkit::sample::{append, said, start, woke};
use deputize_testkit::store::take_signals;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PLACE: &str = "DEPUTIZE_TEST_STORE";
const NUMBER: &str = "DEPUTIZE_TEST_NUMBER";
const PROCESSES: u64 = 4;
const EVENTS: u64 = 50;

/// Runs a test of this program again, in a process of its own.
fn again(test: &str, path: &Path, number: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(PLACE, path)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// What this process was told, if it is one of the others.
fn told() -> Option<(SqliteStore, u64)> {
    let path = PathBuf::from(std::env::var_os(PLACE)?);
    let number = std::env::var(NUMBER).ok()?.parse().ok()?;
    Some((SqliteStore::open(path, Sync::Full).unwrap(), number))
}

async fn begin(store: &SqliteStore, run: &RunId) -> u64 {
    let epoch = store.lease(run).await.unwrap();
    store.append(run, epoch, vec![append(run, vec![start(run, 1)])]).await.unwrap();
    epoch
}

async fn fill(store: &SqliteStore, number: u64) {
    let run = RunId::new(format!("r{number}"));
    let epoch = begin(store, &run).await;
    for seq in 1..EVENTS {
        let text = format!("{number} {seq}");
        store.append(&run, epoch, vec![append(&run, vec![said(seq, seq, &text)])]).await.unwrap();
        let by = format!("{number} {seq}");
        let shared = RunId::new("shared");
        store.signal(&shared, Signal::Cancel { run: shared.clone(), by }).await.unwrap();
    }
}

#[tokio::test]
async fn processes_write_at_once_and_lose_nothing() {
    if let Some((store, number)) = told() {
        return fill(&store, number).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    // The file is not there yet: they also race to make it.
    let mut others: Vec<Child> =
        (1..PROCESSES).map(|n| again("processes_write_at_once_and_lose_nothing", &path, n)).collect();
    let store = SqliteStore::open(&path, Sync::Full).unwrap();
    fill(&store, 0).await;
    for other in &mut others {
        assert!(other.wait().unwrap().success());
    }
    for number in 0..PROCESSES {
        let run = RunId::new(format!("r{number}"));
        let mut expected = vec![start(&run, 1)];
        expected.extend((1..EVENTS).map(|seq| said(seq, seq, &format!("{number} {seq}"))));
        assert_eq!(store.read(&run, 0).await.unwrap(), expected);
    }
    let signals = take_signals(&store, &RunId::new("shared")).await.unwrap();
    assert_eq!(signals.len() as u64, PROCESSES * (EVENTS - 1));
}

#[tokio::test]
async fn a_process_that_takes_a_tree_over_fences_the_other() {
    let run = RunId::new("a");
    let next = || vec![append(&run, vec![woke(1, 2)])];
    if let Some((store, _)) = told() {
        let epoch = store.lease(&run).await.unwrap();
        store.append(&run, epoch, next()).await.unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, Sync::Full).unwrap();
    let epoch = begin(&store, &run).await;
    let mut other = again("a_process_that_takes_a_tree_over_fences_the_other", &path, 1);
    assert!(other.wait().unwrap().success());
    let fenced = StoreError::Fenced { root: run.clone(), epoch, found: epoch + 1 };
    assert_eq!(store.append(&run, epoch, next()).await, Err(fenced));
    assert_eq!(store.read(&run, 1).await.unwrap(), [woke(1, 2)], "what the other appended is seen");
}
