//! Deputize as a library: trees of agents that stop at the budget and survive kill -9.
//!
//! This facade is the public API: the core's data, the runtime's ports and driver, and the adapters that the binary uses.
//! An embedding program brings a [`runtime::World`] (its own model, tools, store, clock, ids, or the ones in
//! [`adapters`]), a [`core::definition::Team`] (by hand, or by [`adapters::loader`]), and calls [`runtime::start`].

pub use deputize_adapters as adapters;
pub use deputize_core as core;
pub use deputize_runtime as runtime;
