//! Test support around stores: the conformance suite that every store passes, stores that break on purpose, and the
//! smallest valid events. Owns no store of its own.

mod conformance;
mod crash;
mod full;
pub mod sample;

pub use conformance::{conformance, take_signals};
pub use crash::{CrashStore, Cut};
pub use full::FullDisk;
