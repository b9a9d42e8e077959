//! The stores of the test kit that break on purpose, around a store that works.
#![expect(clippy::unwrap_used, reason = "tests and their helpers: a surprise ends them")]

use deputize_adapters::store::memory::MemoryStore;
use deputize_core::id::RunId;
use deputize_runtime::port::{Append, BlobStore as _, EventStore, Signal, StoreError};
use deputize_testkit::sample::{append, child_start, label, start, woke};
use deputize_testkit::store::{CrashStore, Cut, FullDisk, conformance};

const EVENTS: u64 = 6;

/// Three appends of one, three and two events, to two logs; stops at the first that fails.
async fn script(store: &impl EventStore) -> Result<(), StoreError> {
    let run = RunId::new("a");
    let child = run.child(&label("t1/c0"));
    let epoch = store.lease(&run).await?;
    let batches: [Vec<Append>; 3] = [
        vec![append(&run, vec![start(&run, 1)])],
        vec![append(&run, vec![woke(1, 2)]), append(&child, vec![child_start(&run, "t1/c0", 2), woke(1, 2)])],
        vec![append(&run, vec![woke(2, 3), woke(3, 3)])],
    ];
    for batch in batches {
        store.append(&run, epoch, batch).await?;
    }
    Ok(())
}

async fn lengths(store: &MemoryStore) -> (usize, usize) {
    let (run, child) = (RunId::new("a"), RunId::new("a/t1/c0"));
    (store.read(&run, 0).await.unwrap().len(), store.read(&child, 0).await.unwrap().len())
}

#[tokio::test]
async fn wrappers_that_never_break_conform() {
    conformance(|| CrashStore::new(MemoryStore::new(), Cut::Never)).await;
    conformance(|| FullDisk::new(MemoryStore::new())).await;
}

#[tokio::test]
async fn a_counting_store_knows_the_total() {
    let store = CrashStore::new(MemoryStore::new(), Cut::Never);
    script(&store).await.unwrap();
    assert_eq!((store.events().await, store.appends().await, store.is_dead().await), (EVENTS, 3, false));
}

#[tokio::test]
async fn a_cut_after_an_event_splits_appends() {
    let kept = [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (3, 2), (4, 2)];
    for (cut, expected) in (0..).zip(kept) {
        let inner = MemoryStore::new();
        let store = CrashStore::new(inner.clone(), Cut::After(cut));
        assert!(script(&store).await.is_err(), "cut {cut}: the caller is never told that it was kept");
        assert_eq!(lengths(&inner).await, expected, "cut {cut}");
        assert!(store.is_dead().await);
        let run = RunId::new("a");
        assert!(store.lease(&run).await.is_err());
        assert!(store.read(&run, 0).await.is_err());
        assert!(store.signal(&run, Signal::Cancel { run: run.clone(), by: "x".into() }).await.is_err());
        assert!(store.put(vec![]).await.is_err());
    }
    let store = CrashStore::new(MemoryStore::new(), Cut::After(EVENTS + 1));
    assert_eq!(script(&store).await, Ok(()));
}

#[tokio::test]
async fn a_cut_after_an_append_keeps_it_whole() {
    let kept = [(0, 0), (1, 0), (2, 2), (2, 2), (2, 2), (4, 2), (4, 2)];
    for (cut, expected) in (0..).zip(kept) {
        let inner = MemoryStore::new();
        let store = CrashStore::new(inner.clone(), Cut::AfterAppend(cut));
        assert!(script(&store).await.is_err(), "cut {cut}");
        assert_eq!(lengths(&inner).await, expected, "cut {cut}");
    }
}

#[tokio::test]
async fn what_the_inner_store_refuses_is_not_counted() {
    let store = CrashStore::new(MemoryStore::new(), Cut::After(2));
    let run = RunId::new("a");
    let epoch = store.lease(&run).await.unwrap();
    let early = store.append(&run, epoch, vec![append(&run, vec![woke(1, 1), woke(2, 1)])]).await;
    assert!(matches!(early, Err(StoreError::Conflict { .. })));
    assert!(!store.is_dead().await);
    store.append(&run, epoch, vec![append(&run, vec![start(&run, 1)])]).await.unwrap();
}

#[tokio::test]
async fn a_full_disk_refuses_writes_until_there_is_room() {
    let inner = MemoryStore::new();
    let store = FullDisk::after(inner.clone(), 1);
    let result = script(&store).await;
    assert!(matches!(&result, Err(StoreError::Failed(text)) if text.contains("disk is full")), "{result:?}");
    assert_eq!(lengths(&inner).await, (1, 0));
    let run = RunId::new("a");
    assert_eq!(store.read(&run, 0).await.unwrap().len(), 1, "reads go on");
    assert!(store.put(vec![1]).await.is_err() && store.lease(&run).await.is_err());
    store.free();
    store.append(&run, 1, vec![append(&run, vec![woke(1, 2)])]).await.unwrap();
    store.fill();
    assert!(store.append(&run, 1, vec![append(&run, vec![woke(2, 2)])]).await.is_err());
}
