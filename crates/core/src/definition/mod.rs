//! Agents and teams as the core knows them: validated data, independent of the files they came from.
//! Reading files is the loader's work (adapters), which hands over a spanned tree; `decode` turns that tree into these types.

use crate::brief::Success;
use crate::budget::{Budgets, Caps};
use crate::digest;
use crate::id::{AgentName, Digest, ModelName, ToolName};
pub use crate::policy::Permission;
use crate::policy::{Layer, Layers, Rule, Source, Use};
use crate::step::EffectClass;
pub mod codes;
pub mod decode;
pub mod keys;
pub mod message;
pub mod name;
pub mod nearest;
pub mod node;
pub mod resolve;
pub mod spec;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which model an agent uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelChoice {
    /// That of the delegating agent; for the root the role `default`.
    #[default]
    Inherit,
    /// A role (`default`, `fast`, `think`), an alias, or `provider:model`, as written.
    Named(String),
}

/// Which tools an agent may call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The delegating agent's own; for the root the read-only file tools.
    #[default]
    Inherit,
    /// All that the parent may grant.
    All,
    /// These.
    Listed(Vec<ToolName>),
}

/// What a delegation to an agent says when the caller does not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefDefaults {
    /// See [`crate::brief::Brief::output_format`].
    pub output_format: Option<String>,
    /// See [`crate::brief::Brief::guidance`].
    pub guidance: Option<String>,
    /// See [`crate::brief::Brief::boundaries`].
    pub boundaries: Option<String>,
}

/// How an agent's claims are bound to what its tools gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceMode {
    /// All successful tool steps are its evidence.
    #[default]
    Derived,
    /// Tool results carry ids, and the payload must cite ids that exist.
    Cite,
}

/// One agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Definition {
    /// Its name in normal form.
    pub name: AgentName,
    /// What it is for, for those who may delegate to it.
    pub description: String,
    /// The system prompt.
    pub body: String,
    /// One paragraph before the body.
    pub identity: Option<String>,
    /// A numbered list after the body.
    pub rules: Vec<String>,
    /// Its model.
    pub model: ModelChoice,
    /// Its pattern (`react`).
    pub pattern: String,
    /// What it may call.
    pub tools: ToolChoice,
    /// What it may not call after all.
    pub disallowed: Vec<ToolName>,
    /// What it may pass on; absent: what its parent granted to it.
    pub grant: Option<Vec<ToolName>>,
    /// Whom it may delegate to.
    pub agents: Vec<AgentName>,
    /// Task types that route a brief here.
    pub task_types: Vec<String>,
    /// JSON Schema of its payload; absent: `{result: text}`.
    pub output: Option<Value>,
    /// Defaults of briefs to it.
    pub brief: BriefDefaults,
    /// When it has succeeded.
    pub success: Option<Success>,
    /// Its caps.
    pub budget: Caps,
    /// Only read-only tools (`permissionMode: plan`).
    pub read_only: bool,
    /// Its own rules on paths, beside those of all above it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<Rule>>,
    /// Evidence.
    pub evidence: EvidenceMode,
    /// Wall time in milliseconds after which it ends as `deadline`; the smaller of this and its budget holds.
    pub timeout: Option<u64>,
    /// Whether it is given the project's context files; absent: only the root is.
    pub project_context: Option<bool>,
    /// Models that take a step over when the provider of the one before could not, as written: a role, an alias or
    /// `provider:model`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<String>,
    /// Reasoning effort.
    pub effort: Option<String>,
    /// Its author's version.
    pub version: Option<String>,
}

impl Definition {
    /// Content digest: two definitions with the same digest behave the same.
    pub fn digest(&self) -> Digest {
        digest::of(self)
    }

    /// Its own rules on paths as a list.
    pub fn layer(&self) -> Option<Layer> {
        let rules = self.permissions.clone()?;
        Some(Layer { source: Source::Agent(self.name.clone()), rules })
    }

