//! The brief: the only way from a parent into a child. Owns its fields, their origins, and what makes it complete.

use crate::budget::Budget;
use crate::code::{self, Code};
use crate::id::ToolName;
use crate::policy::Layers;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What became of a delegation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A child ran.
    Delegated,
    /// Nobody could be found; the delegating agent answers that part itself.
    Degraded,
    /// The contract was not kept; nothing ran.
    Rejected,
}

/// Who gave a field of a brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The delegating model.
    Model,
    /// The child's definition.
    Definition,
    /// The parent's grant.
    Grant,
    /// The configuration of the team.
    Config,
    /// The program's default.
    Default,
    /// A flag of the command line or an argument of the embedding program.
    Flag,
    /// Written by the program from the definition (profile `assisted`).
    Derived,
}

/// A value and who gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stated<T> {
    /// The value.
    pub value: T,
    /// Who gave it.
    pub by: Origin,
}

impl<T> Stated<T> {
    /// A value with its origin.
    pub fn new(value: T, by: Origin) -> Stated<T> {
        Stated { value, by }
    }
}

/// Whose memory a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryScope {
    /// Its own alone.
    Private,
}

/// When a run has succeeded: the payload is valid, and all of these hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Success {
    /// Checked by the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicates: Vec<Predicate>,
    /// Reported by the agent itself, each met, unmet or unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<String>,
}

/// A condition that the program checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Predicate {
    /// Something about the payload at a JSON pointer (`/findings`; the empty pointer is the whole).
    At {
        /// JSON pointer.
        at: String,
        /// What must hold there.
        test: Test,
    },
    /// A file exists in the workspace.
    FileExists(String),
    /// At least so many successful tool steps.
    EvidenceMin(u64),
}

/// What must hold at a place of the payload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// It is there (true) or is not (false).
    Exists(bool),
    /// It equals this.
    Equals(Value),
    /// It is a list of at least so many.
    MinItems(u64),
    /// It is a list of at most so many.
    MaxItems(u64),
    /// It is a text that this regular expression finds something in.
    Matches(String),
}

/// A complete brief. Made by [`Draft::complete`] and in no other way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Brief {
    /// The task type that routed it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<Stated<String>>,
    /// What is to be achieved.
    pub objective: Stated<String>,
    /// What the child needs to know, byte-exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Stated<String>>,
    /// What form the result has.
    pub output_format: Stated<String>,
    /// Which tools and sources to use, and which not.
    pub guidance: Stated<String>,
    /// What to do and what not to do.
    pub boundaries: Stated<String>,
    /// When it has succeeded.
    pub success: Stated<Success>,
    /// JSON Schema of the payload.
    pub output: Stated<Value>,
    /// What the child may call.
    pub tools: Stated<Vec<ToolName>>,
    /// What the child may pass on.
    pub grant: Stated<Vec<ToolName>>,
    /// Its memory.
    pub memory: Stated<MemoryScope>,
    /// Its caps.
    pub budget: Stated<Budget>,
    /// The lists of rules on paths that hold for it beside the built-in one: the project's, those of all above it, its own.
    #[serde(default, skip_serializing_if = "Layers::is_empty")]
    pub permissions: Layers,
}

/// A brief in the making: whatever has been given so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// See [`Brief::task_type`].
    pub task_type: Option<Stated<String>>,
    /// See [`Brief::objective`].
    pub objective: Option<Stated<String>>,
    /// See [`Brief::context`].
    pub context: Option<Stated<String>>,
    /// See [`Brief::output_format`].
    pub output_format: Option<Stated<String>>,
    /// See [`Brief::guidance`].
    pub guidance: Option<Stated<String>>,
    /// See [`Brief::boundaries`].
    pub boundaries: Option<Stated<String>>,
    /// See [`Brief::success`].
    pub success: Option<Stated<Success>>,
    /// See [`Brief::output`].
    pub output: Option<Stated<Value>>,
    /// See [`Brief::tools`].
    pub tools: Option<Stated<Vec<ToolName>>>,
    /// See [`Brief::grant`].
    pub grant: Option<Stated<Vec<ToolName>>>,
    /// See [`Brief::memory`].
    pub memory: Option<Stated<MemoryScope>>,
    /// See [`Brief::budget`].
    pub budget: Option<Stated<Budget>>,
    /// See [`Brief::permissions`].
    pub permissions: Layers,
}

/// A brief that is not complete or not right: the reason and one sentence that names the field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Incomplete {
    /// The reason.
    pub code: Code,
    /// One plain sentence.
    pub why: String,
}

impl Incomplete {
    /// A reason with its sentence.
    pub fn new(code: Code, why: impl Into<String>) -> Incomplete {
        Incomplete { code, why: why.into() }
    }
}

fn text(field: Option<Stated<String>>, code: Code, why: &str) -> Result<Stated<String>, Incomplete> {
    field.filter(|f| !f.value.trim().is_empty()).ok_or_else(|| Incomplete::new(code, why))
}

impl Draft {
    /// Checks that every field is there and right, in a fixed order.
    ///
    /// # Errors
    /// The first field that is missing, blank, not positive, or no valid schema.
    pub fn complete(self) -> Result<Brief, Incomplete> {
        let missing = |code: Code, field: &str| Incomplete::new(code, format!("brief missing {field}"));
        let objective = text(
            self.objective,
            code::BRIEF_OBJECTIVE_MISSING,
            "brief missing objective \u{2014} subagent cannot be steered",
        )?;
        let output_format = text(
            self.output_format,
            code::BRIEF_OUTPUT_FORMAT_MISSING,
            "brief missing output_format \u{2014} say what form the result must have",
        )?;
        let guidance = text(
            self.guidance,
            code::BRIEF_GUIDANCE_MISSING,
            "brief missing guidance \u{2014} say which tools and sources to use and which not",
        )?;
        let boundaries = text(
            self.boundaries,
            code::BRIEF_BOUNDARIES_MISSING,
            "brief missing boundaries \u{2014} say what to do and what not to do",
        )?;
        let success = self.success.ok_or_else(|| missing(code::BRIEF_SUCCESS_MISSING, "success_condition"))?;
        let output = self.output.ok_or_else(|| missing(code::BRIEF_OUTPUT_SCHEMA_MISSING, "output schema"))?;
        crate::schema::check(&output.value).map_err(|e| {
            Incomplete::new(
                code::BRIEF_OUTPUT_SCHEMA_INVALID,
                format!("the output schema of the brief is no JSON Schema: {e}"),
            )
        })?;
        let tools =
            self.tools.ok_or_else(|| missing(code::BRIEF_TOOLS_MISSING, "tools (an allowlist, may be empty)"))?;
        let grant = self.grant.unwrap_or_else(|| Stated::new(Vec::new(), Origin::Default));
        let memory = self.memory.ok_or_else(|| missing(code::BRIEF_MEMORY_MISSING, "memory scope"))?;
        let budget = self.budget.ok_or_else(|| missing(code::BRIEF_BUDGET_MISSING, "budget"))?;
        let b = &budget.value;
        if b.time == 0 || b.tokens == 0 || b.turns == 0 || b.runs == 0 || b.model_calls == Some(0) {
            let why = "brief budget must be positive: time and tokens need numbers above 0";
            return Err(Incomplete::new(code::BRIEF_BUDGET_NOT_POSITIVE, why));
        }
        let (task_type, context, permissions) = (self.task_type, self.context, self.permissions);
        #[rustfmt::skip]
        let brief = Brief { task_type, objective, context, output_format, guidance, boundaries, success, output, tools, grant, memory, budget, permissions };
        Ok(brief)
    }
}
