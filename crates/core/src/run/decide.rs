//! Commands: what the world tells a run, turned into events. A command that no longer applies yields nothing.

use super::state::{RunState, Status, Step};
use crate::answer::Complaint;
use crate::budget::{ModelSpend, Spend};
use crate::code;
use crate::context;
use crate::definition::{InDoubt, RetryPolicy, Team, WhenOverloaded};
use crate::depth::{DEEPEST, deeper};
use crate::digest;
use crate::event::{Event, Replaced};
use crate::govern;
use crate::id::{Digest, Label, Time};
use crate::message::Usage;
use crate::step::{Ask, EffectClass, Failure, Note, Product, Retry, Then};
use crate::summary::Summary;
use serde_json::Value;
use std::sync::Arc;

/// Repairs of an answer that breaks its contract.
const REPAIRS: u32 = 2;
/// Doubts after which a step that keeps killing its driver is given up.
const DOUBTS: u32 = 3;

/// What came of an attempt, as the world tells it.
#[derive(Clone, Debug)]
pub enum Delivery {
    /// A model's answer, a tool's output, a probe's answer.
    Product(Product),
    /// What a child gave back: read as a summary and checked under its brief.
    Child(Value),
    /// It failed.
    Failure(Failure),
}

/// Input from the world.
#[derive(Clone, Debug)]
pub enum Command {
    /// An attempt has ended.
    Deliver {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// What came of it.
        delivery: Delivery,
        /// What it used.
        spent: Spend,
    },
    /// A tool has looked at the world before its effect.
    Prepare {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// What it saw.
        note: Note,
    },
    /// A driver took the run up: whatever is open was under way when the last one died.
    Recover {
        /// The moment.
        now: Time,
    },
    /// Go on with the definitions of another team. Follows [`Command::Recover`], after which no step of the run's own is
    /// under way.
    Adopt {
        /// Who asks.
        by: String,
        /// Digest of the team's blob.
        team: Digest,
        /// Digest of the agent's definition in it.
        definition: Digest,
    },
    /// End the run.
    Cancel {
        /// Who asks.
        by: String,
    },
    /// The time of a run above it is up: it ends, and as one whose time is up.
    Expire {
        /// That run.
        by: String,
    },
    /// Somebody says something to the run. Too late once it is over or writes its last synthesis: nothing follows then.
    Say {
        /// What.
        text: String,
        /// Who.
        by: String,
    },
    /// Time has passed.
    Wake {
        /// The moment.
        now: Time,
    },
    /// The driver leaves in good order and has stopped what it had under way.
    Interrupt,
}

impl RunState {
    /// The events that a command leads to; none when it no longer applies. `now` is the moment at which the command was
    /// given: delays of retries count from it, not from the start of the attempt.
    pub fn decide(&self, team: &Team, now: Time, command: Command) -> Vec<Event> {
        if self.summary.is_some() || self.started.is_none() {
            return Vec::new();
        }
        let moment = now.max(self.latest);
        match command {
            Command::Deliver { label, attempt, delivery, spent } => {
                self.deliver(team, &label, attempt, delivery, spent, moment).into_iter().collect()
            }
            Command::Prepare { label, attempt, note } => match self.live(&label, attempt) {
                Some(step) if step.note.is_some() => Vec::new(),
                Some(_) if deeper(&note, DEEPEST) => {
                    let why = format!("its note is nested deeper than {DEEPEST} levels");
                    let (code, spent, then) = (code::TOOL_FAILED, Spend::default(), Then::Final);
                    vec![Event::StepFailed { label, attempt, code, why, spent, then, presumed: false }]
                }
                Some(_) => vec![Event::StepPrepared { label, attempt, note }],
                None => Vec::new(),
            },
            Command::Recover { now } => self.recover(team, now),
            Command::Adopt { by, team, definition } => self.take_on(by, team, definition).into_iter().collect(),
            Command::Cancel { by } if self.cancelled.is_none() => vec![Event::CancelRequested { by, limit: None }],
            Command::Expire { by } if self.cancelled.is_none() => {
                vec![Event::CancelRequested { by, limit: Some(code::BUDGET_TIME) }]
            }
            Command::Say { text, by } if self.hears() && !text.trim().is_empty() => {
                vec![Event::MessageReceived { text, by }]
            }
            Command::Wake { now } if now > self.now => vec![Event::Woke { now }],
            Command::Cancel { .. } | Command::Expire { .. } | Command::Say { .. } | Command::Wake { .. } => Vec::new(),
            Command::Interrupt => self.open.iter().filter_map(|label| self.interrupt(label)).collect(),
        }
    }

    fn live(&self, label: &Label, attempt: u32) -> Option<&Step> {
        self.steps.get(label).filter(|s| s.status == Status::Open && s.attempt == attempt)
    }

