//! The gate: contract, policy, budget. It alone turns wanted steps into started ones, refusals, or a hold (invariant 4).
//! Pure: what needs the world to decide is a step whose outcome the gate reads, never code in here.

mod admit;
mod completion;
mod contract;
mod ledger;
mod paths;
mod root;
mod route;
mod success;
mod written;

pub use admit::admit;
pub(crate) use completion::may_delegate;
pub use contract::{finding, prompt_cut};
pub use ledger::Ledger;
pub use root::root_brief;
pub(crate) use success::{judge, words};
pub(crate) use written::{Field, Shape, offered, required};
