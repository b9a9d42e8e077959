//! A small pure simulator: a tree of runs, scripted answers, a virtual clock, crashes, permuted arrivals. No async.
//! Owns how tests drive the core; every appended record and every request passes the checkers in `check`.

pub(crate) mod check;
pub(crate) mod script;
pub(crate) mod sim;
pub(crate) mod team;

pub(crate) use script::{Answer, Asked, Script, Used, calls, delegates, fails, says, says_of, text};
pub(crate) use sim::{Crash, Plan, Sim};
pub(crate) use team::{agent, leads, team, to};
