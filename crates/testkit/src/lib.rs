//! Test support of Deputize: conformance suites of the ports, stores that break on purpose, samples, toys, and a stage to
//! run trees on. Never shipped, and owns nothing that a shipped crate needs.
#![expect(clippy::panic, reason = "a broken stage must stop its test at once, with the reason")]

pub mod fuzz;
pub mod group;
pub mod soak;
pub mod stage;
pub mod store;
pub mod toys;
pub mod valid;

pub use deputize_adapters::mock;
pub use deputize_adapters::provider::scripted;
pub use stage::{Stage, team};
pub use store::sample;
