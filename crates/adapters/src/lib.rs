//! The adapters: implementations of the runtime's ports, and the loader of definition files. Families never import one
//! another; what two of them need stands in a module of its own.

pub mod ids;
pub mod loader;
pub mod mock;
pub mod provider;
pub mod store;
pub mod tool;
pub mod yaml;
