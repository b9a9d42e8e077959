//! Patterns: how one agent works. One list; help, schema and docs derive from it.

mod react;

use crate::program::Program;

/// A pattern as people see it.
pub struct Listed {
    /// Its name in agent files.
    pub name: &'static str,
    /// One sentence.
    pub about: &'static str,
    /// The program.
    pub program: &'static dyn Program,
}

/// Every pattern of this build.
pub static ALL: &[Listed] = &[Listed {
    name: "react",
    about: "Think, act, observe, until an answer without calls. With agents to delegate to it is the supervisor.",
    program: &react::React,
}];

/// The program of this name.
pub fn find(name: &str) -> Option<&'static dyn Program> {
    ALL.iter().find(|p| p.name == name).map(|p| p.program)
}
