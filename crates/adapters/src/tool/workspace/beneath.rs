//! Finds a path beneath the workspace's own handle, one name at a time, without ever letting the system follow a link:
//! links are read and walked here, so that the real path is known and belongs to the very handle that is then used. A
//! name that is swapped in between cannot lead anywhere else. Owns no permission rule.

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path};
use std::sync::Arc;

/// As many links as Linux follows in one path; more is taken for a circle.
const MAX_LINKS: u32 = 40;

/// A folder on the way needs no permission to be listed, where the system can tell.
#[cfg(target_os = "linux")]
const STEP: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const STEP: OFlags = OFlags::RDONLY;

/// What is known of a file without opening it.
#[derive(Clone, Copy, Debug)]
pub(in crate::tool) struct Facts {
    /// Length in bytes.
    pub(in crate::tool) len: u64,
    /// Permission bits, without those that change the user at a start.
    pub(in crate::tool) mode: Mode,
    /// Owner and group.
    pub(in crate::tool) owner: (u32, u32),
    /// It has further names: hard links.
    pub(in crate::tool) shared: bool,
}

/// What stands at a place.
#[derive(Clone, Debug)]
pub(in crate::tool) enum Kind {
    /// A folder, with its handle.
    Folder(Arc<OwnedFd>),
    /// A regular file.
    File(Facts),
    /// Something whose opening may block or do harm.
    Special(&'static str),
    /// Nothing; the names after the first that is missing.
    Missing(Vec<OsString>),
}

/// Where a path leads: links are resolved, except that `parent` and `name` may since have been changed by others.
#[derive(Clone, Debug)]
pub(in crate::tool) struct Place {
    /// The folder it is in; of a missing place the deepest that exists.
    pub(in crate::tool) parent: Arc<OwnedFd>,
    /// Its name there; of a missing place the first that is missing.
    pub(in crate::tool) name: OsString,
    /// Its real path from the workspace down.
    pub(in crate::tool) real: Vec<OsString>,
    /// What stands there.
    pub(in crate::tool) kind: Kind,
}

/// Why a path leads nowhere.
#[derive(Debug)]
pub(in crate::tool) enum Lost {
    /// A link leads out of the workspace.
    Outside,
    /// Links lead in a circle.
    Circle,
    /// A link leads to nothing.
    Dangling,
    /// Something on the way is no folder.
    NoFolder,
    /// Somebody changed the place between two looks.
    Changed,
    /// The system says no.
    System(Errno),
}

impl Place {
    /// Opens the regular file that stands here. Never blocks, never follows a link.
    pub(in crate::tool) fn open(&self) -> Result<File, Lost> {
        open(&self.parent, &self.name)
    }
    /// Whether the system lets this process change the file that stands here.
    pub(in crate::tool) fn try_write(&self) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        openat(&*self.parent, &self.name, flags, Mode::empty()).map(drop).map_err(io::Error::from)
    }
}

/// Opens a regular file by its name in a folder. Never blocks, never follows a link.
pub(super) fn open(folder: &OwnedFd, name: &OsStr) -> Result<File, Lost> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(folder, name, flags, Mode::empty()).map_err(lost)?);
    let regular = file.metadata().is_ok_and(|facts| facts.is_file());
    if regular { Ok(file) } else { Err(Lost::Changed) }
}

/// Opens a folder by its name in another one, unless it is a link.
pub(super) fn step(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Lost> {
    let flags = STEP | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty()).map_err(lost)
}

/// The length of a file by its name in a folder.
pub(in crate::tool) fn len(folder: &OwnedFd, name: &OsStr) -> Option<u64> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    u64::try_from(stat.st_size).ok()
}

fn lost(error: Errno) -> Lost {
    match error {
        Errno::LOOP | Errno::NOTDIR | Errno::NOENT | Errno::NXIO => Lost::Changed,
        other => Lost::System(other),
    }
}

/// Finds a path; `roots` are the absolute forms of the workspace, for links with an absolute target.
pub(super) fn find(root: &Arc<OwnedFd>, roots: &[&Path], path: impl Iterator<Item = OsString>) -> Result<Place, Lost> {
    let pending = path.map(|name| Part::Name { name, linked: false }).collect();
    let mut walk = Walk { root, roots, above: Vec::new(), pending, links: 0 };
    while let Some(part) = walk.pending.pop_front() {
        match part {
            Part::Top => walk.above.clear(),
            Part::Up => drop(walk.above.pop().ok_or(Lost::Outside)?),
            Part::Name { name, linked } => {
                if let Some(place) = walk.enter(name, linked)? {
                    return Ok(place);
                }
            }
        }
    }
    Ok(walk.folder())
}

