//! What can go wrong with a scripted answer: one list, from which the form of scripts, the in-process failures and the
//! mock server's answers derive.

use deputize_core::code::{self, Code};
use deputize_core::step::{Failure, Retry};
use std::time::Duration;

macro_rules! faults {
    ($($name:ident = $text:literal, $meaning:literal;)*) => {
        /// What goes wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault { $(#[doc = $meaning] $name,)* }

        impl Fault {
            /// Every fault, in the order of the guide.
            pub const ALL: &[Fault] = &[$(Fault::$name,)*];
            /// Its name in scripts.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$name => $text,)* }
            }
            /// What happens, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self { $(Fault::$name => $meaning,)* }
            }
        }
    };
}

faults! {
    Overloaded = "overloaded", "The provider is overloaded (HTTP 529).";
    ServerError = "server_error", "The provider has a fault of its own (HTTP 500).";
    RateLimited = "rate_limited", "The provider asks to slow down (HTTP 429), for `retry_after` if that is given.";
    Unavailable = "unavailable", "The provider cannot be reached; over HTTP the connection breaks before an answer.";
    Auth = "auth", "The provider refuses the credential (HTTP 401).";
    NotFound = "not_found", "The provider has no such model (HTTP 404).";
    ContextFull = "context_full", "The conversation is longer than the model's context window (HTTP 400).";
    Timeout = "timeout", "No answer in time: an error at once in process, silence over HTTP.";
    Cut = "cut", "The answer breaks off in its middle.";
    Malformed = "malformed", "The answer is no readable JSON.";
    Refusal = "refusal", "The model declines; `text` is what it says.";
    Empty = "empty", "The model answers with nothing at all.";
    Length = "length", "The output limit cuts `text` off at its half.";
    Stall = "stall", "The answer begins and never goes on.";
    Hang = "hang", "There is never an answer.";
    Panic = "panic", "The adapter breaks down; over HTTP the same as `server_error`.";
}

impl Fault {
    /// The fault of this name.
    pub(crate) fn named(name: &str) -> Option<Fault> {
        Fault::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// What a caller in the same process is told, for faults that are failures.
    pub(crate) fn failure(self, retry_after: Option<Duration>) -> Option<Failure> {
        let after = retry_after.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        let again = Retry::After(after);
        let (code, retry): (Code, Retry) = match self {
            Fault::Overloaded | Fault::ServerError => (code::MODEL_OVERLOADED, again),
            Fault::RateLimited => (code::MODEL_RATE_LIMITED, again),
            Fault::Unavailable => (code::MODEL_UNAVAILABLE, again),
            Fault::Auth => (code::MODEL_AUTH, Retry::Never),
            Fault::NotFound => (code::MODEL_NOT_FOUND, Retry::Never),
            Fault::ContextFull => (code::CONTEXT_FULL, Retry::Never),
            Fault::Timeout => (code::MODEL_TIMEOUT, Retry::Ambiguous),
            Fault::Cut => (code::MODEL_CUT, again),
            Fault::Malformed => (code::MODEL_MALFORMED, again),
            Fault::Refusal | Fault::Empty | Fault::Length | Fault::Stall | Fault::Hang | Fault::Panic => return None,
        };
        Some(Failure { code, why: format!("scripted fault `{}`: {}", self.name(), self.meaning()), retry })
    }
}
