//! The file tools through the port that the driver uses.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod bench;
mod editing;
mod finding;
mod paths;
mod permissions;
mod reading;
mod registry;
mod safety;
mod writing;