    fn deliver(
        &self,
        team: &Team,
        label: &Label,
        attempt: u32,
        what: Delivery,
        spent: Spend,
        now: Time,
    ) -> Option<Event> {
        let Some(step) = self.live(label, attempt) else { return self.discard(label, attempt, &what, spent) };
        let label = label.clone();
        let what = match what {
            Delivery::Product(Product::Turn(turn)) => Delivery::Product(Product::Turn(turn.flatten())),
            other => other,
        };
        Some(match what {
            Delivery::Product(product) => match self.finding(team, step, &label, &product, &spent) {
                None => Event::StepSucceeded { label, attempt, product, spent },
                Some(complaint) => {
                    let again = complaint.repairable && step.rejections < REPAIRS && self.goes_on();
                    let next = Then::Retry { attempt: attempt + 1, not_before: now };
                    let then = if again { next } else { Then::Final };
                    let (code, why) = (complaint.code, complaint.why);
                    Event::StepRejected { label, attempt, product, code, why, spent, then }
                }
            },
            Delivery::Child(value) => self.child(step, label, attempt, &value),
            Delivery::Failure(failure) => {
                // A call that was dropped, or timed out after it was sent, may have been paid all the same.
                let lost = failure.code == code::STEP_STOPPED || failure.retry == Retry::Ambiguous;
                let unknown = lost && spent.usage == Usage::default() && matches!(&*step.ask, Ask::Model { .. });
                let spent = if unknown { self.presumed(step) } else { spent };
                let then = self.after(team, step, &label, &failure, now);
                let why = self.with_shares(team, step, &label, &failure);
                let code = failure.code;
                Event::StepFailed { label, attempt, code, why, spent, then, presumed: unknown }
            }
        })
    }

    /// What is wrong with a product; a prompt that did not arrive whole comes before what was said to it.
    fn finding(&self, team: &Team, step: &Step, label: &Label, product: &Product, spent: &Spend) -> Option<Complaint> {
        let cut = govern::prompt_cut(self, team, label, step, spent);
        cut.or_else(|| govern::finding(self, team, step, product))
    }

    /// The sentence of a failure; for a window that is full also what fills it.
    fn with_shares(&self, team: &Team, step: &Step, label: &Label, failure: &Failure) -> String {
        let shares = (failure.code == code::CONTEXT_FULL)
            .then(|| context::draft(self, team, label, &step.ask, step.room, &self.model_of(step)?.model))
            .flatten()
            .map(|draft| draft.shares());
        match shares {
            Some(shares) => format!("the window is full ({shares}): {}", failure.why),
            None => failure.why.clone(),
        }
    }

    /// What came of an attempt that was given up: what it used is booked as far as it was not presumed, the rest is dropped.
    fn discard(&self, label: &Label, attempt: u32, what: &Delivery, mut spent: Spend) -> Option<Event> {
        let step =
            self.steps.get(label).filter(|s| s.attempt >= attempt && !matches!(&*s.ask, Ask::Delegate { .. }))?;
        let code = match what {
            Delivery::Failure(failure) if failure.code == code::STEP_STOPPED => return None,
            Delivery::Failure(failure) => Some(failure.code.clone()),
            Delivery::Product(_) | Delivery::Child(_) => None,
        };
        spent.less(&step.presumed);
        Some(Event::ResultDiscarded { label: label.clone(), attempt, code, spent })
    }

    /// Whether what is said to it now can still be read by its model.
    fn hears(&self) -> bool {
        let ending = |l: &Label| l.as_str() == "closing" || l.as_str().starts_with("check/");
        self.goes_on() && !self.steps.keys().any(ending)
    }

    fn child(&self, step: &Step, label: Label, attempt: u32, value: &Value) -> Event {
        let schema = step.delegation.as_ref().map_or(&Value::Null, |d| &d.brief.output.value);
        match Summary::parse(value, schema) {
            Ok(summary) => {
                let spent = summary.spent.clone();
                Event::StepSucceeded { label, attempt, product: Product::Summary(Arc::new(summary)), spent }
            }
            Err((code, why)) => {
                // What it used is unknown; its whole reservation is taken as used, so that no cap can be talked under.
                let usage = Usage { input_tokens: step.reserve.tokens, ..Usage::default() };
                let by_model = step.delegation.as_ref().map(|d| ModelSpend {
                    role: d.role.clone(),
                    model: d.model.clone(),
                    usage,
                });
                let spent = Spend {
                    usage,
                    runs: step.reserve.runs,
                    by_model: by_model.into_iter().collect(),
                    ..Spend::default()
                };
                let why = code::clip(&why, code::SENTENCE);
                Event::StepFailed { label, attempt, code, why, spent, then: Then::Final, presumed: true }
            }
        }
    }

    fn goes_on(&self) -> bool {
        self.cancelled.is_none() && !self.out_of_time()
    }

