//! Tests of the providers over real HTTP: against the mock model server, and against answers that it would never give.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop at the first surprise")]

mod conformance;
mod dialect;
mod errors;
mod fake;
mod limits;
mod local;
mod mock;
mod suite;
mod support;
mod ways;
mod whole;
