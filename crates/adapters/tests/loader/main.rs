//! Tests of the loader: the cases of agent files found in the wild, every key, whole teams, hostile input.

mod cases;
mod foreign;
mod guide;
mod hostile;
mod keys;
mod providers;
mod support;
mod teams;
