//! Trees on the virtual clock: order, isolation of faults, deadlines, retries, cancel, interrupt, crash and recovery.

mod crash;
mod faults;
mod order;
mod stop;
