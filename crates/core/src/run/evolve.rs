//! The fold: what an event means for the state. Reads the event and nothing else (invariant 4); total, never fails.

use super::state::{Heard, Rejected, RunState, Status, Step};
use crate::brief::Mode;
use crate::budget::Spend;
use crate::code::{self, Code};
use crate::digest;
use crate::event::{Event, Recorded, Started, StepStart};
use crate::id::{Digest, Label};
use crate::step::{Ask, EffectClass, Outcome, Product, Refusal, Reserve, Then};
use crate::summary::Finding;
use std::sync::Arc;

impl RunState {
    /// The state after a whole log.
    pub fn fold<'a>(log: impl IntoIterator<Item = &'a Recorded>) -> RunState {
        let mut state = RunState::default();
        for record in log {
            state.evolve(record);
        }
        state
    }

    /// Takes one event in.
    pub fn evolve(&mut self, record: &Recorded) {
        self.latest = self.latest.max(record.at);
        if !record.event.is_derived() {
            self.now = self.now.max(record.at);
        }
        self.next_seq = record.seq + 1;
        let (held, first) = self.release(&record.event);
        let over = self.ledger.over();
        self.ledger.apply(&record.event, held, first);
        match &record.event {
            Event::RunStarted(started) => self.begin(started),
            Event::Recovered { idle } => self.resumed(*idle, record.seq),
            Event::Adopted { team, definition, .. } => self.adopted(&team.new, &definition.new),
            Event::StepStarted(start) => self.start(start, record),
            Event::StepPrepared { label, note, .. } => {
                if let Some(step) = self.steps.get_mut(label) {
                    step.note = Some(note.clone());
                }
            }
            Event::StepSucceeded { label, product, .. } => {
                self.done(label, Outcome::Ok(product.clone()), record.seq);
            }
            Event::StepFailed { label, code, why, then, spent, presumed, .. } => {
                if *presumed {
                    self.presume(label, spent);
                }
                self.failed(label, code, why, then.clone(), record.seq);
            }
            Event::StepRejected { label, product, code, why, then, .. } => {
                self.rejected(label, product, code, why, then.clone(), record.seq);
            }
            Event::StepDenied { label, ask, refusal } => self.denied(label, ask, refusal, record.seq),
            Event::StepInDoubt { label, then, presumed, .. } => {
                self.presume(label, presumed);
                self.doubted(label, then.clone(), record.seq);
            }
            Event::StepInterrupted { label, attempt, presumed } => {
                self.presume(label, presumed);
                self.interrupted(label, *attempt, record.seq);
            }
            Event::ResultDiscarded { label, attempt, .. } => self.discarded(label, *attempt),
            Event::MessageReceived { text, .. } => self.hear(text, record.seq),
            Event::Decided { label, what, why } => {
                let ask = Ask::Decide { what: what.clone(), why: why.clone() };
                self.entry(label, &Arc::new(ask));
                self.done(label, Outcome::Ok(Product::Noted), record.seq);
            }
            Event::Woke { now } => self.now = self.now.max(*now),
            Event::CancelRequested { by, limit } => {
                self.cancelled = Some(by.clone());
                self.overtaken.clone_from(limit);
            }
            Event::RunFinished { summary } => self.summary = Some(summary.clone()),
        }
        if over == 0 && self.ledger.over() > 0 {
            let (more, cap) = (self.ledger.over(), self.ledger.cap.tokens);
            let why =
                format!("a call used more than was kept back for it: the run is {more} tokens over its cap of {cap}");
            self.note(None, &code::SPEND_EXCESS, &why);
        }
    }

    /// What the event's step had reserved (given back by its outcome), and whether its label is new.
    fn release(&mut self, event: &Event) -> (Reserve, bool) {
        match event {
            Event::StepSucceeded { label, .. }
            | Event::StepFailed { label, .. }
            | Event::StepRejected { label, .. }
            | Event::StepInDoubt { label, .. }
            | Event::StepInterrupted { label, .. } => {
                let held = self.steps.get_mut(label).map(|s| std::mem::take(&mut s.reserve));
                (held.unwrap_or_default(), false)
            }
            Event::StepStarted(start) => (Reserve::default(), !self.steps.contains_key(&start.label)),
            _ => (Reserve::default(), false),
        }
    }

    fn begin(&mut self, started: &Started) {
        self.deadline = Some(self.now.plus(started.brief.budget.value.time));
        self.started = Some(Arc::new(started.clone()));
    }

    /// A pause counts neither against the deadline nor against the retries of what waits. What is parked without a moment
    /// waited for just this.
    fn resumed(&mut self, idle: u64, seq: u64) {
        self.deadline = self.deadline.map(|d| d.plus(idle));
        self.parked_since = self.parked_since.map(|since| since.plus(idle));
        for label in &self.waiting {
            if let Some(step) = self.steps.get_mut(label) {
                step.first_start = step.first_start.plus(idle);
            }
        }
        for (label, attempt) in self.parked_for_good() {
            self.set(&label, Status::Retry { attempt, not_before: self.now }, seq);
        }
    }

    /// A model step that would be made again under the same attempt, as the same request, gets a new one: its request may
    /// come out with other bytes now, and no provider may take it for the one before.
    fn adopted(&mut self, team: &Digest, definition: &Digest) {
        if let Some(started) = &mut self.started {
            let started = Arc::make_mut(started);
            started.team.clone_from(team);
            started.definition.clone_from(definition);
        }
        for label in &self.waiting {
            let Some(Step { ask, attempt: last, status, .. }) = self.steps.get_mut(label) else { continue };
            if let (Ask::Model { .. }, Status::Retry { attempt, .. } | Status::Parked { attempt, .. }) =
                (&**ask, status)
            {
                *attempt = (*attempt).max(*last + 1);
            }
        }
    }

    fn start(&mut self, start: &StepStart, record: &Recorded) {
        let seq = record.seq;
        if let Some(d) = &start.delegation {
            *self.spawned.entry(d.to.clone()).or_default() += 1;
        }
        let step = self.entry(&start.label, &start.ask);
        if step.attempt == 0 || step.anew {
            (step.first_start, step.anew) = (record.at, false);
        }
        step.attempt = start.attempt;
        step.reserve = start.reserve;
        step.effect = start.effect;
        step.started_seq = seq;
        step.model.clone_from(&start.model);
        step.max_output = start.max_output;
        step.room = start.room;
        step.digest.clone_from(&start.digest);
        step.delegation.clone_from(&start.delegation);
        self.set(&start.label, Status::Open, seq);
    }

    fn failed(&mut self, label: &Label, code: &Code, why: &str, then: Then, seq: u64) {
        if let Some(step) = self.steps.get_mut(label) {
            step.failures += 1;
        }
        let outcome = Outcome::Failed { code: code.clone(), why: why.to_string() };
        self.settle(label, then, outcome, seq);
    }

    fn rejected(&mut self, label: &Label, product: &Product, code: &Code, why: &str, then: Then, seq: u64) {
        self.note(Some(label), code, why);
        if let Some(step) = self.steps.get_mut(label) {
            step.rejections += 1;
            (step.failures, step.anew) = (0, true);
            step.rejected = Some(Rejected { product: product.clone(), why: why.to_string() });
        }
        let outcome = Outcome::Failed { code: code.clone(), why: why.to_string() };
        self.settle(label, then, outcome, seq);
    }

    fn denied(&mut self, label: &Label, ask: &Arc<Ask>, refusal: &Refusal, seq: u64) {
        self.note(Some(label), &refusal.code, &refusal.why);
        if refusal.code.is_cap() && self.tripped.is_none() {
            self.tripped = Some(refusal.code.clone());
        }
        if let (Ask::Delegate { arguments, .. }, Some(Mode::Rejected)) = (&**ask, refusal.mode) {
            *self.rejected_briefs.entry(digest::of(arguments)).or_default() += 1;
        }
        self.entry(label, ask);
        self.done(label, Outcome::Denied(refusal.clone()), seq);
    }

    fn doubted(&mut self, label: &Label, then: Then, seq: u64) {
        if let Some(step) = self.steps.get_mut(label) {
            step.doubts += 1;
            step.anew = true;
        }
        let why = "it was under way when its driver died, and nobody can know whether it was done".to_string();
        self.settle(label, then, Outcome::Failed { code: code::STEP_IN_DOUBT, why }, seq);
    }

    fn interrupted(&mut self, label: &Label, attempt: u32, seq: u64) {
        if let Some(step) = self.steps.get_mut(label) {
            step.anew = true;
        }
        self.set(label, Status::Retry { attempt, not_before: self.now }, seq);
    }

    fn presume(&mut self, label: &Label, spent: &Spend) {
        if let Some(step) = self.steps.get_mut(label) {
            step.presumed = spent.clone();
        }
    }

    /// What it used beyond the presumed is in the event; the presumed cannot be set against a second result.
    fn discarded(&mut self, label: &Label, attempt: u32) {
        let why = format!("what came of attempt {attempt} after it was given up is not used");
        self.note(Some(label), &code::RESULT_DISCARDED, &why);
        if let Some(step) = self.steps.get_mut(label) {
            step.presumed = Spend::default();
        }
    }

    fn hear(&mut self, text: &str, seq: u64) {
        self.heard.push(Heard { seq, text: text.to_string() });
        let last = Label::under("", &format!("t{}", self.turns.get("").copied().unwrap_or(0) + 1));
        self.count_answer(&last);
    }

    /// An answer during which something was said is not the last word: it counts as a turn, and another follows.
    fn count_answer(&mut self, label: &Label) {
        let (Some(turn), Some(step)) = (self.turn(label.as_str()), self.steps.get(label)) else { return };
        let unheard = self.heard.iter().any(|heard| heard.seq > step.started_seq);
        if unheard && turn.calls.is_empty() && label.as_turn().is_some_and(|(scope, _)| scope.is_empty()) {
            *self.turns.entry(String::new()).or_default() += 1;
        }
    }

    pub(super) fn note(&mut self, step: Option<&Label>, code: &Code, text: &str) {
        let Some(started) = &self.started else { return };
        let (scope, step) = (started.run.clone(), step.cloned());
        self.findings.push(Finding { scope, step, code: code.clone(), text: code::clip(text, code::SENTENCE) });
    }

    fn entry(&mut self, label: &Label, ask: &Arc<Ask>) -> &mut Step {
        let now = self.now;
        self.steps.entry(label.clone()).or_insert_with(|| Step {
            ask: ask.clone(),
            status: Status::Open,
            attempt: 0,
            effect: EffectClass::Effectful,
            reserve: Reserve::default(),
            doubts: 0,
            failures: 0,
            rejections: 0,
            rejected: None,
            first_start: now,
            started_seq: 0,
            done_seq: None,
            model: None,
            max_output: None,
            room: None,
            digest: None,
            delegation: None,
            note: None,
            presumed: Spend::default(),
            missing: 0,
            anew: false,
        })
    }

    fn settle(&mut self, label: &Label, then: Then, last: Outcome, seq: u64) {
        match then {
            Then::Retry { attempt, not_before } => self.set(label, Status::Retry { attempt, not_before }, seq),
            Then::Wait { attempt, until } => {
                self.new_series(label);
                self.parked_since = self.parked_since.or(Some(self.now));
                self.set(label, Status::Parked { attempt, until }, seq);
            }
            Then::Fallback { attempt, model } => {
                self.new_series(label);
                self.fall_back(label, &last, model);
                self.set(label, Status::Retry { attempt, not_before: self.now }, seq);
            }
            Then::Final => self.done(label, last, seq),
        }
    }

    fn done(&mut self, label: &Label, outcome: Outcome, seq: u64) {
        self.set(label, Status::Done(Arc::new(outcome)), seq);
        self.count_turn(label);
    }

    fn set(&mut self, label: &Label, status: Status, seq: u64) {
        self.open.remove(label);
        self.waiting.remove(label);
        match &status {
            Status::Open => self.open.insert(label.clone()),
            Status::Retry { .. } | Status::Parked { .. } => self.waiting.insert(label.clone()),
            Status::Done(_) => false,
        };
        if let Some(step) = self.steps.get_mut(label) {
            step.done_seq = matches!(status, Status::Done(_)).then_some(seq);
            step.status = status;
        }
        self.unpark();
    }

    /// Keeps `turns`, so that a loop of n turns does not look at n turns each time.
    fn count_turn(&mut self, label: &Label) {
        let calls = self.turn(label.as_str()).map_or(0, |t| t.calls.len());
        if let Some(step) = self.steps.get_mut(label) {
            step.missing = calls;
        }
        self.count_answer(label);
        let Some((turn, _)) = label.as_call() else { return };
        let whole = self.steps.get_mut(turn).is_some_and(|step| {
            step.missing = step.missing.saturating_sub(1);
            step.missing == 0
        });
        let scope = Label::parse(turn).ok().and_then(|l| l.as_turn().map(|(scope, _)| scope.to_string()));
        if let (true, Some(scope)) = (whole, scope) {
            *self.turns.entry(scope).or_default() += 1;
        }
    }
}
