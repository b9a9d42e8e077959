//! `completions`: what a shell needs to complete commands and flags, made from the command line's own definition.

use crate::args::{self, CompletionsArgs};
use crate::exit::Exit;
use crate::out::Out;

/// Prints them.
pub(crate) fn execute(args: &CompletionsArgs, out: &Out) -> Exit {
    let mut bytes = Vec::new();
    clap_complete::generate(args.shell, &mut args::command(true), "deputize", &mut bytes);
    out.program_text(&String::from_utf8_lossy(&bytes));
    Exit::Good
}
