//! Programs: what patterns and compositions are. Straight-line code over labelled steps, pure, without state of its own.
//! A program knows nothing of retries, repairs, budgets, approvals or the log.

mod view;

pub use view::{Facts, Known, View, join};

use crate::answer::Answer;
use crate::code::Code;
use crate::id::Label;
use crate::step::{Ask, Outcome};
use crate::summary::Terminal;
use serde_json::Value;

/// What a program gives, or why it cannot go on yet. `?` carries the second up.
pub type Flow<T> = Result<T, Move>;

/// Why a program has no answer yet.
#[derive(Debug)]
pub enum Move {
    /// It wants these steps. A set: asking again for what is known is harmless; empty means that all are under way.
    Want(Vec<(Label, Ask)>),
    /// It ends without an answer.
    End(Box<End>),
}

/// An end without a full answer.
#[derive(Debug)]
pub struct End {
    /// How.
    pub terminal: Terminal,
    /// Why.
    pub code: Code,
    /// Why, in one sentence.
    pub why: String,
    /// What there is.
    pub payload: Value,
    /// Whether `payload` was synthesised at a limit or cut short.
    pub partial: bool,
    /// The cap that tripped.
    pub limit: Option<String>,
}

impl End {
    /// The run failed.
    pub fn failed<T>(code: Code, why: impl Into<String>, payload: Value) -> Flow<T> {
        let (terminal, why) = (Terminal::Failed, why.into());
        Err(Move::End(Box::new(End { terminal, code, why, payload, partial: false, limit: None })))
    }
    /// A cap of the run tripped; `payload` is what was made of what exists.
    pub fn capped<T>(cap: &Code, why: impl Into<String>, payload: Value) -> Flow<T> {
        let (terminal, code, why) = (Terminal::of_cap(cap), cap.clone(), why.into());
        let limit = cap.limit().map(str::to_string);
        Err(Move::End(Box::new(End { terminal, code, why, payload, partial: true, limit })))
    }
}

/// Why a step gave nothing.
pub(crate) fn reason(outcome: &Outcome) -> Option<(&Code, &str)> {
    match outcome {
        Outcome::Ok(_) => None,
        Outcome::Failed { code, why } => Some((code, why)),
        Outcome::Denied(refusal) => Some((&refusal.code, &refusal.why)),
    }
}

/// A pattern or a composition: a pure function of what is known.
pub trait Program: Sync {
    /// The answer, or what it wants next. Once it has answered, it answers the same at every later prefix of the log.
    ///
    /// # Errors
    /// A [`Move`]: steps that are missing, or an end.
    fn next(&self, view: &View<'_>) -> Flow<Answer>;
}