enum Part {
    /// A name; `linked`: it comes from the target of a link.
    Name { name: OsString, linked: bool },
    /// `..` in the target of a link.
    Up,
    /// The target of a link starts at the workspace.
    Top,
}

struct Walk<'a> {
    root: &'a Arc<OwnedFd>,
    roots: &'a [&'a Path],
    /// The folders from the workspace down to here.
    above: Vec<(OsString, Arc<OwnedFd>)>,
    pending: VecDeque<Part>,
    links: u32,
}

impl Walk<'_> {
    fn here(&self) -> Arc<OwnedFd> {
        Arc::clone(self.above.last().map_or(self.root, |(_, folder)| folder))
    }

    fn real(&self, name: Option<&OsString>) -> Vec<OsString> {
        self.above.iter().map(|(name, _)| name).chain(name).cloned().collect()
    }

    /// Goes on by one name; gives the place when the path ends here.
    fn enter(&mut self, name: OsString, linked: bool) -> Result<Option<Place>, Lost> {
        let parent = self.here();
        let stat = match statat(&*parent, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return self.missing(name, linked).map(Some),
            Err(error) => return Err(Lost::System(error)),
            Ok(stat) => stat,
        };
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let folder = step(&parent, &name)?;
                self.above.push((name, Arc::new(folder)));
                return Ok(None);
            }
            FileType::Symlink => return self.follow(&name).map(|()| None),
            _ if !self.pending.is_empty() => return Err(Lost::NoFolder),
            FileType::RegularFile => Kind::File(facts(&stat)),
            other => Kind::Special(special(other)),
        };
        Ok(Some(Place { real: self.real(Some(&name)), parent, name, kind }))
    }

    fn missing(&self, name: OsString, linked: bool) -> Result<Place, Lost> {
        if linked {
            return Err(Lost::Dangling);
        }
        // Parts of a link's target stand before those of the path, so only names of the path are left.
        let rest = self.pending.iter().filter_map(|part| match part {
            Part::Name { name, .. } => Some(name.clone()),
            Part::Up | Part::Top => None,
        });
        let rest: Vec<OsString> = rest.collect();
        let mut real = self.real(Some(&name));
        real.extend_from_slice(&rest);
        Ok(Place { parent: self.here(), name, real, kind: Kind::Missing(rest) })
    }

    /// Puts the target of a link in front of what is left of the path.
    fn follow(&mut self, name: &OsStr) -> Result<(), Lost> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Lost::Circle);
        }
        let target = readlinkat(&*self.here(), name, Vec::new()).map_err(|_| Lost::Changed)?;
        let target = OsString::from_vec(target.into_bytes());
        let target = Path::new(&target);
        let below = match self.roots.iter().find_map(|root| target.strip_prefix(root).ok()) {
            None if target.has_root() => return Err(Lost::Outside),
            None => target,
            Some(below) => below,
        };
        let parts = below.components().filter_map(|part| match part {
            Component::Normal(name) => Some(Part::Name { name: name.to_os_string(), linked: true }),
            Component::ParentDir => Some(Part::Up),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        });
        let top = target.has_root().then_some(Part::Top);
        for part in top.into_iter().chain(parts).collect::<Vec<_>>().into_iter().rev() {
            self.pending.push_front(part);
        }
        Ok(())
    }

    /// The place when the path ends in a folder.
    fn folder(mut self) -> Place {
        let real = self.real(None);
        let Some((name, folder)) = self.above.pop() else {
            let root = Arc::clone(self.root);
            return Place { parent: Arc::clone(&root), name: ".".into(), real, kind: Kind::Folder(root) };
        };
        Place { parent: self.here(), name, real, kind: Kind::Folder(folder) }
    }
}

/// What a stat says of a regular file.
pub(super) fn facts(stat: &Stat) -> Facts {
    Facts {
        len: u64::try_from(stat.st_size).unwrap_or(0),
        mode: Mode::from_raw_mode(stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO),
        owner: (stat.st_uid, stat.st_gid),
        shared: shared(stat),
    }
}

/// Whether a file has further names.
pub(super) fn shared(stat: &Stat) -> bool {
    stat.st_nlink > 1
}

/// The word for something that is neither file nor folder nor link.
pub(super) fn special(kind: FileType) -> &'static str {
    match kind {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "no regular file",
    }
}

impl Facts {
    /// Whether anybody may write it at all; the superuser could, but a person has said no.
    pub(in crate::tool) fn writable(&self) -> bool {
        self.mode.intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH)
    }
}
