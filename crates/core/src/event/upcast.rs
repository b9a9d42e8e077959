//! Records of a store into the present form. The form has one version so far; the step from an older one is a
//! JSON-to-JSON function here, before serde sees the closed enum.

use super::Recorded;

/// The form that this build writes.
pub const VERSION: u32 = 1;

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Not JSON, or not a record.
    #[error("the record is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// Written by a later version of the program.
    #[error("the record has form {0}, this build knows up to {VERSION}: use a newer deputize")]
    Newer(u64),
}

/// Reads a record of any version up to this build's.
///
/// # Errors
/// It is damaged, or newer than this build.
pub fn read(text: &str) -> Result<Recorded, Unreadable> {
    #[derive(serde::Deserialize)]
    struct Head {
        v: u64,
    }
    let head: Head = serde_json::from_str(text)?;
    if head.v > u64::from(VERSION) {
        return Err(Unreadable::Newer(head.v));
    }
    Ok(serde_json::from_str(text)?)
}