    /// Whether, when and by which model a failed attempt is made again. Only model calls are: a tool's retry is the model's
    /// decision. Retries come first, then the next model, then parking.
    fn after(&self, team: &Team, step: &Step, label: &Label, failure: &Failure, now: Time) -> Then {
        let (Ask::Model { .. }, true) = (&*step.ask, self.goes_on()) else { return Then::Final };
        let policy = self.policy(team, step);
        let (asked, attempt) = match failure.retry {
            Retry::Never => (None, None),
            Retry::After(asked) => (asked, Some(step.attempt + 1)),
            Retry::Ambiguous => (None, Some(step.attempt)),
        };
        let salt = format!("{label}#{}#{}", step.attempt, step.failures);
        let not_before = now.plus(asked.unwrap_or(0).max(jitter(&policy, step.failures, &salt, self)));
        let far = not_before.since(step.first_start) > policy.total;
        // An answer that cannot be read is rarely chance: once more, and no further.
        let attempts = if failure.code == code::MODEL_MALFORMED { policy.attempts.min(2) } else { policy.attempts };
        if let Some(attempt) = attempt.filter(|_| !far && step.failures + 1 < attempts) {
            return Then::Retry { attempt, not_before };
        }
        let attempt = step.attempt + 1;
        if let Some(model) = self.next_model(team, step, &failure.code) {
            return Then::Fallback { attempt, model };
        }
        let overloaded = failure.code == code::MODEL_OVERLOADED || failure.code == code::MODEL_RATE_LIMITED;
        let parks = overloaded && policy.then == WhenOverloaded::Park;
        match (failure.retry, asked) {
            (Retry::After(_), Some(ms)) if far || parks => Then::Wait { attempt, until: Some(now.plus(ms)) },
            (Retry::After(_), None) if parks => Then::Wait { attempt, until: None },
            _ => Then::Final,
        }
    }

    fn policy(&self, team: &Team, step: &Step) -> RetryPolicy {
        let model = self.model_of(step).map(|chosen| chosen.model);
        let provider = model.as_ref().map_or("", |model| model.provider());
        team.retry.get(provider).copied().unwrap_or_default()
    }

    fn recover(&self, team: &Team, now: Time) -> Vec<Event> {
        let mut events = vec![Event::Recovered { idle: now.since(self.latest) }];
        events.extend(self.open.iter().filter_map(|label| self.doubt(team, label)));
        events
    }

    /// Nothing is recorded where nothing changes, nor while a request of the old definition may be under way.
    fn take_on(&self, by: String, team: Digest, definition: Digest) -> Option<Event> {
        let started = self.started.as_ref()?;
        let same = started.team == team && started.definition == definition;
        if same || self.open.iter().any(|label| self.in_the_dark(label).is_some()) {
            return None;
        }
        let team = Replaced { old: started.team.clone(), new: team };
        let definition = Replaced { old: started.definition.clone(), new: definition };
        Some(Event::Adopted { by, team, definition })
    }

    /// An open step that may have been done or not. A delegation never is: its child's log knows.
    fn in_the_dark(&self, label: &Label) -> Option<&Step> {
        self.steps.get(label).filter(|step| !matches!(&*step.ask, Ask::Delegate { .. }))
    }

    /// A step that was stopped politely is made again under its own key. One that may do harm stays open: whoever takes
    /// the run up decides on it as on any doubt.
    fn interrupt(&self, label: &Label) -> Option<Event> {
        let step = self.in_the_dark(label).filter(|step| step.effect != EffectClass::Effectful)?;
        let presumed = self.presumed(step);
        Some(Event::StepInterrupted { label: label.clone(), attempt: step.attempt, presumed })
    }

    fn doubt(&self, team: &Team, label: &Label) -> Option<Event> {
        let step = self.in_the_dark(label)?;
        let again = match step.effect {
            _ if step.doubts >= DOUBTS => false,
            EffectClass::Effectful => team.in_doubt == InDoubt::Retry,
            EffectClass::ReadOnly | EffectClass::Idempotent => true,
        };
        let then = if again { Then::Retry { attempt: step.attempt, not_before: self.now } } else { Then::Final };
        let presumed = self.presumed(step);
        Some(Event::StepInDoubt { label: label.clone(), attempt: step.attempt, presumed, then })
    }

    /// A lost model attempt may have been paid: its reservation is booked as used.
    fn presumed(&self, step: &Step) -> Spend {
        let (Ask::Model { .. }, Some(chosen)) = (&*step.ask, self.model_of(step)) else {
            return Spend::default();
        };
        let output_tokens = step.max_output.unwrap_or(0).min(step.reserve.tokens);
        let input_tokens = step.reserve.tokens - output_tokens;
        let usage = Usage { input_tokens, cached_tokens: 0, output_tokens };
        Spend::model_call(chosen.role.as_deref(), &chosen.model, usage)
    }
}

/// Full jitter: somewhere between 0 and the doubled delay. The core has no randomness; the run's id is random enough.
fn jitter(policy: &RetryPolicy, failures: u32, salt: &str, state: &RunState) -> u64 {
    let most = policy.delay.saturating_mul(1 << failures.min(20)).min(policy.cap);
    let run = state.started().map_or("", |s| s.run.as_str());
    let hash = digest::of_bytes(format!("{run}/{salt}").as_bytes());
    let number = hash.as_str().get(..15).and_then(|h| u64::from_str_radix(h, 16).ok()).unwrap_or(0);
    number % most.saturating_add(1)
}

/// The failure of a step that the driver stopped because the run no longer waits for it.
pub fn stopped() -> Failure {
    Failure::fixed(code::STEP_STOPPED, "it was stopped because nobody waits for it any more")
}
