//! Test support of Deputize: conformance suites of the ports, stores that break on purpose, samples. Never shipped, and
//! owns nothing that a shipped crate needs.

pub mod store;

pub use store::sample;
