//! Tests of the pure core over the simulator in `../common`: one module for each part of the contract.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "a test may stop at the first surprise"
)]

#[path = "../common/mod.rs"]
mod common;

mod answers;
mod brief;
mod caps;
mod compat;
mod context;
mod failures;
mod golden;
mod growth;
mod permissions;
mod properties;
mod reasoning;
mod tools;
mod trees;
