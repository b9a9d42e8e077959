//! Projections: what people and machines read out of logs. They read events and folded states, never write, and nothing
//! in `run` knows of them.

mod decisions;
mod delegations;
mod steps;
mod tree;
mod waiting;

pub use decisions::{Decided, Decision, decisions};
pub use delegations::{DelegationRow, delegations, line};
pub use steps::{StepRow, steps};
pub use tree::{RunView, Tree};
pub use waiting::{WaitRow, waiting, waits};
