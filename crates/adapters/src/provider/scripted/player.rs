//! Plays a script: finds lines and keeps the books on which were played. Shared by the scripted provider and the mock server.

use super::fault::Fault;
use super::script::{Line, LineId, NoLine, Script};
use deputize_core::id::AgentPath;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A script and what was played of it in this process.
#[derive(Debug, Default)]
pub(crate) struct Player {
    script: Script,
    books: Mutex<Books>,
}

#[derive(Debug, Default)]
struct Books {
    played: BTreeSet<LineId>,
    /// Time-outs so far by idempotency key.
    timeouts: BTreeMap<String, u32>,
}

/// A line and what goes wrong with it this time.
#[derive(Clone, Debug)]
pub(crate) struct Played {
    pub(crate) line: Line,
    pub(crate) fault: Option<Fault>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Player {
        Player { script, books: Mutex::default() }
    }

    /// The line for a step, chosen by its label and attempt alone.
    ///
    /// One thing is remembered: a call that timed out is made again under the same key, so `times` of a `timeout` counts
    /// those too. A new process counts them anew, which costs a time-out and changes no answer.
    pub(crate) fn play(&self, key: &str, path: &AgentPath, label: &str, attempt: u32) -> Result<Played, NoLine> {
        let (id, line) = self.script.find(path, label, attempt)?;
        let mut books = self.books();
        let before = books.timeouts.get(key).copied().unwrap_or_default();
        let fault = line.fault_at(attempt.saturating_add(before));
        if fault == Some(Fault::Timeout) {
            books.timeouts.insert(key.to_string(), before.saturating_add(1));
        }
        books.played.insert(id);
        Ok(Played { line: line.clone(), fault })
    }

    /// Lines that were never played, each with file, line and step. `rest` lines are never missed.
    pub(crate) fn leftovers(&self) -> Vec<String> {
        let books = self.books();
        self.script.lines().into_iter().filter(|(id, _)| !books.played.contains(id)).map(|(_, name)| name).collect()
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
