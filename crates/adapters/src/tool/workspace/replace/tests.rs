//! A replacement that is interrupted at any point leaves the old content and nothing else.

use super::replace;
use crate::tool::aside::{Stop, stopped};
use crate::tool::workspace::Workspace;
use crate::tool::workspace::beneath::Place;
use crate::tool::workspace::tests::opened;
use deputize_core::policy::Use;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn workspace() -> (TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("old"), "old").unwrap();
    let workspace = opened(dir.path());
    (dir, workspace)
}

fn place(workspace: &Workspace, path: &str) -> Place {
    workspace.find(path, &[Use::Write]).unwrap().place
}

fn names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_full_disk_leaves_no_trace() {
    let full = |file: &mut fs::File| {
        file.write_all(b"half")?;
        Err(io::Error::from(ErrorKind::StorageFull))
    };
    for path in ["old", "new", "a/b/new"] {
        let (dir, workspace) = workspace();
        let got = replace(&place(&workspace, path), "key", &Stop::default(), full);
        assert_eq!(got.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(names(dir.path()), [dir.path().join("old")], "{path}");
        assert_eq!(fs::read(dir.path().join("old")).unwrap(), b"old");
    }
}

#[test]
fn a_call_that_is_stopped_before_its_rename_changes_nothing() {
    for path in ["old", "a/new"] {
        let (dir, workspace) = workspace();
        let got = replace(&place(&workspace, path), "key", &stopped(), |file| file.write_all(b"new"));
        assert_eq!(got.unwrap_err().kind(), ErrorKind::Interrupted);
        assert_eq!(names(dir.path()), [dir.path().join("old")], "{path}");
        assert_eq!(fs::read(dir.path().join("old")).unwrap(), b"old");
    }
}

#[test]
fn a_rename_that_fails_changes_nothing() {
    let (dir, workspace) = workspace();
    let target = dir.path().join("new");
    // Between the look and the rename somebody makes a folder of that name.
    let got = replace(&place(&workspace, "new"), "key", &Stop::default(), |_| fs::create_dir(&target));
    assert!(got.is_err());
    assert_eq!(names(dir.path()).len(), 2);
    assert_eq!(names(&target).len(), 0);
}

#[test]
fn the_repetition_removes_what_a_crash_left_behind() {
    let (dir, workspace) = workspace();
    let write = |look: &mut dyn FnMut()| {
        replace(&place(&workspace, "old"), "run/t1/c0#1", &Stop::default(), |file| {
            look();
            file.write_all(b"new")
        })
    };
    let mut during = Vec::new();
    write(&mut || during = names(dir.path())).unwrap();
    let temporary = during.into_iter().find(|path| path.file_name().unwrap() != "old").unwrap();
    assert!(!temporary.exists());
    fs::write(&temporary, "half").unwrap();
    write(&mut || assert_eq!(fs::read(&temporary).unwrap(), b"")).unwrap();
    assert_eq!(names(dir.path()), [dir.path().join("old")]);
    assert_eq!(fs::read(dir.path().join("old")).unwrap(), b"new");
}

#[test]
fn nobody_reads_new_content_early() {
    let (dir, workspace) = workspace();
    fs::set_permissions(dir.path().join("old"), fs::Permissions::from_mode(0o644)).unwrap();
    replace(&place(&workspace, "old"), "key", &Stop::default(), |file| {
        assert_eq!(file.metadata()?.permissions().mode() & 0o777, 0o600);
        Ok(())
    })
    .unwrap();
    assert_eq!(dir.path().join("old").metadata().unwrap().permissions().mode() & 0o777, 0o644);
}
