//! Tests of the providers over real HTTP: against the mock model server, and against answers that it would never give.
#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

mod conformance;
mod errors;
mod limits;
mod mock;
mod support;