    /// Every model that it names itself: its own, unless that is inherited, and its fallbacks.
    pub fn named_models(&self) -> impl Iterator<Item = ModelChoice> {
        let own = Some(self.model.clone()).filter(|model| *model != ModelChoice::Inherit);
        own.into_iter().chain(self.fallback.iter().cloned().map(ModelChoice::Named))
    }
}

/// What an operation of a tool does to the world, for the modes of a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Reads files of the workspace.
    Read,
    /// Writes files of the workspace.
    Write,
    /// Runs programs.
    Shell,
    /// Reaches the network.
    Net,
    /// None of these: an embedding program's own tool.
    Other,
}

/// An argument of a tool that names a file or a folder of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathArgument {
    /// Its name; a call that leaves it out means the workspace itself.
    pub name: String,
    /// What the tool does with it.
    pub uses: Vec<Use>,
}

/// A tool that this build can perform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: ToolName,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// Whether doing it twice does harm.
    pub effect: EffectClass,
    /// What it does to the world.
    pub operation: Operation,
    /// Its arguments that name paths. A tool that reads or writes files and names none is taken to use the workspace itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathArgument>,
}

/// Who fills a brief.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// The model or the child's definition gives every text.
    #[default]
    Strict,
    /// The model gives objective and agent, the rest may be derived.
    Assisted,
}

/// How a provider wants structured output to be asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Structured {
    /// Natively when the request offers no tools and asks for no report, else by prompt.
    #[default]
    Auto,
    /// Natively, always.
    Native,
    /// By prompt alone.
    Prompt,
}

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelLimits {
    /// Context window in tokens.
    pub context: u64,
    /// Whether somebody said so, a file or the server; else it is a guess.
    pub context_known: bool,
    /// Output limit in tokens.
    pub max_output: u64,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Structured output.
    pub structured: Structured,
    /// Whether to stream.
    pub streaming: bool,
}

impl Default for ModelLimits {
    fn default() -> ModelLimits {
        let structured = Structured::Auto;
        ModelLimits {
            context: 128_000,
            context_known: false,
            max_output: 8_000,
            temperature: None,
            structured,
            streaming: true,
        }
    }
}

/// Which models stand behind roles and aliases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Models {
    /// Role to model; `default` is always there once a run starts.
    pub roles: BTreeMap<String, ModelName>,
    /// Alias to role or model.
    pub aliases: BTreeMap<String, String>,
    /// What is known of single models.
    pub limits: BTreeMap<ModelName, ModelLimits>,
    /// Replaces every role, alias and named model.
    pub forced: Option<ModelName>,
}

/// A model and the role that chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The model.
    pub model: ModelName,
    /// The role; none when the model was named outright.
    pub role: Option<String>,
}

/// The roles that a team may set.
pub const ROLES: [&str; 4] = ["default", "fast", "think", "embedding"];

impl Models {
    /// The model behind a choice; `parent` is what `inherit` means.
    ///
    /// # Errors
    /// The text that names no role, alias or `provider:model`, or a role that nothing stands behind.
    pub fn resolve(&self, choice: &ModelChoice, parent: Option<&Chosen>) -> Result<Chosen, String> {
        let name = match (choice, parent) {
            (ModelChoice::Inherit, Some(parent)) => return Ok(parent.clone()),
            (ModelChoice::Inherit, None) => "default",
            (ModelChoice::Named(name), _) => name,
        };
        let name = self.aliases.get(name).map_or(name, String::as_str);
        let role = ROLES.contains(&name).then(|| name.to_string());
        if let Some(model) = &self.forced {
            return Ok(Chosen { model: model.clone(), role });
        }
        match &role {
            Some(r) => {
                let model = self.roles.get(r).or_else(|| self.roles.get("default")).ok_or_else(|| r.clone())?;
                Ok(Chosen { model: model.clone(), role })
            }
            None if name.contains(':') => Ok(Chosen { model: ModelName::new(name), role }),
            None => Err(name.to_string()),
        }
    }
    /// What is known of a model.
    pub fn limits(&self, model: &ModelName) -> ModelLimits {
        self.limits.get(model).copied().unwrap_or_default()
    }
}

