//! A walk stops when it is told to, and links are only looked at when they are wanted.

use super::{Wanted, below};
use crate::tool::aside::{Stop, stopped};
use crate::tool::workspace::entries::EntryKind;
use crate::tool::workspace::tests::opened;
use deputize_core::code;
use deputize_core::policy::Use;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const ALL: Wanted<'_> = Wanted { links: true, git: false, keep: &|_, kind| kind == EntryKind::File };

#[test]
fn a_walk_stops_when_it_is_told_to() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), "").unwrap();
    let workspace = opened(dir.path());
    let base = workspace.find("", &[Use::Read]).unwrap();
    let stopped = below(&workspace, &base, &ALL, &stopped());
    assert_eq!(stopped.unwrap_err().code, code::STEP_STOPPED);
    assert_eq!(below(&workspace, &base, &ALL, &Stop::default()).unwrap().paths, [Path::new("a")]);
}

#[test]
fn links_to_files_are_found_and_links_out_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("ws");
    fs::create_dir_all(inside.join("d")).unwrap();
    fs::write(inside.join("d/f"), "").unwrap();
    for (target, name) in [("d/f", "file"), ("d", "folder"), ("gone", "nothing"), ("..", "out"), ("self", "self")] {
        symlink(target, inside.join(name)).unwrap();
    }
    let workspace = opened(&inside);
    let base = workspace.find("", &[Use::Read]).unwrap();
    let walked = below(&workspace, &base, &ALL, &Stop::default()).unwrap();
    assert_eq!(walked.paths, ["d/f", "file"].map(PathBuf::from));
    assert_eq!((walked.withheld, walked.unreadable, walked.cut), (1, 0, false));
    let without = below(&workspace, &base, &Wanted { links: false, ..ALL }, &Stop::default()).unwrap();
    assert_eq!((without.paths, without.withheld), (vec![PathBuf::from("d/f")], 0));
}
