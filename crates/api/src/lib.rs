//! The serde types of `--json` output and of the HTTP API, made from projections; and the same as text for people.
//! Owns shapes and words, not what is read (projections) and not how it is printed (the command line).

mod conversation;
mod docs;
pub mod doctor;
pub mod text;
mod time;
mod upkeep;
mod waiting;

pub use conversation::conversation;
pub use docs::*;
pub use time::rfc3339;
pub use upkeep::{BackupDoc, RemovedDoc};
pub use waiting::*;
