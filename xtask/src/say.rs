//! Lines to the terminal. A closed pipe is no reason to fail a chore, so write errors are dropped here and only here.

use std::fmt::Display;
use std::io::{self, Write as _};

/// One line on standard output.
pub(crate) fn line(text: impl Display) {
    let mut out = io::stdout().lock();
    drop(writeln!(out, "{text}"));
    drop(out.flush());
}

/// One line on standard error.
pub(crate) fn complaint(text: impl Display) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
