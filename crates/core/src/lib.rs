//! The pure core of Deputize. A run is a state machine over an append-only log: `run` folds events, `program`s say what
//! they want next, `govern` turns wants into started steps or refusals, `context` makes the bytes that a model sees.
//!
//! No async, no I/O, no clock, no randomness: everything comes in by commands and goes out as events.

pub mod answer;
pub mod brief;
pub mod budget;
pub mod code;
pub mod context;
pub mod definition;
pub mod depth;
pub mod digest;
pub mod event;
pub mod govern;
pub mod id;
pub mod message;
pub mod pattern;
pub mod policy;
pub mod program;
pub mod projection;
pub mod run;
pub mod schema;
pub mod step;
pub mod summary;
