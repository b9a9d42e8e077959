//! Tests of the loader: the cases of agent files found in the wild, every key, whole teams, hostile input.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

mod beside;
mod cases;
mod dialects;
mod foreign;
mod guide;
mod hostile;
mod keys;
mod lint;
mod permissions;
mod providers;
mod schemas;
mod support;
mod teams;
