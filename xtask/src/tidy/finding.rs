//! What a rule reports: one thing wrong at one place.

use std::fmt;

/// One thing wrong at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Path from the root of the repository.
    pub(crate) file: String,
    /// Line, from 1.
    pub(crate) line: usize,
    /// The rule's name, as exceptions name it.
    pub(crate) rule: &'static str,
    /// The function, path or word that the finding is about, as exceptions name it.
    pub(crate) item: String,
    /// For rules with a limit: what was measured.
    pub(crate) measure: Option<usize>,
    /// What is wrong and what to do.
    pub(crate) text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { file, line, rule, text, .. } = self;
        write!(f, "{file}:{line}: {rule}: {text}")
    }
}
