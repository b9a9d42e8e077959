//! The real binary from outside: what it prints, what it exits with, what survives.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod adopt;
mod check;
mod common;
mod doctor;
mod errors;
mod manners;
mod models;
mod past;
mod permissions;
mod run;
mod secrets;
mod survive;
mod two;
mod upkeep;
mod waiting;
mod watch;
