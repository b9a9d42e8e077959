//! A walk over a whole folder for glob and grep: no link is followed, entries that a rule denies are left out and counted,
//! and the number of entries is bounded. Nearer folders come first, so that a bound cuts off the deepest.

use super::beneath::{Kind, Lost};
use super::entries::{self, EntryKind};
use super::{Found, Hidden, Workspace, explain, fault, joined};
use crate::tool::aside::Stop;
use crate::tool::text::{self, Output};
use deputize_core::step::Failure;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most entries of one walk: some seconds of work on a slow disk.
const MOST: usize = 400_000;

/// What a walk is asked for.
pub(in crate::tool) struct Wanted<'a> {
    /// Whether links to files are wanted; their targets are checked.
    pub(in crate::tool) links: bool,
    /// Whether git's own folders are entered.
    pub(in crate::tool) git: bool,
    /// Whether an entry is wanted, by its path below the base.
    pub(in crate::tool) keep: &'a dyn Fn(&Path, EntryKind) -> bool,
}

/// What a walk found.
#[derive(Debug, Default)]
pub(in crate::tool) struct Walked {
    /// Paths below the base, in byte order.
    pub(in crate::tool) paths: Vec<PathBuf>,
    /// Entries that were left out by a rule.
    pub(in crate::tool) withheld: u64,
    /// Folders that could not be read.
    pub(in crate::tool) unreadable: u64,
    /// There were more entries than the bound.
    pub(in crate::tool) cut: bool,
}

impl Walked {
    /// Remarks on what was not looked at.
    pub(in crate::tool) fn remarks(&self, output: &mut Output) {
        output.withheld(self.withheld);
        if self.unreadable > 0 {
            let folders = text::count(self.unreadable, "folder", "folders");
            output.remark(format!("{folders} could not be read"));
        }
        if self.cut {
            output.remark(format!(
                "the walk stopped after {MOST} entries, deeper folders were not looked at: give a path further down"
            ));
        }
    }
}

/// Walks the folder that was found.
pub(in crate::tool) fn below(
    workspace: &Workspace,
    base: &Found,
    wanted: &Wanted<'_>,
    stop: &Stop,
) -> Result<Walked, Failure> {
    let mut walk = Walk {
        workspace,
        base,
        wanted,
        written: base.written.parts.join("/"),
        real: joined(&base.place.real),
        walked: Walked::default(),
        seen: 0,
        queue: VecDeque::from([PathBuf::new()]),
    };
    while let Some(folder) = walk.queue.pop_front() {
        let entered = walk.enter(&folder, stop);
        stop.failing()?;
        match entered {
            Ok(()) => {}
            Err(lost) if folder.as_os_str().is_empty() => return Err(explain(&base.written, &lost)),
            Err(_) => walk.walked.unreadable += 1,
        }
        if walk.walked.cut {
            break;
        }
    }
    let mut walked = walk.walked;
    walked.paths.sort_by(|a, b| a.as_os_str().as_bytes().cmp(b.as_os_str().as_bytes()));
    Ok(walked)
}

struct Walk<'a> {
    workspace: &'a Workspace,
    base: &'a Found,
    wanted: &'a Wanted<'a>,
    /// The two forms of the base's path, for the rules.
    written: String,
    real: String,
    walked: Walked,
    seen: usize,
    queue: VecDeque<PathBuf>,
}

impl Walk<'_> {
    fn enter(&mut self, folder: &Path, stop: &Stop) -> Result<(), Lost> {
        let Kind::Folder(base) = &self.base.place.kind else { return Err(Lost::NoFolder) };
        let handle = self.workspace.descend(base, folder)?;
        let entries = entries::read(&handle, MOST - self.seen, stop)
            .map_err(|error| Lost::System(rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO)))?;
        self.seen += entries.list.len();
        self.walked.cut |= entries.more;
        for entry in entries.list {
            let path = folder.join(&entry.name);
            if self.hidden(&path, entry.kind) {
                self.walked.withheld += 1;
                continue;
            }
            match entry.kind {
                EntryKind::Link => self.link(folder, path, entry.name),
                EntryKind::Folder if entry.name == ".git" && !self.wanted.git => {}
                EntryKind::Folder => {
                    self.keep(path.clone(), EntryKind::Folder);
                    self.queue.push_back(path);
                }
                kind => self.keep(path, kind),
            }
        }
        Ok(())
    }

    fn keep(&mut self, path: PathBuf, kind: EntryKind) {
        if (self.wanted.keep)(&path, kind) {
            self.walked.paths.push(path);
        }
    }

    fn hidden(&self, path: &Path, kind: EntryKind) -> bool {
        let path = path.to_string_lossy();
        !self.workspace.tells(kind, &under(&self.written, &path), &under(&self.real, &path))
    }

    fn link(&mut self, folder: &Path, path: PathBuf, name: OsString) {
        if !self.wanted.links {
            return;
        }
        let real: Vec<OsString> =
            self.base.place.real.iter().cloned().chain(folder.iter().map(OsString::from)).collect();
        match self.workspace.link(&real, name) {
            Err(Hidden) => self.walked.withheld += 1,
            // The link's own path must be one that may be read, as that of a file.
            Ok(Some(place)) if matches!(place.kind, Kind::File(_)) && self.hidden(&path, EntryKind::File) => {
                self.walked.withheld += 1;
            }
            Ok(Some(place)) if matches!(place.kind, Kind::File(_)) => self.keep(path, EntryKind::File),
            Ok(_) => {}
        }
    }
}

/// A path below a base that may be empty.
fn under(base: &str, path: &str) -> String {
    if base.is_empty() { path.to_string() } else { format!("{base}/{path}") }
}

/// Opens a file that a walk found, to read it.
pub(in crate::tool) fn open(
    workspace: &Workspace,
    base: &Found,
    path: &Path,
    stop: &Stop,
) -> Result<std::fs::File, Failure> {
    let gone = || fault::failed("a file was changed by somebody else at this moment");
    let Kind::Folder(handle) = &base.place.kind else { return base.open(workspace, stop) };
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else { return Err(gone()) };
    let parent = workspace.descend(handle, folder).map_err(|_| gone())?;
    let file = super::beneath::open(&parent, name).map_err(|_| gone())?;
    workspace.readable(&file, &text::shown(&base.below(path)), stop)?;
    Ok(file)
}

#[cfg(test)]
mod tests;
