//! The folded state of a run: what is known of each step, what is open, what waits, what has been used.

use crate::budget::Spend;
use crate::code::Code;
use crate::event::Started;
use crate::govern::Ledger;
use crate::id::{AgentName, Digest, Label, ModelName, Time};
use crate::message::Turn;
use crate::program::{Facts, Known};
use crate::step::{Ask, Delegation, EffectClass, Note, Outcome, Product, Reserve};
use crate::summary::{Finding, Summary};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where a step stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Started, no outcome yet.
    Open,
    /// To be tried again.
    Retry {
        /// The next attempt's number.
        attempt: u32,
        /// Not before this moment.
        not_before: Time,
    },
    /// To be tried again, but not soon: see [`crate::step::Then::Wait`].
    Parked {
        /// The next attempt's number.
        attempt: u32,
        /// Not before this moment; none: when somebody takes the run up.
        until: Option<Time>,
    },
    /// Finally done, failed or denied.
    Done(Arc<Outcome>),
}

/// An answer that broke the contract, for the repair request and for a failed run's payload.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// What was given.
    pub product: Product,
    /// What is wrong with it.
    pub why: String,
}

/// Something that was said to the run.
#[derive(Clone, Debug)]
pub struct Heard {
    /// `seq` of its event.
    pub seq: u64,
    /// What.
    pub text: String,
}

/// What is known of one step.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was asked.
    pub ask: Arc<Ask>,
    /// Where it stands.
    pub status: Status,
    /// The number of the newest attempt.
    pub attempt: u32,
    /// What doing the newest attempt twice may do, as it was recorded.
    pub effect: EffectClass,
    /// What is kept back for it now.
    pub reserve: Reserve,
    /// Times it was under way at a crash.
    pub doubts: u32,
    /// Known failures.
    pub failures: u32,
    /// Answers that broke the contract.
    pub rejections: u32,
    /// The newest of these.
    pub rejected: Option<Rejected>,
    /// When the first attempt of the present series started: a doubt, an interrupt or a broken contract begins a
    /// new one.
    pub first_start: Time,
    /// `seq` of its newest start.
    pub started_seq: u64,
    /// `seq` of its final outcome.
    pub done_seq: Option<u64>,
    /// The model of the newest attempt, where it is a fallback.
    pub model: Option<ModelName>,
    /// Output limit of the newest attempt.
    pub max_output: Option<u64>,
    /// Room of the newest attempt's input, if it was bounded.
    pub room: Option<u64>,
    /// Digest of the request of the newest attempt.
    pub digest: Option<Digest>,
    /// What the child starts from.
    pub delegation: Option<Arc<Delegation>>,
    /// What the tool noted before its effect.
    pub note: Option<Note>,
    /// What was booked for attempts of which nobody knows what they used.
    pub(super) presumed: Spend,
    /// Calls of this turn without an outcome.
    pub(super) missing: usize,
    /// The next attempt begins a new series.
    pub(super) anew: bool,
}

/// The state of a run: a fold of its log and of nothing else.
#[derive(Clone, Debug, Default)]
pub struct RunState {
    pub(super) started: Option<Arc<Started>>,
    pub(super) steps: BTreeMap<Label, Step>,
    pub(super) open: BTreeSet<Label>,
    pub(super) waiting: BTreeSet<Label>,
    pub(super) turns: BTreeMap<String, u64>,
    pub(super) ledger: Ledger,
    pub(super) findings: Vec<Finding>,
    pub(super) cancelled: Option<String>,
    /// The cap of a run above it that ended it.
    pub(super) overtaken: Option<Code>,
    pub(super) heard: Vec<Heard>,
    pub(super) tripped: Option<Code>,
    pub(super) rejected_briefs: BTreeMap<Digest, u32>,
    pub(super) spawned: BTreeMap<AgentName, u64>,
    pub(super) summary: Option<Arc<Summary>>,
    pub(super) deadline: Option<Time>,
    /// The fallback that the run has come to.
    pub(super) model: Option<ModelName>,
    /// Since when a step is parked: until it goes on, the clock of the run stands.
    pub(super) parked_since: Option<Time>,
    pub(super) now: Time,
    pub(super) latest: Time,
    pub(super) next_seq: u64,
}

