//! The closed set of events: what a log is made of. Owns their form, not their meaning (`run` folds them).
//!
//! Compatibility: `v` on every record, JSON-to-JSON upcasters before serde, unknown fields ignored, variants never reused.

mod upcast;

pub use upcast::{Unreadable, VERSION, read};

use crate::brief::Brief;
use crate::budget::Spend;
use crate::code::Code;
use crate::id::{AgentName, AgentPath, Digest, Label, ModelName, RunId, Time};
use crate::step::{Ask, Delegation, EffectClass, Note, Product, Refusal, Reserve, Then};
use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An event with its place in the log of its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Version of the form.
    pub v: u32,
    /// Place in the log, from 0 without gaps.
    pub seq: u64,
    /// When it was appended.
    pub at: Time,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// A choice that was made for the user, kept with the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// What about: `model.found`, `profile`, `root` ...
    pub code: String,
    /// The line that was shown.
    pub text: String,
}

/// What a run starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The run.
    pub run: RunId,
    /// The run and the step that delegated to it; none for a root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<(RunId, Label)>,
    /// Its agent.
    pub agent: AgentName,
    /// Its path in the tree by names.
    pub path: AgentPath,
    /// 0 for the root.
    pub depth: u32,
    /// The brief.
    pub brief: Brief,
    /// Its model.
    pub model: ModelName,
    /// The role that chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Digest of the definition.
    pub definition: Digest,
    /// Digest of the team's blob, from which a resume rebuilds everything.
    pub team: Digest,
    /// Name of the team.
    pub team_name: String,
    /// Revision of the program's labels.
    pub program_rev: u32,
    /// Choices made for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
}

/// A digest that takes the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// What the run had until now.
    pub old: Digest,
    /// What it goes on with.
    pub new: Digest,
}

/// A step that the gate let through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepStart {
    /// The step.
    pub label: Label,
    /// What is to be done.
    pub ask: Arc<Ask>,
    /// The number of the attempt, from 1.
    pub attempt: u32,
    /// Its effect class.
    pub effect: EffectClass,
    /// What is kept back for it.
    #[serde(default)]
    pub reserve: Reserve,
    /// For a model call: the model of this attempt, when it is not the run's own but one of its fallbacks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelName>,
    /// For a model call: the output limit that was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// For a closing: the room that its input was given, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// For a model call: digest of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// For a delegation: what the child starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegation: Option<Arc<Delegation>>,
}

/// Something that happened to a run. Past tense, closed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The run exists.
    RunStarted(Box<Started>),
    /// A driver took the run up again after a pause of `idle` milliseconds, which its deadline does not count.
    Recovered {
        /// Milliseconds since the newest event of the whole tree, as the driver saw it.
        idle: u64,
    },
    /// Somebody asked for the run to go on with definitions that have changed since it began. What it was given to do,
    /// with and for how much stays; no model step is open.
    Adopted {
        /// Who.
        by: String,
        /// Digest of the team's blob.
        team: Replaced,
        /// Digest of its agent's definition.
        definition: Replaced,
    },
    /// Intent and reservation in one.
    StepStarted(Box<StepStart>),
    /// What a tool noted about the world before its effect.
    StepPrepared {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// The note.
        note: Note,
    },
    /// Outcome and settlement in one.
    StepSucceeded {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// What it gave.
        product: Product,
        /// What it used.
        spent: Spend,
    },
    /// An attempt failed.
    StepFailed {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// The reason.
        code: Code,
        /// One sentence.
        why: String,
        /// What it used.
        spent: Spend,
        /// What follows.
        then: Then,
        /// Nobody knows what it used: `spent` is what was kept back for it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        presumed: bool,
    },
    /// An attempt gave something that breaks the contract: a governance event, not a silent retry.
    StepRejected {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// What it gave.
        product: Product,
        /// The reason.
        code: Code,
        /// What is wrong with it.
        why: String,
        /// What it used.
        spent: Spend,
        /// What follows.
        then: Then,
    },
    /// The gate said no.
    StepDenied {
        /// The step.
        label: Label,
        /// What was wanted.
        ask: Arc<Ask>,
        /// Why not.
        refusal: Refusal,
    },
    /// The step was under way when a driver died.
    StepInDoubt {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// Booked as used, since the lost attempt may have been paid.
        presumed: Spend,
        /// What follows.
        then: Then,
    },
    /// The step was stopped because its driver left in good order: it is made again under the same attempt, and neither a
    /// failure nor a doubt is counted.
    StepInterrupted {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// Booked as used, since the stopped attempt may have been paid.
        presumed: Spend,
    },
    /// Something came of an attempt that nobody waits for any more. It is not used; nothing follows from it.
    ResultDiscarded {
        /// The step.
        label: Label,
        /// Its attempt.
        attempt: u32,
        /// What had gone wrong, if it came as a failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        /// What it used beyond what was presumed for it when it was given up.
        spent: Spend,
    },
    /// Somebody said something to the run. Its model reads it before its next turn, after the results of the turn that is
    /// under way.
    MessageReceived {
        /// What.
        text: String,
        /// Who.
        by: String,
    },
    /// A decision was recorded.
    Decided {
        /// The step.
        label: Label,
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// Time passed that somebody waited for.
    Woke {
        /// The moment.
        now: Time,
    },
    /// Somebody wants the run to end.
    CancelRequested {
        /// Who.
        by: String,
        /// The cap of a run above it that tripped; none when somebody asked for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<Code>,
    },
    /// The run is over.
    RunFinished {
        /// Its account.
        summary: Arc<Summary>,
    },
}

impl Event {
    /// Events that the core derives from the log alone; all others are inputs from the world.
    pub fn is_derived(&self) -> bool {
        matches!(
            self,
            Event::StepStarted(_) | Event::StepDenied { .. } | Event::Decided { .. } | Event::RunFinished { .. }
        )
    }
    /// The name as it stands in the log.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::RunStarted(_) => "run_started",
            Event::Recovered { .. } => "recovered",
            Event::Adopted { .. } => "adopted",
            Event::StepStarted(_) => "step_started",
            Event::StepPrepared { .. } => "step_prepared",
            Event::StepSucceeded { .. } => "step_succeeded",
            Event::StepFailed { .. } => "step_failed",
            Event::StepRejected { .. } => "step_rejected",
            Event::StepDenied { .. } => "step_denied",
            Event::StepInDoubt { .. } => "step_in_doubt",
            Event::StepInterrupted { .. } => "step_interrupted",
            Event::ResultDiscarded { .. } => "result_discarded",
            Event::MessageReceived { .. } => "message_received",
            Event::Decided { .. } => "decided",
            Event::Woke { .. } => "woke",
            Event::CancelRequested { .. } => "cancel_requested",
            Event::RunFinished { .. } => "run_finished",
        }
    }
}
