//! Both stores against the conformance suite, and the SQLite store against its file: reopening, other handles, other
//! versions, other files, permissions, a torn end.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests and their helpers: a surprise ends them")]

use deputize_adapters::store::memory::MemoryStore;
use deputize_adapters::store::sqlite::{SqliteStore, Sync};
use deputize_core::id::{RunId, Time};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{BlobStore as _, EventStore as _, Signal, StoreError};
use deputize_testkit::sample::{append, finished, said, start, woke};
use deputize_testkit::store::{conformance, take_signals};
use rusqlite::{Connection, params};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, Sync::Full).unwrap()
}

fn id(text: &str) -> RunId {
    RunId::new(text)
}

async fn begin(store: &SqliteStore, run: &RunId) -> u64 {
    let epoch = store.lease(run).await.unwrap();
    store.append(run, epoch, vec![append(run, vec![start(run, 1)])]).await.unwrap();
    epoch
}

/// The sentence of a failure to open.
fn refusal(path: &Path) -> String {
    match SqliteStore::open(path, Sync::Full) {
        Err(StoreError::Failed(text)) => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_memory_store_conforms_and_needs_no_time() {
    let before = tokio::time::Instant::now();
    conformance(MemoryStore::new).await;
    assert_eq!(tokio::time::Instant::now(), before);
}

#[tokio::test]
async fn the_sqlite_store_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    conformance(|| {
        number.set(number.get() + 1);
        open(&folder.path().join(format!("{}.db", number.get())))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sqlite_store_conforms_on_many_threads_and_without_sync() {
    let folder = tempfile::tempdir().unwrap();
    let number = std::cell::Cell::new(0);
    conformance(|| {
        number.set(number.get() + 1);
        SqliteStore::open(folder.path().join(format!("{}.db", number.get())), Sync::Normal).unwrap()
    })
    .await;
}

#[tokio::test]
async fn clones_are_one_store() {
    let (store, run) = (MemoryStore::new(), id("a"));
    let epoch = store.clone().lease(&run).await.unwrap();
    store.append(&run, epoch, vec![append(&run, vec![start(&run, 1)])]).await.unwrap();
    assert_eq!(store.clone().read(&run, 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_reopened_store_has_everything() {
    let (_folder, path) = folder();
    let run = id("a");
    let store = open(&path);
    let epoch = begin(&store, &run).await;
    store.append(&run, epoch, vec![append(&run, vec![woke(1, 2)])]).await.unwrap();
    store.signal(&run, Signal::Cancel { run: run.clone(), by: "me".into() }).await.unwrap();
    let digest = store.put(b"content".to_vec()).await.unwrap();
    let tree = store.tree(&run).await.unwrap();
    drop(store);
    let side_files = fs::read_dir(path.parent().unwrap()).unwrap().count();
    assert_eq!(side_files, 1, "the last handle leaves the one file");

    let store = open(&path);
    assert_eq!(store.read(&run, 0).await.unwrap(), [start(&run, 1), woke(1, 2)]);
    assert_eq!(store.tree(&run).await.unwrap(), tree);
    assert_eq!(store.get(&digest).await.unwrap().as_deref(), Some(&b"content"[..]));
    store.append(&run, epoch, vec![append(&run, vec![woke(2, 3)])]).await.unwrap();
    assert_eq!(store.lease(&run).await, Ok(epoch + 1));
    assert_eq!(take_signals(&store, &run).await.unwrap().len(), 1);
    drop(store);
    assert_eq!(take_signals(&open(&path), &run).await, Ok(vec![]), "taken for good");
}

#[tokio::test]
async fn handles_on_one_file_see_and_fence_each_other() {
    let (_folder, path) = folder();
    let (one, two) = (open(&path), open(&path));
    let run = id("a");
    let old = begin(&one, &run).await;
    assert_eq!(two.read(&run, 0).await.unwrap().len(), 1);
    let new = two.lease(&run).await.unwrap();
    let next = || vec![append(&run, vec![woke(1, 2)])];
    let fenced = StoreError::Fenced { root: run.clone(), epoch: old, found: new };
    assert_eq!(one.append(&run, old, next()).await, Err(fenced));
    two.append(&run, new, next()).await.unwrap();
    assert_eq!(one.read(&run, 0).await.unwrap().len(), 2);
    one.signal(&run, Signal::Cancel { run: run.clone(), by: "one".into() }).await.unwrap();
    assert_eq!(take_signals(&two, &run).await.unwrap().len(), 1);
    assert_eq!(take_signals(&one, &run).await, Ok(vec![]));
    drop(two);
    assert_eq!(one.roots(9).await.unwrap().len(), 1, "closing one handle does not disturb the other");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_appenders_at_once_lose_nothing() {
    let (_folder, path) = folder();
    // Two handles, so that two writers meet at the file as two processes would.
    let stores = [open(&path), open(&path)];
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..64 {
        let store = stores[n % 2].clone();
        tasks.spawn(async move {
            let run = id(&format!("r{n}"));
            let epoch = begin(&store, &run).await;
            for seq in 1..20 {
                let text = format!("{n} {seq}");
                store.append(&run, epoch, vec![append(&run, vec![said(seq, seq, &text)])]).await.unwrap();
                assert_eq!(store.read(&run, seq).await.unwrap().len(), 1, "what append returned for is seen");
            }
        });
    }
    while let Some(result) = tasks.join_next().await {
        result.unwrap();
    }
    drop(stores);
    let store = open(&path);
    assert_eq!(store.roots(100).await.unwrap().len(), 64);
    for n in 0..64 {
        let events = store.read(&id(&format!("r{n}")), 0).await.unwrap();
        assert_eq!(events.len(), 20);
        assert_eq!(events[7], said(7, 7, &format!("{n} 7")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_may_be_made_by_many_at_once() {
    let (_folder, path) = folder();
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || open(&path))
        })
        .collect();
    let stores: Vec<SqliteStore> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    for (n, store) in stores.iter().enumerate() {
        begin(store, &id(&format!("r{n}"))).await;
    }
    assert_eq!(stores[0].roots(9).await.unwrap().len(), 8);
}

#[tokio::test]
async fn files_and_new_folders_are_for_the_owner_only() {
    let (folder, _) = folder();
    let path = folder.path().join("state/deeper/store.db");
    let store = open(&path);
    begin(&store, &id("a")).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for file in ["store.db", "store.db-wal", "store.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
    for made in ["state", "state/deeper"] {
        assert_eq!(mode(&folder.path().join(made)), 0o700, "{made}");
    }
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_the_file_untouched() {
    let (_folder, path) = folder();
    drop(open(&path));
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 7).unwrap();
    drop(conn);
    let before = fs::read(&path).unwrap();
    let error = SqliteStore::open(&path, Sync::Full).unwrap_err();
    assert_eq!(error, StoreError::Newer { path: path.display().to_string(), found: 7, known: 2 });
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_and_untouched() {
    let (folder, path) = folder();
    for content in [&b"a text"[..], &[7; 10_000]] {
        fs::write(&path, content).unwrap();
        let text = refusal(&path);
        assert!(text.contains("no SQLite database") && text.contains("store.db"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE things(n)").unwrap();
    let before = fs::read(&other).unwrap();
    let text = refusal(&other);
    assert!(text.contains("another program"), "{text}");
    assert_eq!(fs::read(&other).unwrap(), before);
    assert!(refusal(folder.path()).contains("is no file"));
    let below = path.join("store.db");
    assert!(refusal(&below).contains("cannot be created"), "a file is no folder");
}

/// As a user who may read the folder but not write it. The superuser may write everywhere, so the superuser runs this
/// test again as somebody else.
#[test]
fn a_read_only_folder_is_named() {
    const PLACE: &str = "DEPUTIZE_TEST_READ_ONLY_FOLDER";
    if let Some(place) = std::env::var_os(PLACE) {
        let place = PathBuf::from(place);
        for name in ["store.db", "new.db"] {
            let text = refusal(&place.join(name));
            assert!(text.contains("read-only") && text.contains(name), "{text}");
        }
        return;
    }
    let (folder, path) = folder();
    drop(open(&path));
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let may_write = fs::write(folder.path().join("probe"), "").is_ok();
    // A copy, because the way to the original may be closed to others.
    let program = folder.path().join("again");
    let own = std::env::current_exe().unwrap();
    let mut again = if may_write {
        fs::copy(&own, &program).unwrap();
        let mut again = std::process::Command::new(&program);
        std::os::unix::process::CommandExt::uid(&mut again, 65_534);
        again
    } else {
        std::process::Command::new(&own)
    };
    let words = ["--exact", "a_read_only_folder_is_named"];
    let output = again.args(words).env(PLACE, folder.path()).current_dir(folder.path()).output().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Overwrites a record behind the store's back.
fn damage(path: &Path, run: &RunId, seq: u64, data: &[u8]) {
    let conn = Connection::open(path).unwrap();
    let sql = "UPDATE events SET data = ?3 WHERE run = ?1 AND seq = ?2";
    assert_eq!(conn.execute(sql, params![run.as_str(), seq.cast_signed(), data]).unwrap(), 1);
}

#[tokio::test]
async fn a_torn_last_record_is_left_out_reported_and_replaced() {
    let (_folder, path) = folder();
    let store = open(&path);
    let run = id("a");
    let epoch = begin(&store, &run).await;
    let end = finished(2, 3, &run, Terminal::Succeeded);
    store.append(&run, epoch, vec![append(&run, vec![woke(1, 2), end])]).await.unwrap();
    damage(&path, &run, 2, b"{\"v\":1,\"seq\":2,\"at\xff");
    for _ in 0..2 {
        assert_eq!(store.read(&run, 0).await.unwrap(), [start(&run, 1), woke(1, 2)]);
    }
    assert!(matches!(&store.dropped()[..], [StoreError::Damaged { run: of, seq: 2, .. }] if *of == run));
    let epoch = store.lease(&run).await.unwrap();
    store.append(&run, epoch, vec![append(&run, vec![woke(2, 9), woke(3, 9)])]).await.unwrap();
    assert_eq!(store.read(&run, 2).await.unwrap(), [woke(2, 9), woke(3, 9)]);
    let head = store.tree(&run).await.unwrap().remove(0);
    assert_eq!((head.status, head.updated), (None, Time(9)), "its end was in the torn record");
    let kept: i64 = Connection::open(&path).unwrap().query_row("SELECT count(*) FROM torn", [], |r| r.get(0)).unwrap();
    assert_eq!(kept, 1, "nothing is thrown away");
}

#[tokio::test]
async fn damage_elsewhere_is_an_error_and_stays() {
    let (_folder, path) = folder();
    let store = open(&path);
    let run = id("a");
    let epoch = begin(&store, &run).await;
    store.append(&run, epoch, vec![append(&run, vec![woke(1, 2), woke(2, 3)])]).await.unwrap();
    damage(&path, &run, 1, b"");
    let result = store.read(&run, 0).await;
    assert!(matches!(&result, Err(StoreError::Damaged { seq: 1, .. })), "{result:?}");
    let conflict = StoreError::Conflict { run: run.clone(), expected: 1, found: 3 };
    assert_eq!(store.append(&run, epoch, vec![append(&run, vec![woke(1, 9)])]).await, Err(conflict));
    assert_eq!(store.read(&run, 2).await.unwrap(), [woke(2, 3)]);
    damage(&path, &run, 2, br#"{"v":99}"#);
    let newer = StoreError::Newer { path: path.display().to_string(), found: 99, known: 1 };
    assert_eq!(store.read(&run, 2).await, Err(newer), "a newer record is not torn");
    let conflict = StoreError::Conflict { run: run.clone(), expected: 2, found: 3 };
    assert_eq!(store.append(&run, epoch, vec![append(&run, vec![woke(2, 9)])]).await, Err(conflict));
    assert_eq!(store.dropped(), []);
}

#[tokio::test]
async fn a_damaged_blob_is_an_error() {
    let (_folder, path) = folder();
    let store = open(&path);
    let digest = store.put(b"content".to_vec()).await.unwrap();
    Connection::open(&path).unwrap().execute("UPDATE blobs SET data = x'00'", []).unwrap();
    let result = store.get(&digest).await;
    assert!(matches!(&result, Err(StoreError::Failed(text)) if text.contains("damaged")), "{result:?}");
}