impl RunState {
    /// What the run started from; none for an empty log.
    pub fn started(&self) -> Option<&Arc<Started>> {
        self.started.as_ref()
    }
    /// One step.
    pub fn step(&self, label: &Label) -> Option<&Step> {
        self.steps.get(label)
    }
    /// All steps by label.
    pub fn steps(&self) -> impl Iterator<Item = (&Label, &Step)> {
        self.steps.iter()
    }
    /// Steps that are started and have no outcome, in order of their start.
    pub fn open(&self) -> Vec<&Label> {
        let mut open: Vec<&Label> = self.open.iter().collect();
        open.sort_by_key(|l| self.steps.get(*l).map_or(0, |s| s.started_seq));
        open
    }
    /// Steps that wait for a moment.
    pub fn waiting(&self) -> &BTreeSet<Label> {
        &self.waiting
    }
    /// The account.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    /// The findings so far.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
    /// Who cancelled it.
    pub fn cancelled(&self) -> Option<&str> {
        self.cancelled.as_deref()
    }
    /// Whether it ends because its time, or that of a run above it, is up.
    pub fn expired(&self) -> bool {
        self.overtaken.is_some() || (self.cancelled.is_none() && self.out_of_time())
    }
    /// What was said to it, in order.
    pub fn heard(&self) -> &[Heard] {
        &self.heard
    }
    /// The cap that tripped first.
    pub fn tripped(&self) -> Option<&Code> {
        self.tripped.as_ref()
    }
    /// How often this very brief was rejected.
    pub fn rejections_of(&self, brief: &Digest) -> u32 {
        self.rejected_briefs.get(brief).copied().unwrap_or(0)
    }
    /// How many children of this name it has started.
    pub fn spawned(&self, agent: &AgentName) -> u64 {
        self.spawned.get(agent).copied().unwrap_or(0)
    }
    /// Its account, once it is over.
    pub fn summary(&self) -> Option<&Arc<Summary>> {
        self.summary.as_ref()
    }
    /// When its time is up.
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
    /// The newest moment that an input brought. Derived events do not move it: what follows from the log is the same
    /// however long the appends take.
    pub fn now(&self) -> Time {
        self.now
    }
    /// The moment of the newest event, derived ones included.
    pub fn latest(&self) -> Time {
        self.latest
    }
    /// The length of the log.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }
    /// The final outcome of a step.
    pub fn outcome(&self, label: &str) -> Option<&Outcome> {
        match &self.steps.get(label)?.status {
            Status::Done(outcome) => Some(outcome),
            _ => None,
        }
    }
    /// The turn that a model step gave.
    pub fn turn(&self, label: &str) -> Option<&Turn> {
        match self.outcome(label)? {
            Outcome::Ok(Product::Turn(turn)) => Some(turn),
            _ => None,
        }
    }
    /// The earliest moment at which something follows by itself: a retry that is due, or the deadline.
    pub fn wake_at(&self) -> Option<Time> {
        if self.summary.is_some() {
            return None;
        }
        let due = |l: &Label| match self.steps.get(l)?.status {
            Status::Retry { not_before: at, .. } | Status::Parked { until: Some(at), .. } => Some(at),
            _ => None,
        };
        let due = |l: &Label| due(l).filter(|at| *at > self.now);
        let deadline = self.deadline.filter(|d| *d > self.now && self.parked_since.is_none());
        self.waiting.iter().filter_map(due).chain(deadline).min()
    }
    /// Whether the time is up. While the run is parked, its clock stands.
    pub fn out_of_time(&self) -> bool {
        self.parked_since.is_none() && self.deadline.is_some_and(|d| self.now >= d)
    }
}

impl Facts for RunState {
    fn find(&self, label: &Label) -> Known<'_> {
        match self.steps.get(label) {
            None => Known::Unknown,
            Some(step) => match &step.status {
                Status::Done(outcome) => Known::Done { ask: &step.ask, outcome },
                _ => Known::Pending { ask: &step.ask },
            },
        }
    }
    fn turns(&self, scope: &str) -> u64 {
        self.turns.get(scope).copied().unwrap_or(0)
    }
    fn rejected(&self, label: &Label) -> Option<&Product> {
        self.steps.get(label)?.rejected.as_ref().map(|r| &r.product)
    }
}
