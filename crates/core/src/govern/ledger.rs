//! The ledger of a run: caps, spend, reservations and counts. One `apply` serves the fold and, on a scratch copy, the
//! gate, so that admission and account cannot disagree.

use crate::budget::{Budget, Spend};
use crate::event::Event;
use crate::step::{Ask, Reserve};

/// The most that is kept back for a last synthesis, in tokens.
const CLOSING_MOST: u64 = 8_000;

/// What a run may use, has used and keeps back.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    /// The caps.
    pub cap: Budget,
    /// Used by finished attempts, children included.
    pub spent: Spend,
    /// Kept back for open steps.
    pub reserved: Reserve,
    /// Turns begun.
    pub turns: u64,
    /// Model calls begun.
    pub model_calls: u64,
    /// Tool calls begun.
    pub tool_calls: u64,
    /// Children begun.
    pub children: u64,
    /// Tokens that attempts used beyond their reservation: calls that were in flight.
    pub excess: u64,
}

impl Ledger {
    /// Accounts for an event; `held` is what the step of that event had reserved, `first` whether its label is new.
    pub fn apply(&mut self, event: &Event, held: Reserve, first: bool) {
        match event {
            Event::RunStarted(started) => {
                self.cap = started.brief.budget.value;
                self.spent.runs = 1;
            }
            Event::StepStarted(start) => {
                self.reserved.tokens = self.reserved.tokens.saturating_add(start.reserve.tokens);
                self.reserved.runs = self.reserved.runs.saturating_add(start.reserve.runs);
                self.count(&start.ask, start.label.as_turn().is_some(), first);
            }
            Event::StepSucceeded { spent, .. }
            | Event::StepFailed { spent, .. }
            | Event::StepRejected { spent, .. }
            | Event::StepInDoubt { presumed: spent, .. }
            | Event::StepInterrupted { presumed: spent, .. } => self.settle(spent, held),
            Event::ResultDiscarded { spent, .. } => self.settle(spent, Reserve::default()),
            _ => {}
        }
    }

    fn count(&mut self, ask: &Ask, turn: bool, first: bool) {
        match ask {
            Ask::Model { closing, .. } => {
                self.model_calls += 1;
                self.turns += u64::from(first && turn && !closing);
            }
            Ask::Tool { .. } => self.tool_calls += u64::from(first),
            Ask::Delegate { .. } => self.children += 1,
            Ask::Probe { .. } | Ask::Decide { .. } => {}
        }
    }

    fn settle(&mut self, spent: &Spend, held: Reserve) {
        self.reserved.tokens = self.reserved.tokens.saturating_sub(held.tokens);
        self.reserved.runs = self.reserved.runs.saturating_sub(held.runs);
        self.excess = self.excess.saturating_add(spent.usage.tokens().saturating_sub(held.tokens));
        self.spent.add(spent);
    }

    /// Tokens used and kept back. What a provider counts is data of any size, so nothing here may overflow.
    fn taken(&self) -> u64 {
        self.spent.usage.tokens().saturating_add(self.reserved.tokens)
    }
    /// By how many tokens what is used and kept back exceeds the cap: only calls that were in flight can bring it there.
    pub fn over(&self) -> u64 {
        self.taken().saturating_sub(self.cap.tokens)
    }
    /// Tokens kept back for a last synthesis: 10 % of the cap, at most 8,000.
    pub fn closing_reserve(&self) -> u64 {
        (self.cap.tokens / 10).min(CLOSING_MOST)
    }
    /// Tokens that are neither used, nor kept back for open steps, nor for the closing (unless this is the closing).
    pub fn left(&self, closing: bool) -> u64 {
        let keep = if closing { 0 } else { self.closing_reserve() };
        self.cap.tokens.saturating_sub(self.taken().saturating_add(keep))
    }
    /// Tokens that would be left to children if none were running.
    pub fn pool(&self) -> u64 {
        self.cap.tokens.saturating_sub(self.spent.usage.tokens().saturating_add(self.closing_reserve()))
    }
    /// Runs that would be left to children if none were running.
    pub fn runs_pool(&self) -> u64 {
        self.cap.runs.saturating_sub(self.spent.runs)
    }
    /// Runs of the subtree that are neither used nor kept back.
    pub fn runs_left(&self) -> u64 {
        self.cap.runs.saturating_sub(self.spent.runs.saturating_add(self.reserved.runs))
    }
    /// Whether something that is kept back may come back: then a want that does not fit is held, not denied.
    pub fn may_come_back(&self) -> bool {
        self.reserved.tokens > 0 || self.reserved.runs > 0
    }
}
