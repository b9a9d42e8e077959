//! A run: its folded state, what commands do to it, and what follows from the log alone.
//! Owns the life of a step; does not own what programs want (`program`), what is allowed (`govern`) or bytes (`context`).

mod account;
mod advance;
mod decide;
mod evolve;
mod fallback;
mod park;
mod state;

pub(crate) use account::call_order;
pub use advance::Next;
pub use decide::{Command, Delivery, stopped};
pub use park::is_parked;
pub use state::{Heard, Rejected, RunState, Status, Step};

#[cfg(test)]
mod tests;
