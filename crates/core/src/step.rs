//! A step: what is asked, what came of it, and what its effect on the world may be.

use crate::brief::{Brief, Mode};
use crate::code::Code;
use crate::id::{AgentName, AgentPath, Digest, Label, ModelName, Time, ToolName};
use crate::message::{Arguments, ToolOutput, Turn};
use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// What a program wants done. Plain data, stored whole in the event, so that a log is readable without a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ask {
    /// A model call.
    Model {
        /// Who speaks.
        agent: AgentName,
        /// What it is about; `context` makes the bytes.
        prompt: Prompt,
        /// May use the part of the budget that is kept back for the last synthesis.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        closing: bool,
    },
    /// A tool call.
    Tool {
        /// Who calls.
        agent: AgentName,
        /// The name as the model wrote it.
        name: ToolName,
        /// The arguments as the model gave them.
        arguments: Arguments,
    },
    /// A delegation: the gate completes the brief and records it in the start event.
    Delegate {
        /// Who delegates.
        agent: AgentName,
        /// The written part of the brief as the model gave it.
        arguments: Arguments,
        /// The turn it belongs to, where a forked child's prefix would be cut.
        turn: Label,
    },
    /// A look at the workspace that a success predicate needs: does this path exist?
    Probe {
        /// Path relative to the workspace.
        path: String,
    },
    /// A decision that a person wants to see; no effect on the world. For programs that plan; none of this build does.
    Decide {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
}

/// What a model call is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    /// The first user message.
    pub task: Task,
    /// The conversation it goes on with: the scope prefix of its turns.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// Turns 1..=upto of that scope are part of the request.
    pub upto: u64,
    /// Whether tools are offered.
    pub tools: bool,
    /// The form of a final answer.
    #[serde(default)]
    pub form: Form,
    /// A last user message of the program, after the turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
}

/// The first user message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// The run's own brief.
    Brief,
    /// A text of the program. For programs with several conversations; no program of this build has them.
    Text(String),
}

/// What a turn without calls must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// Any text.
    #[default]
    Free,
    /// The payload of the run: checked against the brief's output schema.
    Output,
}

/// Whether doing a step twice does harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// It changes nothing.
    ReadOnly,
    /// Doing it again with the same key or arguments changes nothing more.
    Idempotent,
    /// Doing it again may do harm.
    Effectful,
}

/// What a step gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Product {
    /// A model's answer.
    Turn(Arc<Turn>),
    /// A tool's output.
    Output(Arc<ToolOutput>),
    /// A child's account.
    Summary(Arc<Summary>),
    /// The answer of a probe.
    Exists(bool),
    /// A recorded decision.
    Noted,
}

/// Why a step was refused before it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason.
    pub code: Code,
    /// One plain sentence that names the field or the limit.
    pub why: String,
    /// For a delegation: rejected or degraded. A refusal of another kind has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// For a degraded delegation: the fallback answer and the known names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
}

/// What a degraded delegation answers instead of a child.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fallback {
    /// The text for the model.
    pub answer: String,
    /// Names that would have been known.
    pub known: Vec<AgentName>,
}

/// The final outcome of a step, as a program sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Done.
    Ok(Product),
    /// Started and failed for good.
    Failed {
        /// The reason.
        code: Code,
        /// One plain sentence.
        why: String,
    },
    /// Never started.
    Denied(Refusal),
}

/// What follows a failed attempt. The decision is in the event, so that the fold reads no definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Try again.
    Retry {
        /// The number of the next attempt: the same after a doubt (same idempotency key), one more after a known failure.
        attempt: u32,
        /// Not before this moment.
        not_before: Time,
    },
    /// The provider asked for a longer pause than retries reach: the step is parked, and a driver with nothing else to do
    /// leaves.
    Wait {
        /// The number of the next attempt.
        attempt: u32,
        /// Not before this moment; none: whoever takes the run up tries again.
        until: Option<Time>,
    },
    /// The next model of the agent's `fallback` takes the step, and every later one of the run.
    Fallback {
        /// The number of the next attempt.
        attempt: u32,
        /// The model.
        model: ModelName,
    },
    /// Give up.
    Final,
}

/// A failure as the world reports it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason.
    pub code: Code,
    /// One plain sentence, free of secrets.
    pub why: String,
    /// Whether trying again may help.
    pub retry: Retry,
}

/// Whether and when trying again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// No.
    Never,
    /// Yes; the provider may have said after how many milliseconds.
    After(Option<u64>),
    /// Yes, but the effect may have happened: the attempt keeps its number and so its idempotency key.
    Ambiguous,
}

impl Failure {
    /// A failure that will not go away.
    pub fn fixed(code: Code, why: impl Into<String>) -> Failure {
        Failure { code, why: why.into(), retry: Retry::Never }
    }
    /// A failure that may go away.
    pub fn passing(code: Code, why: impl Into<String>, after_ms: Option<u64>) -> Failure {
        Failure { code, why: why.into(), retry: Retry::After(after_ms) }
    }
}

/// What is kept back of the budget while a step is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// Tokens.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens: u64,
    /// Runs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde's skip_serializing_if calls")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// A delegation that the gate let through: everything the child's run starts from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delegation {
    /// The child's definition.
    pub to: AgentName,
    /// Its path in the tree.
    pub path: AgentPath,
    /// The complete brief.
    pub brief: Brief,
    /// Its model.
    pub model: ModelName,
    /// The role that chose the model, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Content digest of the child's definition.
    pub definition: Digest,
    /// The supervisor's own reason, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What a tool noted about the world before its effect, so that recovery can tell whether it was applied.
pub type Note = Value;
