//! The entries of one folder, in byte order, by its handle.

use super::beneath::special;
use crate::tool::aside::Stop;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

/// What an entry is, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tool) enum EntryKind {
    /// A folder.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// Something else.
    Special(&'static str),
}

/// One entry.
#[derive(Clone, Debug)]
pub(in crate::tool) struct Entry {
    /// Its name.
    pub(in crate::tool) name: OsString,
    /// What it is.
    pub(in crate::tool) kind: EntryKind,
}

/// Entries of a folder.
#[derive(Clone, Debug, Default)]
pub(in crate::tool) struct Entries {
    /// In byte order of their names.
    pub(in crate::tool) list: Vec<Entry>,
    /// The folder has more than were asked for.
    pub(in crate::tool) more: bool,
}

/// The begin of the name of a file that is being written: see [`super::replace`].
pub(super) const TEMPORARY: &str = ".deputize-tmp-";

/// Reads at most `most` entries. Files that are just being written are left out.
pub(in crate::tool) fn read(folder: impl AsFd, most: usize, stop: &Stop) -> io::Result<Entries> {
    let mut entries = Entries::default();
    // The handle may be one that only leads further down, so the folder is opened for reading here.
    let readable = openat(&folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for item in Dir::new(readable)? {
        stop.check()?;
        let item = item?;
        let name = OsStr::from_bytes(item.file_name().to_bytes());
        if name == "." || name == ".." || name.as_bytes().starts_with(TEMPORARY.as_bytes()) {
            continue;
        }
        if entries.list.len() == most {
            entries.more = true;
            break;
        }
        let kind = match item.file_type() {
            FileType::Unknown => kind_of(&folder, name),
            known => known,
        };
        entries.list.push(Entry { name: name.to_os_string(), kind: named(kind) });
    }
    entries.list.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(entries)
}

/// Some file systems do not say what an entry is until it is looked at.
fn kind_of(folder: impl AsFd, name: &OsStr) -> FileType {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

fn named(kind: FileType) -> EntryKind {
    match kind {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        other => EntryKind::Special(special(other)),
    }
}
