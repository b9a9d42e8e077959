//! Further names of a file (hard links): a rule speaks of paths, and one file may have several. What may not be read by one
//! of its names in the workspace may not be read by another.

use super::entries::{self, EntryKind};
use super::{Workspace, beneath};
use crate::tool::aside::Stop;
use deputize_core::policy::Use;
use rustix::fs::{AtFlags, Stat, statat};
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;

/// The most entries that are looked at: as many as a walk of glob or grep does.
const MOST: usize = 400_000;

/// Files with several names of which at least one may not be read.
pub(super) struct Hidden {
    files: BTreeSet<String>,
    /// There was more to look at than the bound.
    cut: bool,
}

impl Hidden {
    /// Whether this is one of them. Where not all could be looked at, every file with several names is.
    pub(super) fn has(&self, file: &Stat) -> bool {
        self.cut || self.files.contains(&identity(file))
    }
}

/// Device and number, as text: their types differ from system to system.
fn identity(stat: &Stat) -> String {
    format!("{}:{}", stat.st_dev, stat.st_ino)
}

/// Looks through the whole workspace, following no link.
pub(super) fn hidden(workspace: &Workspace, stop: &Stop) -> Hidden {
    let mut hidden = Hidden { files: BTreeSet::new(), cut: false };
    let mut seen = 0;
    let mut queue = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = queue.pop_front() {
        // What this user cannot list, or what is gone by now, has no names to look at.
        let Ok(handle) = workspace.descend(&workspace.folder.root, &folder) else { continue };
        let Ok(entries) = entries::read(&handle, MOST - seen, stop) else { continue };
        seen += entries.list.len();
        for entry in entries.list {
            let path = folder.join(&entry.name);
            match entry.kind {
                EntryKind::Folder => queue.push_back(path),
                EntryKind::File if workspace.refuses(Use::Read, &path.to_string_lossy()).is_some() => {
                    let stat = statat(&handle, &entry.name, AtFlags::SYMLINK_NOFOLLOW);
                    hidden.files.extend(stat.ok().filter(beneath::shared).map(|stat| identity(&stat)));
                }
                EntryKind::File | EntryKind::Link | EntryKind::Special(_) => {}
            }
        }
        hidden.cut |= entries.more || stop.check().is_err();
        if hidden.cut {
            break;
        }
    }
    hidden
}
