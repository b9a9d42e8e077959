//! The one error type of the chores: a sentence for the person at the keyboard.

use std::fmt;
use std::path::Path;

/// What a chore returns when it cannot do its work; finding something wrong in the code is no fault.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault(String);

/// The result of a chore.
pub(crate) type Result<T> = std::result::Result<T, Fault>;

impl Fault {
    /// A fault with its sentence.
    pub(crate) fn new(text: impl Into<String>) -> Fault {
        Fault(text.into())
    }

    /// A fault about a file.
    pub(crate) fn at(path: &Path, cause: impl fmt::Display) -> Fault {
        Fault(format!("{}: {cause}", path.display()))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
