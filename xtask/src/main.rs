//! The chores of this repository: `tidy`, `docs` and `verify`. Owns the command line of the chores; each chore is a module.

mod docs;
mod fault;
mod say;
mod shop;
mod tidy;
mod verify;

use crate::fault::{Fault, Result};
use crate::shop::Shop;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask verify          everything CI checks, in order, stopping at the first failure
cargo xtask tidy            the size, shape and architecture rules of CONTRIBUTING.md
cargo xtask docs            writes docs/reference from the code's own lists
cargo xtask docs --check    says whether docs/reference and docs/requirements.md are up to date";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(fault) => {
            say::complaint(format_args!("xtask: {fault}"));
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<bool> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["tidy"] => tidy::run(&Shop::here()?),
        ["verify"] => verify::run(&Shop::here()?),
        ["docs"] => docs::write(&Shop::here()?),
        ["docs", "--check"] => docs::check(&Shop::here()?),
        [] | ["help" | "--help" | "-h"] => {
            say::line(HELP);
            Ok(true)
        }
        other => Err(Fault::new(format!("no such chore: {}\n{HELP}", other.join(" ")))),
    }
}
