//! The SQLite store over its years: size, trees that go, content that nothing names, copies while others write, files of
//! older versions, damaged files.
#![expect(clippy::unwrap_used, reason = "tests and their helpers: a surprise ends them")]

use deputize_adapters::store::sqlite::{Removed, Shrunk, SqliteStore, Swept, Sync};
use deputize_core::id::{Digest, RunId};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{BlobStore as _, EventStore as _, Signal, StoreError};
use deputize_testkit::sample::{append, finished, said, start, woke};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Sync::Normal).unwrap()
}

fn id(text: &str) -> RunId {
    RunId::new(text)
}

/// A tree that is over, with a large record and one that names these contents.
async fn tree(store: &SqliteStore, root: &str, names: &[&Digest]) -> u64 {
    let run = id(root);
    let epoch = store.lease(&run).await.unwrap();
    let named = names.iter().map(|digest| digest.to_string()).collect::<Vec<_>>().join(" ");
    let large = "x".repeat(100_000);
    let events =
        vec![start(&run, 1), said(1, 2, &large), said(2, 3, &named), finished(3, 4, &run, Terminal::Succeeded)];
    store.append(&run, epoch, vec![append(&run, events)]).await.unwrap();
    epoch
}

/// As if all content had been put long ago.
fn age(path: &Path) {
    Connection::open(path).unwrap().execute("UPDATE blobs SET touched = 1", []).unwrap();
}

async fn content(store: &SqliteStore, byte: u8) -> Digest {
    store.put(vec![byte; 50_000]).await.unwrap()
}

// The part of U-14 that needs no keys.
#[tokio::test]
async fn a_tree_goes_with_all_that_is_its_own_and_the_file_shrinks() {
    let (_folder, path) = folder();
    let store = open(&path);
    let (own, shared, fresh) = (content(&store, 1).await, content(&store, 2).await, content(&store, 3).await);
    let epoch = tree(&store, "old", &[&own, &shared]).await;
    tree(&store, "new", &[&shared]).await;
    let child = id("old").child(&deputize_testkit::sample::label("t1/c0"));
    store.append(&id("old"), epoch, vec![append(&child, vec![start(&child, 5)])]).await.unwrap();
    store.signal(&id("old"), Signal::Cancel { run: id("old"), by: "me".into() }).await.unwrap();
    age(&path);
    store.put(vec![3; 50_000]).await.unwrap();
    let before = store.stats().await.unwrap();
    assert_eq!((before.schema, before.trees, before.runs, before.events, before.blobs), (2, 2, 3, 9, 3));
    assert_eq!(before.blob_bytes, 150_000);

    assert_eq!(store.remove(&id("old")).await, Ok(Removed { runs: 2, events: 5 }));
    assert_eq!(store.sweep().await, Ok(Swept { blobs: 1, bytes: 50_000 }));
    assert_eq!(store.shrink(false).await, Ok(Shrunk::Done));

    let after = store.stats().await.unwrap();
    assert_eq!((after.trees, after.runs, after.events, after.blobs, after.free), (1, 1, 4, 2, 0));
    assert!(after.bytes + 150_000 <= before.bytes, "{before:?} {after:?}");
    assert_eq!(fs::metadata(&path).unwrap().len(), after.bytes, "the file itself is smaller");
    assert_eq!(store.get(&own).await, Ok(None));
    assert!(store.get(&shared).await.unwrap().is_some(), "another tree names it");
    assert!(store.get(&fresh).await.unwrap().is_some(), "it was put a moment ago: an event may be about to name it");
    assert_eq!(store.read(&id("old"), 0).await, Ok(vec![]));
    assert_eq!(store.read(&child, 0).await, Ok(vec![]));
    assert_eq!(store.signals(&id("old")).await, Ok(vec![]));
    assert_eq!(store.read(&id("new"), 0).await.unwrap().len(), 4);
    let fenced = StoreError::Fenced { root: id("old"), epoch, found: 0 };
    let late = store.append(&id("old"), epoch, vec![append(&id("old"), vec![woke(4, 9)])]).await;
    assert_eq!(late, Err(fenced), "a driver that was believed dead brings nothing back");
    assert_eq!(store.remove(&id("old")).await, Ok(Removed::default()), "twice is once");
}

