//! Puts new content in the place of a file in one step: a temporary file in the same folder, made durable, then renamed.
//! Whatever happens, the place holds the old content or the new, and a call that fails leaves no temporary file.

use super::beneath::{Facts, Kind, Place, step};
use super::entries::TEMPORARY;
use crate::tool::aside::Stop;
use deputize_core::digest;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchmod, fchown, fstat, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// How much of a digest names a temporary file: two writers never share 64 bits by chance.
const NAME: usize = 16;

/// Lets `fill` write the new content of a place that is a file or does not exist yet; folders above it are made.
/// `key` names the attempt: a repetition after a crash finds and removes what the crash left behind.
pub(in crate::tool) fn replace(
    place: &Place,
    key: &str,
    stop: &Stop,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let (old, rest) = match &place.kind {
        Kind::File(facts) => (Some(facts), &[][..]),
        Kind::Missing(rest) => (None, rest.as_slice()),
        Kind::Folder(_) | Kind::Special(_) => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let mut made = Made { folders: Vec::new(), kept: false };
    let names: Vec<&OsString> = [&place.name].into_iter().chain(rest).collect();
    let Some((name, above)) = names.split_last() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let folder = made.descend(&place.parent, above)?;
    let (temporary, mut file) = Temporary::create(&folder, name, key, old)?;
    fill(&mut file)?;
    if let Some(old) = old {
        inherit(&file, old)?;
    }
    file.sync_all()?;
    stop.check()?;
    temporary.rename(name)?;
    made.kept = true;
    let synced = sync(&folder);
    made.folders.iter().try_for_each(|(above, _)| sync(above)).and(synced)
}

/// Folders that were made for a new file; taken away again when the file does not come to be.
struct Made<'a> {
    /// Each with the folder it is in.
    folders: Vec<(Arc<OwnedFd>, &'a OsStr)>,
    kept: bool,
}

impl<'a> Made<'a> {
    fn descend(&mut self, parent: &Arc<OwnedFd>, names: &[&'a OsString]) -> io::Result<Arc<OwnedFd>> {
        let mut folder = Arc::clone(parent);
        for name in names {
            match mkdirat(&*folder, *name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) => self.folders.push((Arc::clone(&folder), name)),
                // Another writer made it meanwhile.
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            let next = step(&folder, name).map_err(|_| io::Error::from(io::ErrorKind::NotADirectory))?;
            folder = Arc::new(next);
        }
        Ok(folder)
    }
}

impl Drop for Made<'_> {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        for (folder, name) in self.folders.iter().rev() {
            // One that is not empty has meanwhile been used by somebody else and stays.
            let _ = unlinkat(&**folder, *name, AtFlags::REMOVEDIR);
        }
    }
}

/// A temporary file; taken away unless it was renamed.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: String,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    fn create(folder: &'a OwnedFd, target: &OsStr, key: &str, old: Option<&Facts>) -> io::Result<(Self, File)> {
        let hash = digest::of_bytes(&[key.as_bytes(), b"\0", target.as_bytes()].concat());
        let hash: String = hash.as_str().chars().take(NAME).collect();
        let name = format!("{TEMPORARY}{hash}");
        // Nobody may read more of it than of the file it replaces.
        let everybody = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        let mode = if old.is_some() { Mode::RUSR | Mode::WUSR } else { everybody };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = match openat(folder, &name, flags, mode) {
            Err(Errno::EXIST) => {
                unlinkat(folder, &name, AtFlags::empty())?;
                openat(folder, &name, flags, mode)?
            }
            opened => opened?,
        };
        Ok((Temporary { folder, name, renamed: false }, file.into()))
    }

    fn rename(mut self, target: &OsStr) -> io::Result<()> {
        renameat(self.folder, &self.name, self.folder, target)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Gives a new file the mode and, where that is possible, the owner of the file it replaces.
fn inherit(file: &File, old: &Facts) -> io::Result<()> {
    let now = fstat(file)?;
    let (user, group) = old.owner;
    if (now.st_uid, now.st_gid) != (user, group) {
        // Only the superuser may give files away; for everybody else the new file is the writer's own.
        let _ = fchown(file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
    }
    Ok(fchmod(file, old.mode)?)
}

/// Makes names in a folder durable, where the file system can.
fn sync(folder: &OwnedFd) -> io::Result<()> {
    let folder = openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    match fsync(&folder) {
        Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
        done => Ok(done?),
    }
}

#[cfg(test)]
mod tests;
