//! Trees on the virtual clock: order, isolation of faults, deadlines, retries, cancel, interrupt, crash and recovery.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod adopt;
mod crash;
mod fallback;
mod faults;
mod faults_late;
mod faults_messages;
mod faults_stop;
mod faults_tree;
mod follow;
mod order;
mod ports;
mod stop;
mod support;
mod waiting;
