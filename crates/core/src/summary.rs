//! The summary: the only way from a child back to its parent. Owns the closed set of states and what makes a summary valid.

use crate::budget::Spend;
use crate::code::{self, Code};
use crate::depth::{DEEPEST, deeper};
use crate::id::{AgentName, Digest, Label, RunId, ToolName};
use crate::message::BlobRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terminal {
    /// Valid payload, success condition passed.
    Succeeded,
    /// Valid payload, success condition not passed.
    Unmet,
    /// Ended by its own word before it was done.
    Incomplete,
    /// Failed.
    Failed,
    /// A cap other than time, turns, steps and hops.
    BudgetExhausted,
    /// Out of time.
    Deadline,
    /// Out of turns.
    MaxTurns,
    /// Out of steps of a plan.
    MaxSteps,
    /// Out of handoffs.
    HopLimit,
    /// Out of replans.
    ReplanLimit,
    /// Went in circles.
    Oscillating,
    /// Nothing left to try.
    Exhausted,
    /// No decision was reached.
    Undecided,
    /// Needs an answer, and nobody may be asked.
    NeedsClarification,
    /// Cancelled.
    Cancelled,
}

impl Terminal {
    /// Every terminal state.
    pub const ALL: [Terminal; 15] = [
        Terminal::Succeeded,
        Terminal::Unmet,
        Terminal::Incomplete,
        Terminal::Failed,
        Terminal::BudgetExhausted,
        Terminal::Deadline,
        Terminal::MaxTurns,
        Terminal::MaxSteps,
        Terminal::HopLimit,
        Terminal::ReplanLimit,
        Terminal::Oscillating,
        Terminal::Exhausted,
        Terminal::Undecided,
        Terminal::NeedsClarification,
        Terminal::Cancelled,
    ];
    /// The word in logs and `--json`.
    pub fn word(self) -> &'static str {
        match self {
            Terminal::Succeeded => "succeeded",
            Terminal::Unmet => "unmet",
            Terminal::Incomplete => "incomplete",
            Terminal::Failed => "failed",
            Terminal::BudgetExhausted => "budget_exhausted",
            Terminal::Deadline => "deadline",
            Terminal::MaxTurns => "max_turns",
            Terminal::MaxSteps => "max_steps",
            Terminal::HopLimit => "hop_limit",
            Terminal::ReplanLimit => "replan_limit",
            Terminal::Oscillating => "oscillating",
            Terminal::Exhausted => "exhausted",
            Terminal::Undecided => "undecided",
            Terminal::NeedsClarification => "needs_clarification",
            Terminal::Cancelled => "cancelled",
        }
    }
    /// The state that a tripped cap leads to.
    pub fn of_cap(cap: &Code) -> Terminal {
        match cap.limit() {
            Some("turns") => Terminal::MaxTurns,
            Some("time") => Terminal::Deadline,
            Some("hops") => Terminal::HopLimit,
            _ => Terminal::BudgetExhausted,
        }
    }
}

/// Something the gate or the contract has to say about a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The governance scope: the run it belongs to.
    pub scope: RunId,
    /// The step; none for the run as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Label>,
    /// The reason.
    pub code: Code,
    /// One plain sentence.
    pub text: String,
}

/// One piece of evidence: a tool step that succeeded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `e1`, `e2`, ... in call order.
    pub id: String,
    /// The step.
    pub step: Label,
    /// The tool.
    pub tool: ToolName,
    /// Digest of what it gave.
    pub digest: Digest,
}

/// How a statement of the success condition stands, by the agent's own word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Met.
    Met,
    /// Not met.
    Unmet,
    /// Nothing was said.
    Unknown,
}

/// Who judged a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judge {
    /// The program.
    Program,
    /// The agent itself.
    SelfReported,
}

/// One condition and how it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The condition in words.
    pub condition: String,
    /// How it stands.
    pub verdict: Verdict,
    /// Who says so.
    pub judge: Judge,
    /// What it rests on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

/// The account of a run. The payload is the model's; everything else is written by the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The run.
    pub run: RunId,
    /// Its agent.
    pub agent: AgentName,
    /// How it ended.
    pub status: Terminal,
    /// Whether the payload was synthesised at a limit or cut short.
    pub partial: bool,
    /// The cap that tripped, if one did.
    pub limit: Option<String>,
    /// Why it did not succeed.
    pub reason_code: Option<Code>,
    /// The same in one sentence.
    pub reason: Option<String>,
    /// The result.
    pub payload: Value,
    /// The success conditions.
    pub success: Vec<Judged>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Governance findings and escalations.
    pub findings: Vec<Finding>,
    /// What it and all below it have used.
    pub spent: Spend,
    /// The whole payload, when a parent is shown only its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<BlobRef>,
}

impl Summary {
    /// Reads what a child, embedded or remote, gave back, and checks it under the brief's schema.
    ///
    /// # Errors
    /// The code `summary.invalid` and a sentence: it is no object, a part is missing, or a success has no valid payload.
    pub fn parse(value: &Value, schema: &Value) -> Result<Summary, (Code, String)> {
        let bad = |why: String| (code::SUMMARY_INVALID, why);
        if !value.is_object() {
            return Err(bad("the result is no summary but a bare value".into()));
        }
        // One level is the summary's own; its payload is one of the values that are let in.
        if deeper(value, DEEPEST + 1) {
            return Err(bad(format!("the summary is nested deeper than {DEEPEST} levels")));
        }
        for part in ["status", "payload", "evidence", "findings", "spent"] {
            if value.get(part).is_none() {
                return Err(bad(format!("the summary lacks `{part}`")));
            }
        }
        let mut summary: Summary =
            serde_json::from_value(value.clone()).map_err(|e| bad(format!("the summary cannot be read: {e}")))?;
        if matches!(summary.status, Terminal::Succeeded | Terminal::Unmet) {
            let complaints = crate::schema::complaints(schema, &summary.payload, 3);
            if !complaints.is_empty() {
                return Err(bad(format!("the payload is not valid: {}", complaints.join("; "))));
            }
        }
        summary.reason = summary.reason.map(|why| code::clip(&why, code::SENTENCE));
        for finding in &mut summary.findings {
            finding.text = code::clip(&finding.text, code::SENTENCE);
        }
        Ok(summary)
    }
}