/// How often and how long a failed model call is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts in all.
    pub attempts: u32,
    /// First delay in milliseconds; doubles each time, with full jitter.
    pub delay: u64,
    /// Longest delay in milliseconds.
    pub cap: u64,
    /// Longest time from the first attempt to the start of the last, in milliseconds; Retry-After is obeyed within it.
    pub total: u64,
    /// What follows when an overloaded provider has used them all up.
    #[serde(default)]
    pub then: WhenOverloaded,
}

/// What becomes of a model step whose provider stays overloaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhenOverloaded {
    /// It fails.
    #[default]
    Fail,
    /// It is parked until somebody takes the run up.
    Park,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        let then = WhenOverloaded::Fail;
        RetryPolicy { attempts: 4, delay: 500, cap: 30_000, total: 300_000, then }
    }
}

/// What becomes of an effectful step that was under way at a crash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InDoubt {
    /// It fails.
    #[default]
    Fail,
    /// It is done again.
    Retry,
}

/// How long texts may be before they are cut and kept beside the log, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLimits {
    /// A tool's result.
    pub tool_result: u64,
    /// A child's payload in its parent's request.
    pub child_summary: u64,
}

impl Default for OutputLimits {
    fn default() -> OutputLimits {
        OutputLimits { tool_result: 16_000, child_summary: 2_000 }
    }
}

/// How long a tool may take, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTimeouts {
    /// Every tool that is not named.
    pub default: u64,
    /// Single tools.
    pub by_tool: BTreeMap<ToolName, u64>,
}

impl Default for ToolTimeouts {
    fn default() -> ToolTimeouts {
        ToolTimeouts { default: 60_000, by_tool: BTreeMap::new() }
    }
}

/// A file of the project that agents are given as context.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFile {
    /// Its path as shown.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A team: its agents and everything the core needs to run them. Immutable during a run, which is pinned to the digest of
/// the setup that the team was loaded from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Team {
    /// Its name.
    pub name: String,
    /// The agent that a run starts with.
    pub root: AgentName,
    /// Who fills briefs.
    pub profile: Profile,
    /// Its agents.
    pub agents: BTreeMap<AgentName, Definition>,
    /// The tools that can be performed.
    pub tools: BTreeMap<ToolName, ToolSpec>,
    /// The tools that the tree may use at all.
    pub ceiling: Vec<ToolName>,
    /// What the policy says to operations; an absent one is allowed.
    pub permissions: BTreeMap<Operation, Permission>,
    /// Rules on paths that hold for every agent, beside the built-in ones.
    #[serde(skip_serializing_if = "Layers::is_empty")]
    pub layers: Layers,
    /// The absolute forms of the workspace, so that the gate reads an absolute path as the tools do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workspace: Vec<PathBuf>,
    /// Caps.
    pub budget: Budgets,
    /// Models.
    pub models: Models,
    /// Retries by provider; an absent one has the default.
    pub retry: BTreeMap<String, RetryPolicy>,
    /// Bounds of texts.
    pub output_limits: OutputLimits,
    /// Bounds of tools.
    pub tool_timeout: ToolTimeouts,
    /// Effectful steps in doubt.
    pub in_doubt: InDoubt,
    /// Context files.
    pub project_context: Vec<ContextFile>,
}

impl Team {
    /// What doing a tool twice means; an unknown tool is taken for harmful.
    pub fn effect(&self, tool: &ToolName) -> EffectClass {
        self.tools.get(tool).map_or(EffectClass::Effectful, |t| t.effect)
    }
}

/// Characters of an agent's description that a list of agents shows. Descriptions are kept whole; a list of twenty at this
/// length is about 5,000 tokens of every request of the agent that has it.
pub const LISTED_DESCRIPTION: usize = 1_000;

/// The names that stand for a delegation in an agent's tools; never a tool of the ceiling.
pub const DELEGATE: &str = "delegate";
