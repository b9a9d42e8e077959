//! The documents of `runs rm`, `runs prune` and `runs backup`.

use deputize_core::id::RunId;
use serde::Serialize;

/// `runs rm`, `runs prune`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RemovedDoc {
    /// See [`crate::SCHEMA`].
    pub schema: u32,
    /// Whether nothing was done: `removed` would go.
    pub dry_run: bool,
    /// The trees, by their root runs.
    pub removed: Vec<RunId>,
    /// Runs of all of them; 0 when nothing was done.
    pub runs: u64,
    /// Bytes by which the stores became smaller.
    pub bytes_freed: u64,
    /// Bytes that the stores have; 0 when nothing was done.
    pub bytes_left: u64,
}

/// `runs backup`.
#[derive(Clone, Debug, Serialize)]
pub struct BackupDoc {
    /// See [`crate::SCHEMA`].
    pub schema: u32,
    /// The copy.
    pub file: String,
    /// Its size.
    pub bytes: u64,
}
