//! The lock of a tree: at most one process drives it. Owns the lock files beside a store; the kernel frees a lock when
//! its process dies, whatever kills it. Does not own the epoch, which fences a driver that was only believed dead.

use deputize_core::digest;
use deputize_core::id::RunId;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The folder of lock files, inside the state folder.
const FOLDER: &str = "locks";
/// How often a lock is tried again that was only in the way of somebody who looked, or whose file was just removed.
/// Both pass within microseconds; the bound is for a file system that lies.
const ATTEMPTS: usize = 1_000;

/// The lock of one tree, held until it is dropped. Its file is removed then.
#[derive(Debug)]
pub struct TreeLock {
    path: PathBuf,
    /// Holds the lock for as long as it is open.
    _file: File,
}

impl TreeLock {
    /// Takes the lock of a tree; none when another process drives it. The file has mode 0600, its folder 0700.
    ///
    /// # Errors
    /// The file cannot be made or locked: a read-only or full disk, or a file system without locks.
    pub fn try_acquire(state_folder: &Path, root: &RunId) -> io::Result<Option<TreeLock>> {
        let path = place(state_folder, root);
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        for _ in 0..ATTEMPTS {
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path)?;
            match file.try_lock() {
                // The last holder may have removed the file after it was opened here: then this lock locks nothing.
                Ok(()) if is_at(&file, &path)? => return Ok(Some(TreeLock { path, _file: file })),
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if is_driven(&file)? => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
                Err(TryLockError::Error(e)) => return Err(e),
            }
        }
        Ok(None)
    }

    /// Whether a process drives the tree at this moment. Makes no file and disturbs nobody.
    ///
    /// # Errors
    /// The file is there and cannot be looked at.
    pub fn is_held(state_folder: &Path, root: &RunId) -> io::Result<bool> {
        match File::open(place(state_folder, root)) {
            Ok(file) => is_driven(&file),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
            Err(e) => Err(e),
        }
    }
}

impl Drop for TreeLock {
    fn drop(&mut self) {
        // Removed while it is locked, so that nobody else can have taken it. A file that stays does no harm.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Drivers lock alone; who only looks takes a shared lock for a moment, which is in nobody's way but a driver's, and that
/// one tries again.
fn is_driven(file: &File) -> io::Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(e)) => Err(e),
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(found) => Ok((held.dev(), held.ino()) == (found.dev(), found.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

/// Ids come from a store that anybody may have written: one that is no plain name gets one.
fn place(state_folder: &Path, root: &RunId) -> PathBuf {
    let id = root.as_str();
    let plain = !id.is_empty() && id.len() <= 64 && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let name = if plain { id.to_string() } else { digest::of_bytes(id.as_bytes()).to_string() };
    state_folder.join(FOLDER).join(format!("{name}.lock"))
}

#[cfg(test)]
mod tests;
