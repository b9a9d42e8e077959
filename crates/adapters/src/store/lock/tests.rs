//! The lock of a tree: one holder at a time, freed with it, whoever looks.

use super::TreeLock;
use deputize_core::id::RunId;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let root = RunId::new("abc");
    assert!(!TreeLock::is_held(folder.path(), &root).unwrap());
    let first = TreeLock::try_acquire(folder.path(), &root).unwrap().unwrap();
    assert!(TreeLock::is_held(folder.path(), &root).unwrap());
    assert!(TreeLock::try_acquire(folder.path(), &root).unwrap().is_none());
    assert!(TreeLock::try_acquire(folder.path(), &RunId::new("other")).unwrap().is_some());
    drop(first);
    assert!(!TreeLock::is_held(folder.path(), &root).unwrap());
    assert!(TreeLock::try_acquire(folder.path(), &root).unwrap().is_some());
}

#[test]
fn files_are_private_and_go_away() {
    let folder = tempfile::tempdir().unwrap();
    let locks = folder.path().join("locks");
    let held = TreeLock::try_acquire(folder.path(), &RunId::new("abc")).unwrap().unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&locks), 0o700);
    assert_eq!(mode(&locks.join("abc.lock")), 0o600);
    drop(held);
    assert_eq!(std::fs::read_dir(&locks).unwrap().count(), 0);
}

#[test]
fn a_file_that_a_killed_process_left_is_free() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("locks")).unwrap();
    std::fs::write(folder.path().join("locks/abc.lock"), "").unwrap();
    assert!(!TreeLock::is_held(folder.path(), &RunId::new("abc")).unwrap());
    assert!(TreeLock::try_acquire(folder.path(), &RunId::new("abc")).unwrap().is_some());
}

#[test]
fn a_strange_id_stays_inside_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let held = TreeLock::try_acquire(folder.path(), &RunId::new("../../x")).unwrap().unwrap();
    assert_eq!(std::fs::read_dir(folder.path().join("locks")).unwrap().count(), 1);
    drop(held);
}

#[test]
fn many_threads_never_hold_it_together() {
    let folder = tempfile::tempdir().unwrap();
    let (root, inside, taken) = (RunId::new("abc"), AtomicUsize::new(0), AtomicUsize::new(0));
    let once = || {
        TreeLock::is_held(folder.path(), &root).unwrap();
        let Some(held) = TreeLock::try_acquire(folder.path(), &root).unwrap() else { return };
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        taken.fetch_add(1, Ordering::SeqCst);
        inside.fetch_sub(1, Ordering::SeqCst);
        drop(held);
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..200).for_each(|_| once()));
        }
    });
    assert!(taken.load(Ordering::SeqCst) > 0);
}
