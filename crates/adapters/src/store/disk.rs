//! The disk that a store lies on.

use std::path::Path;

/// Bytes that are free for this user at a folder; none when the system does not tell.
pub fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}
