//! The file forms: what an agent file and a `deputize.yaml` say, before the loader has looked at the rest of the world.
//! Names of tools, agents and models are still as written, with the place they stand at.

use super::node::Place;
use super::{Definition, InDoubt, ModelLimits, OutputLimits, Profile, RetryPolicy, ToolTimeouts};
use crate::budget::Caps;
use crate::policy::Rule;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A value and where it stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub at: Place,
}

/// A list that may also be everything.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// `*`.
    All(Place),
    /// These.
    Listed(Vec<At<String>>),
}

/// An agent file.
#[derive(Clone, Debug, Default)]
pub struct AgentSpec {
    /// Everything that needs no look at other files; tools, grant, agents, body and an `output` path are still missing.
    pub definition: Definition,
    /// The name as written.
    pub name: Option<At<String>>,
    /// The model as written.
    pub model: Option<At<String>>,
    /// Its fallbacks as written.
    pub fallback: Vec<At<String>>,
    /// Tools as written, without the entries that stand for delegation; none when the key is absent.
    pub tools: Option<Choice>,
    /// Where `tools` stands.
    pub tools_at: Option<Place>,
    /// Every entry of `tools` as written.
    pub tools_written: Vec<String>,
    /// Tools that are taken away, as written.
    pub disallowed: Vec<At<String>>,
    /// Every entry of `disallowedTools` as written.
    pub disallowed_written: Vec<String>,
    /// Tools it may pass on, as written.
    pub grant: Option<Choice>,
    /// Whom it may delegate to; none: nobody.
    pub agents: Option<Choice>,
    /// Agents taken away by `disallowedTools: Agent(x)`.
    pub agents_denied: Vec<String>,
    /// `supervisor` or `single`.
    pub composition: &'static str,
    /// Path of the output schema.
    pub output_path: Option<At<String>>,
    /// Skills as written.
    pub skills: Vec<String>,
    /// Whether only those who name it may delegate to it: `*` passes it over.
    pub standalone: bool,
    /// Its rules on paths, each with its place.
    pub permissions: Option<At<Vec<At<Rule>>>>,
}

/// The front matter of a skill.
#[derive(Clone, Debug, Default)]
pub struct SkillSpec {
    /// Its name as written.
    pub name: Option<At<String>>,
    /// When to use it.
    pub description: Option<At<String>>,
}

/// What a file says of a provider.
#[derive(Clone, Debug, Default)]
pub struct ProviderSpec {
    /// Its kind as written.
    pub kind: Option<At<String>>,
    /// Its address, checked, without a final `/`.
    pub base_url: Option<At<String>>,
    /// The variable with its credential.
    pub api_key_env: Option<At<String>>,
    /// A file with certificates.
    pub ca_file: Option<At<String>>,
    /// A proxy, checked, or `none`.
    pub proxy: Option<At<String>>,
    /// The variable with the proxy's credential.
    pub proxy_auth_env: Option<At<String>>,
    /// Headers.
    pub headers: BTreeMap<String, String>,
    /// Members of the body.
    pub body: Map<String, Value>,
    /// Script.
    pub script: Option<At<String>>,
    /// Milliseconds: connect, first byte, idle, total.
    pub timeout: [Option<u64>; 4],
    /// Retries.
    pub retry: Option<RetryPolicy>,
    /// Calls at once.
    pub concurrency: Option<u32>,
    /// Requests in any minute.
    pub requests_per_minute: Option<u64>,
    /// Tokens in any minute.
    pub tokens_per_minute: Option<u64>,
}

/// What a file says of budgets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetSpec {
    /// Caps of a run.
    pub run: Caps,
    /// Caps of the tree.
    pub tree: Caps,
    /// Depth.
    pub depth: Option<u32>,
    /// Concurrency.
    pub concurrency: Option<u32>,
    /// Handoffs.
    pub hops: Option<u32>,
}

/// What `check:` makes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// Nothing is said.
    Off,
}

/// A `deputize.yaml`, or the person's own configuration, which has fewer keys.
#[derive(Clone, Debug, Default)]
pub struct TeamSpec {
    /// Who fills briefs.
    pub profile: Option<Profile>,
    /// Name.
    pub name: Option<String>,
    /// Root as written.
    pub root: Option<At<String>>,
    /// Folders and globs of agent files.
    pub load: Option<Vec<At<String>>>,
    /// Whether the person's own agents are read.
    pub user_agents: bool,
    /// Context files.
    pub project_context: Option<Vec<At<String>>>,
    /// Workspace.
    pub workspace: Option<At<String>>,
    /// The ceiling as written.
    pub tools: Option<Vec<At<String>>>,
    /// Rules on paths, each with its place.
    pub permissions: Option<At<Vec<At<Rule>>>>,
    /// Providers by name.
    pub providers: BTreeMap<String, At<ProviderSpec>>,
    /// Roles.
    pub roles: BTreeMap<String, At<String>>,
    /// Aliases.
    pub aliases: BTreeMap<String, At<String>>,
    /// Models.
    pub models: BTreeMap<String, At<ModelLimits>>,
    /// Budgets.
    pub budget: BudgetSpec,
    /// Bounds of texts.
    pub output_limits: Option<OutputLimits>,
    /// Bounds of tools.
    pub tool_timeout: Option<ToolTimeouts>,
    /// Effectful steps in doubt.
    pub in_doubt: Option<InDoubt>,
    /// Path of the store.
    pub store_path: Option<At<String>>,
    /// Whether the store may be lazier (`sync: normal`); none when the file does not say.
    pub store_lazy: Option<bool>,
    /// Levels of messages.
    pub check: BTreeMap<String, At<Severity>>,
}