#[tokio::test]
async fn the_survey_says_what_each_tree_takes() {
    let (_folder, path) = folder();
    let store = open(&path);
    let shared = content(&store, 2).await;
    tree(&store, "a", &[&shared]).await;
    tree(&store, "b", &[]).await;
    let survey = store.survey().await.unwrap();
    let [a, b] = ["a", "b"].map(|root| survey.trees.get(&id(root)).unwrap());
    assert!(a.bytes > 100_000 && b.bytes > 100_000);
    assert_eq!((&a.blobs, b.blobs.len()), (&[shared.clone()].into(), 0));
    assert_eq!(survey.blobs, [(shared, 50_000)].into());
}

/// The tables as version 1 made them.
const FIRST: &str = include_str!("fixtures/store/schema-1.sql");

fn old_store(path: &Path) {
    Connection::open(path).unwrap().execute_batch(FIRST).unwrap();
}

#[tokio::test]
async fn a_store_of_the_first_version_is_brought_up_to_date_and_read() {
    let (_folder, path) = folder();
    old_store(&path);
    let store = open(&path);
    assert_eq!(store.stats().await.unwrap().schema, 2);
    let run = id("0oldrun000");
    let events = store.read(&run, 0).await.unwrap();
    let kinds: Vec<&str> = events.iter().map(|record| record.event.kind()).collect();
    assert_eq!((kinds.len(), kinds.first(), kinds.last()), (8, Some(&"run_started"), Some(&"run_finished")));
    assert_eq!(store.roots(9).await.unwrap().remove(0).status, Some(Terminal::Succeeded));
    let epoch = store.lease(&run).await.unwrap();
    assert_eq!(epoch, 2);
    store.append(&run, epoch, vec![append(&run, vec![said(8, 3, &"x".repeat(200_000))])]).await.unwrap();
    let digest = Digest::new("ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73");
    assert_eq!(store.get(&digest).await.unwrap().as_deref(), Some(&b"content"[..]));
    // Its file could not give pages back.
    store.remove(&run).await.unwrap();
    assert_eq!(store.sweep().await.unwrap().blobs, 1);
    assert_eq!(store.shrink(false).await, Ok(Shrunk::Later));
    let before = fs::metadata(&path).unwrap().len();
    assert_eq!(store.shrink(true).await, Ok(Shrunk::Done));
    assert!(fs::metadata(&path).unwrap().len() + 200_000 < before);
    tree(&store, "next", &[]).await;
    store.remove(&id("next")).await.unwrap();
    assert_eq!(store.shrink(false).await, Ok(Shrunk::Done), "from now on it can");
}

#[tokio::test]
async fn an_older_store_may_be_opened_by_many_at_once() {
    let (_folder, path) = folder();
    old_store(&path);
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || open(&path))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap().roots(9).await.unwrap().len(), 1);
    }
}

// The part of U-14 that needs no keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_taken_while_others_write_is_a_whole_store() {
    let (folder, path) = folder();
    let store = open(&path);
    let run = id("a");
    let epoch = store.lease(&run).await.unwrap();
    store.append(&run, epoch, vec![append(&run, vec![start(&run, 1)])]).await.unwrap();
    let digest = content(&store, 7).await;
    let stop = Arc::new(AtomicBool::new(false));
    let (wrote, mut written) = tokio::sync::watch::channel(0);
    let writer = tokio::spawn({
        let (store, run, stop) = (store.clone(), run.clone(), stop.clone());
        async move {
            let mut seq = 1;
            while !stop.load(Ordering::Relaxed) {
                let pair = vec![said(seq, seq, "one"), said(seq + 1, seq, "two")];
                store.append(&run, epoch, vec![append(&run, pair)]).await.unwrap();
                seq += 2;
                wrote.send_replace(seq);
            }
            seq
        }
    });
    written.wait_for(|seq| *seq > 20).await.unwrap();
    let copy = folder.path().join("copy.db");
    // Another handle: as another process would.
    let bytes = open(&path).backup(&copy).await.unwrap();
    let by_then = *written.borrow();
    written.wait_for(|seq| *seq > by_then + 20).await.unwrap();
    stop.store(true, Ordering::Relaxed);
    let all = writer.await.unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().len(), bytes);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let copied = open(&copy);
    let events = copied.read(&run, 0).await.unwrap();
    assert!(events.len() > 20 && (events.len() as u64) < all, "{} of {all}", events.len());
    assert_eq!(events.len() % 2, 1, "no append is there by half");
    assert_eq!(events, store.read(&run, 0).await.unwrap()[..events.len()]);
    assert!(copied.get(&digest).await.unwrap().is_some());
    assert_eq!(copied.lease(&run).await, Ok(epoch + 1), "it can be gone on with");
    let again = store.backup(&copy).await;
    assert!(matches!(&again, Err(StoreError::Failed(text)) if text.contains("copy.db")), "{again:?}");
    assert_eq!(open(&copy).read(&run, 0).await.unwrap().len(), events.len(), "nothing is overwritten");
}

