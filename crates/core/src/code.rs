//! Reason codes: one list of every machine-readable reason, its meaning and the requirement lines it answers.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A stable reason such as `brief.objective_missing`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Code(Cow<'static, str>);

/// The longest sentence that goes with a reason, in characters. Such sentences quote what models and tools wrote, and they
/// go up the tree.
pub(crate) const SENTENCE: usize = 300;

/// The beginning of a text, at most so many characters.
pub(crate) fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_string(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect(),
    }
}

impl Code {
    const fn fixed(text: &'static str) -> Code {
        Code(Cow::Borrowed(text))
    }
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
    /// A code from an adapter or an embedding program.
    pub fn other(text: impl Into<String>) -> Code {
        Code(Cow::Owned(text.into()))
    }
}
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// One row of the reference table of reason codes.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The code.
    pub code: Code,
    /// Requirement lines it answers.
    pub covers: &'static str,
    /// One plain sentence.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($($name:ident = $text:literal, $covers:literal, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: Code = Code::fixed($text);)*
        /// Every code of the core and the runtime, in the order of the reference table.
        pub const ALL: &[Reason] = &[$(Reason { code: $name, covers: $covers, meaning: $meaning },)*];
    };
}

codes! {
    BRIEF_MALFORMED = "brief.malformed", "E-08", "The arguments of the delegation are no object, name an unknown field, or a field has the wrong type.";
    BRIEF_OBJECTIVE_MISSING = "brief.objective_missing", "E-11 L-22 L-30", "The brief has no objective.";
    BRIEF_OUTPUT_FORMAT_MISSING = "brief.output_format_missing", "L-31", "The brief does not say what form the result has.";
    BRIEF_GUIDANCE_MISSING = "brief.guidance_missing", "L-32", "The brief gives no guidance on tools and sources.";
    BRIEF_BOUNDARIES_MISSING = "brief.boundaries_missing", "L-33", "The brief sets no boundaries.";
    BRIEF_ROUTE_MISSING = "brief.route_missing", "L-34", "The brief names neither an agent nor a task type.";
    BRIEF_SUCCESS_MISSING = "brief.success_missing", "E-12", "The brief has no success condition.";
    BRIEF_TOOLS_MISSING = "brief.tools_missing", "E-13", "The brief has no tool allowlist.";
    BRIEF_MEMORY_MISSING = "brief.memory_missing", "E-14", "The brief has no memory scope.";
    BRIEF_BUDGET_MISSING = "brief.budget_missing", "E-15", "The brief has no time or no token budget.";
    BRIEF_BUDGET_NOT_POSITIVE = "brief.budget_not_positive", "E-15", "A budget of the brief is not positive.";
    BRIEF_OUTPUT_SCHEMA_MISSING = "brief.output_schema_missing", "E-16", "The brief has no output schema.";
    BRIEF_OUTPUT_SCHEMA_INVALID = "brief.output_schema_invalid", "E-16", "The output schema is no valid JSON Schema.";
    BRIEF_OVERRIDE_WIDER = "brief.override_wider", "E-17", "The brief asks for more than the delegating agent may pass on.";
    BRIEF_REPEATED = "brief.repeated", "L-23", "The same brief was rejected twice before.";
    ROUTE_UNKNOWN = "route.unknown", "L-23", "No agent has this name or task type.";
    SPAWN_NOT_ALLOWED = "spawn.not_allowed", "L-45", "The agent exists but is not among those that this agent may delegate to.";
    SPAWN_DEPTH = "spawn.depth", "F-11", "The tree may not grow deeper.";
    TOOL_UNKNOWN = "tool.unknown", "E-20", "There is no tool of this name.";
    TOOL_NOT_ALLOWED = "tool.not_allowed", "E-20", "The tool is not on the allowlist of the brief.";
    TOOL_ARGUMENTS = "tool.arguments", "E-20", "The arguments of a tool call are no JSON object, or not what the tool takes.";
    TOOL_FAILED = "tool.failed", "F-07", "The tool could not do it.";
    TOOL_TIMEOUT = "tool.timeout", "F-07", "The tool did not answer in time.";
    TOOL_PANICKED = "tool.panicked", "F-07", "The tool broke down.";
    SECRET_HIDDEN = "secret.hidden", "X-16", "The arguments of a tool hold the mark of a hidden secret, which must not be written anywhere.";
    APPROVAL_UNAVAILABLE = "approval.unavailable", "S-14", "The policy asks a person, and nobody can be asked.";
    PERMISSION_DENIED = "permission.denied", "S-14 D-08 X-09", "The policy, or a rule on paths, forbids it.";
    BUDGET_TOKENS = "budget.tokens", "L-49", "The token budget is used up.";
    BUDGET_EXHAUSTED = "budget.exhausted", "L-49", "What is left of the budget is too little for a child.";
    BUDGET_TURNS = "budget.turns", "E-21", "The turns are used up.";
    BUDGET_MODEL_CALLS = "budget.model_calls", "E-21", "The model calls are used up.";
    BUDGET_TOOL_CALLS = "budget.tool_calls", "L-48 F-10", "The tool calls are used up.";
    BUDGET_CHILDREN = "budget.children", "L-47", "The children are used up.";
    BUDGET_RUNS = "budget.runs", "F-11", "The runs of the tree are used up.";
    BUDGET_TIME = "budget.time", "E-21", "The time is up.";
    SPEND_EXCESS = "spend.excess", "E-21 L-49", "A call that was in flight used more than was kept back for it, and the run is over its cap.";
    CONTEXT_FULL = "context.full", "E-21", "The conversation no longer fits the model's context window.";
    SUMMARY_EMPTY = "summary.empty", "E-18", "The agent's last answer is empty.";
    SUMMARY_INVALID = "summary.invalid", "E-10 E-18", "The result is no valid summary.";
    OUTPUT_INVALID = "output.invalid", "E-61", "The answer does not have the form that the brief asks for.";
    EVIDENCE_UNKNOWN = "evidence.unknown", "E-18", "The answer cites evidence that does not exist, or none.";
    SUCCESS_UNMET = "success.unmet", "E-12", "The success condition is not met.";
    MODEL_UNKNOWN = "model.unknown", "D-10", "The model or role is not known.";
    MODEL_UNAVAILABLE = "model.unavailable", "F-07", "The provider cannot be reached.";
    MODEL_OVERLOADED = "model.overloaded", "F-07", "The provider is overloaded or failed.";
    MODEL_RATE_LIMITED = "model.rate_limited", "F-07", "The provider asks to slow down.";
    MODEL_AUTH = "model.auth", "F-07", "The provider refuses the credential.";
    MODEL_NOT_FOUND = "model.not_found", "F-07", "The provider has no such model or address.";
    MODEL_REQUEST = "model.request", "F-07", "The provider refuses the request.";
    MODEL_FALLBACK = "model.fallback", "F-06", "The provider of a model could not take a step, and the next model took it.";
    MODEL_PROMPT_CUT = "model.prompt_cut", "U-12", "The server counted far fewer tokens than were sent: it cut the prompt, and its answer is to another question.";
    MODEL_MALFORMED = "model.malformed", "F-07", "The provider's answer cannot be read.";
    MODEL_CUT = "model.cut", "F-07", "The provider's answer broke off.";
    MODEL_TIMEOUT = "model.timeout", "F-07", "The provider did not answer in time.";
    MODEL_LENGTH = "model.length", "F-07", "The output limit cut the answer off.";
    MODEL_REFUSED = "model.refused", "F-07", "The model declined or a filter of the provider stopped it.";
    MODEL_PANICKED = "model.panicked", "F-07", "The adapter of the provider broke down.";
    MODEL_SCRIPT = "model.script", "L-27", "The script of the scripted provider has no line for this call.";
    STEP_IN_DOUBT = "step.in_doubt", "E-60", "The step was under way at a crash, and nobody can know whether it was done.";
    RESULT_DISCARDED = "result.discarded", "X-08", "Something came of an attempt after it was given up; it is not used, and what it used is booked.";
    STEP_STOPPED = "step.stopped", "E-60", "The step was stopped because nobody waits for it any more.";
    RUN_CANCELLED = "run.cancelled", "E-60", "The run was cancelled.";
    RUN_STALLED = "run.stalled", "E-60", "The program wants nothing and nothing is under way: a fault of the program.";
    RUN_DIVERGED = "run.diverged", "F-05", "A step would be repeated with other bytes than those recorded.";
    RUN_PANICKED = "run.panicked", "F-07", "The program of the run broke down.";
    PROGRAM_UNKNOWN = "program.unknown", "E-05", "There is no pattern or composition of this name.";
}

impl Code {
    /// Whether this is a cap of the run that tripped: no new spawns, then a last synthesis.
    pub fn is_cap(&self) -> bool {
        self.0.starts_with("budget.")
    }
    /// Whether a model call failed because of its provider, so that another one may do better. A refusal, a full window and
    /// a bad request would be the same elsewhere.
    pub fn is_of_provider(&self) -> bool {
        const CODES: [Code; 10] = [
            MODEL_UNKNOWN,
            MODEL_UNAVAILABLE,
            MODEL_OVERLOADED,
            MODEL_RATE_LIMITED,
            MODEL_AUTH,
            MODEL_NOT_FOUND,
            MODEL_MALFORMED,
            MODEL_CUT,
            MODEL_TIMEOUT,
            MODEL_PANICKED,
        ];
        CODES.contains(self)
    }
    /// The name of the cap: `tool_calls` of `budget.tool_calls`; `budget.exhausted` is `tokens`.
    pub fn limit(&self) -> Option<&str> {
        match self.0.strip_prefix("budget.")? {
            "exhausted" => Some("tokens"),
            cap => Some(cap),
        }
    }
}
