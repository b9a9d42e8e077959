//! Messages about definitions: a stable code, a level, a sentence, a hint and a place.

use super::node::Place;
use serde::{Deserialize, Serialize};

/// How serious a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing loads with it.
    Error,
    /// It loads, and something may not be as meant.
    Warning,
    /// A choice that was made.
    Info,
}

/// A message about a file, or about no place at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// How serious.
    pub level: Level,
    /// `area.what`.
    pub code: String,
    /// What is wrong, with the names in it.
    pub text: String,
    /// What to write instead, if that can be said.
    pub hint: Option<String>,
    /// The file, relative to the current folder, with `/`.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
    /// Column from 1, in characters.
    pub column: Option<u32>,
}

impl Message {
    /// A message about no place.
    pub fn new(level: Level, code: &str, text: impl Into<String>) -> Message {
        let (code, text) = (code.to_string(), text.into());
        Message { level, code, text, hint: None, file: None, line: None, column: None }
    }
    /// With what to write instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Message {
        self.hint = Some(hint.into());
        self
    }
    /// In a file.
    #[must_use]
    pub fn file(mut self, file: impl Into<String>) -> Message {
        self.file = Some(file.into());
        self
    }
    /// At a place of that file.
    #[must_use]
    pub fn at(mut self, place: Place) -> Message {
        (self.line, self.column) = (Some(place.line), Some(place.column));
        self
    }
}
