//! What happens between the look at a path and its use gains nothing: the two steps are taken apart here.

use super::{Folder, Workspace};
use crate::tool::aside::Stop;
use crate::tool::workspace::entries::EntryKind;
use crate::tool::workspace::replace::replace;
use crate::tool::workspace::walk::{self, Wanted};
use deputize_core::code::PERMISSION_DENIED;
use deputize_core::policy::{Access, Glob, Layer, Layers, Permission, Rule, Source, Use};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A workspace without lists of its own.
pub(super) fn opened(path: &Path) -> Workspace {
    Workspace::new(Arc::new(Folder::open(path, &[]).unwrap()), Layers::default())
}

/// A workspace whose `secrets` are closed, with a harmless folder beside them.
fn shut() -> (TempDir, Workspace) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [("secrets/f", "canary"), ("d/f", "harmless")] {
        fs::create_dir_all(dir.path().join(path).parent().unwrap()).unwrap();
        fs::write(dir.path().join(path), text).unwrap();
    }
    let rule = |mode, path: &str| {
        let (operations, paths) = (vec![Access::Read, Access::Write], vec![Glob::parse(path).unwrap()]);
        Rule { operations, paths, mode, reason: None }
    };
    let rules = vec![rule(Permission::Deny, "/secrets/"), rule(Permission::Allow, "/")];
    let layers = Layers::new([Layer { source: Source::Project, rules }]);
    let workspace = Workspace::new(Arc::new(Folder::open(dir.path(), &[]).unwrap()), layers);
    (dir, workspace)
}

type Swap = fn(&Path);

/// What is put in the place of the harmless file or its folder.
fn swaps() -> [(&'static str, Swap); 4] {
    fn away(path: &Path) {
        fs::rename(path, path.with_extension("gone")).unwrap();
    }
    [
        ("a link for the file", |root| {
            away(&root.join("d/f"));
            symlink("../secrets/f", root.join("d/f")).unwrap();
        }),
        ("a hard link for the file", |root| {
            away(&root.join("d/f"));
            fs::hard_link(root.join("secrets/f"), root.join("d/f")).unwrap();
        }),
        ("a link for the folder", |root| {
            away(&root.join("d"));
            symlink("secrets", root.join("d")).unwrap();
        }),
        ("the folder itself", |root| {
            away(&root.join("d"));
            fs::rename(root.join("secrets"), root.join("d")).unwrap();
        }),
    ]
}

// covers X-09, S-13
#[test]
fn fault_37_a_swap_between_look_and_read_gains_nothing() {
    for (what, swap) in swaps() {
        let (dir, workspace) = shut();
        let found = workspace.find("d/f", &[Use::Read]).unwrap();
        swap(dir.path());
        match found.open(&workspace, &Stop::default()) {
            Ok(mut file) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(text, "harmless", "{what}: the folder that was looked at is the one that is used");
            }
            Err(failure) => assert!(!failure.why.contains("secrets"), "{what}: {}", failure.why),
        }
    }
}

//
#[test]
fn fault_37_a_swap_between_look_and_write_gains_nothing() {
    for (what, swap) in swaps() {
        let (dir, workspace) = shut();
        let found = workspace.find("d/f", &[Use::Write]).unwrap();
        let secret = fs::File::open(dir.path().join("secrets/f")).unwrap();
        swap(dir.path());
        drop(replace(&found.place, "key", &Stop::default(), |file| file.write_all(b"new")));
        let mut text = String::new();
        (&secret).read_to_string(&mut text).unwrap();
        assert_eq!(text, "canary", "{what}: the file itself is as it was");
        let found = walkdir(dir.path()).into_iter().filter(|text| text == "canary").count();
        assert!(found >= 1, "{what}: no name of the closed file was replaced in its folder");
    }
}

//
#[test]
fn fault_37_a_swap_between_walk_and_open_gains_nothing() {
    for (what, swap) in swaps() {
        let (dir, workspace) = shut();
        let base = workspace.find("", &[Use::List]).unwrap();
        let wanted = Wanted { links: false, git: false, keep: &|_, kind| kind == EntryKind::File };
        let walked = walk::below(&workspace, &base, &wanted, &Stop::default()).unwrap();
        assert_eq!(walked.paths, [Path::new("d/f")]);
        swap(dir.path());
        let opened = walk::open(&workspace, &base, Path::new("d/f"), &Stop::default());
        if what == "the folder itself" {
            // What lies at an open path now is open: its owner moved it there.
            continue;
        }
        assert!(opened.is_err(), "{what}");
    }
}

#[test]
fn a_hard_link_that_appears_is_seen_at_the_open_file() {
    let (dir, workspace) = shut();
    let found = workspace.find("d/f", &[Use::Read]).unwrap();
    fs::remove_file(dir.path().join("d/f")).unwrap();
    fs::hard_link(dir.path().join("secrets/f"), dir.path().join("d/f")).unwrap();
    let failure = found.open(&workspace, &Stop::default()).unwrap_err();
    assert_eq!(failure.code, PERMISSION_DENIED);
    assert_eq!(failure.why, "`d/f` may not be read: it is another name (a hard link) of a file that may not be read");
}

/// The content of every file below.
fn walkdir(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => texts.extend(walkdir(&entry.path())),
            kind if kind.is_file() => texts.push(fs::read_to_string(entry.path()).unwrap()),
            _ => {}
        }
    }
    texts
}
