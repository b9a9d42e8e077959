//! Exit codes. Owns the numbers and what they mean; the reference page is made from the same list.

use deputize_core::summary::Terminal;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked; for a run: it succeeded.
    Good,
    /// Nothing was started: not found, invalid definitions, no model, no store.
    Refused,
    /// The command line was not understood.
    Usage,
    /// The run ended in another state than succeeded or failed: at a cap, say.
    Short,
    /// The run failed.
    Failed,
    /// The run waits for a person or a moment.
    Waiting,
    /// The run was interrupted or cancelled.
    Interrupted,
}

impl Exit {
    /// All of them, with what they mean.
    pub(crate) const ALL: [(Exit, &'static str); 7] = [
        (Exit::Good, "Done. For a run: `succeeded`."),
        (Exit::Refused, "Not started: invalid definitions, unknown run, no model, store not usable."),
        (Exit::Usage, "The command line was not understood."),
        (Exit::Short, "The run ended, but neither `succeeded` nor `failed`: at a cap, or with its condition unmet."),
        (Exit::Failed, "The run ended as `failed`."),
        (Exit::Waiting, "The run waits: for a moment that its provider named, or to be resumed."),
        (Exit::Interrupted, "The run was interrupted (it can be resumed) or cancelled."),
    ];

    /// The exit code of a run that is over.
    pub(crate) fn of(status: Terminal) -> Exit {
        match status {
            Terminal::Succeeded => Exit::Good,
            Terminal::Failed => Exit::Failed,
            Terminal::Cancelled => Exit::Interrupted,
            _ => Exit::Short,
        }
    }
    /// Its number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::Refused => 1,
            Exit::Usage => 2,
            Exit::Short => 3,
            Exit::Failed => 4,
            Exit::Waiting => 5,
            Exit::Interrupted => 130,
        }
    }
    /// For `main`.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
}