// The part of U-14 that needs no keys.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plain_copy_of_the_folder_of_a_writer_is_a_store_or_says_that_it_is_none() {
    let (folder, path) = folder();
    let store = open(&path);
    let run = id("a");
    let epoch = store.lease(&run).await.unwrap();
    store.append(&run, epoch, vec![append(&run, vec![start(&run, 1)])]).await.unwrap();
    let mut seq = 1;
    for round in 0..20 {
        let next = append(&run, vec![said(seq, seq, &"y".repeat(20_000))]);
        let to = folder.path().join(format!("copy{round}"));
        fs::create_dir(&to).unwrap();
        // The copy of one file and the append overlap in any way they like.
        let copying = {
            let (from, to) = (path.clone(), to.clone());
            tokio::task::spawn_blocking(move || {
                for name in ["store.db", "store.db-wal"] {
                    fs::copy(from.with_file_name(name), to.join(name)).unwrap();
                }
            })
        };
        store.append(&run, epoch, vec![next]).await.unwrap();
        copying.await.unwrap();
        seq += 1;
        let before = fs::read(to.join("store.db")).unwrap();
        match SqliteStore::open(to.join("store.db"), Sync::Normal) {
            Ok(copy) => match copy.read(&run, 0).await {
                Ok(events) => {
                    assert!(events.len() as u64 + 1 >= seq, "at most the append under way is missing");
                    let epoch = copy.lease(&run).await.unwrap();
                    let next = vec![woke(events.len() as u64, 9)];
                    copy.append(&run, epoch, vec![append(&run, next)]).await.unwrap();
                }
                Err(StoreError::Failed(text)) => {
                    assert!(text.contains("damaged") && text.contains(".recover"), "{text}")
                }
                Err(other) => panic!("{other:?}"),
            },
            Err(StoreError::Failed(text)) => {
                assert!(text.contains("store.db"), "{text}");
                assert_eq!(fs::read(to.join("store.db")).unwrap(), before, "left as it is");
            }
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_damaged_file_is_named_with_what_to_do_and_left_as_it_is() {
    let (_folder, path) = folder();
    let store = open(&path);
    for root in ["a", "b", "c"] {
        tree(&store, root, &[]).await;
    }
    drop(store);
    let whole = fs::read(&path).unwrap();
    let half = whole.len() / 2;
    let mut holed = whole.clone();
    // The tables' own page, but for the header.
    holed[100..4_096].fill(0xa5);
    for (what, content) in [("cut", &whole[..half]), ("holed", &holed[..])] {
        fs::write(&path, content).unwrap();
        let refused = match SqliteStore::open(&path, Sync::Normal) {
            Ok(store) => store.tree(&id("c")).await.and(store.read(&id("c"), 0).await.map(|_| ())),
            Err(e) => Err(e),
        };
        let Err(StoreError::Failed(text)) = refused else { panic!("{what}: {refused:?}") };
        for words in ["is damaged", "store.db", "restore it from a copy"] {
            assert!(text.contains(words), "{what}: {text}");
        }
        assert!(fs::read(&path).unwrap() == content, "{what}: left as it is");
    }
}
