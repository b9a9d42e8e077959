//! What loading gives: everything that a run needs, and what `check` lists. Plain data; a setup holds no secret, since it
//! is stored with the run and read again at resume.

use super::explain::Setting;
use deputize_core::definition::Team;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use deputize_core::policy::Layers;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Which adapter serves a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// An OpenAI-compatible server.
    Openai,
    /// Google's Gemini.
    Gemini,
    /// An Ollama server by its own interface.
    Ollama,
    /// Anthropic's Messages API.
    Anthropic,
    /// A script instead of a model.
    Scripted,
}

/// Who gave the address of a provider. It decides which credentials may go there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The project's `deputize.yaml`.
    Project,
    /// The person's own configuration.
    User,
    /// The environment.
    Env,
    /// The provider's public address.
    Default,
}

/// Time limits of one model call, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// To connect.
    pub connect: u64,
    /// Until the answer begins.
    pub first_byte: u64,
    /// Between two pieces of the answer.
    pub idle: u64,
    /// In all.
    pub total: u64,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { connect: 10_000, first_byte: 120_000, idle: 60_000, total: 600_000 }
    }
}

/// How much of a provider is used at once and in a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Calls at the same time.
    pub concurrency: u32,
    /// Requests in any minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    /// Tokens in any minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { concurrency: 8, requests_per_minute: None, tokens_per_minute: None }
    }
}

/// A provider, ready to be connected to. Its retries are in [`Team::retry`], since the core decides on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provider {
    /// Which adapter.
    pub kind: ProviderKind,
    /// Address as the kind's default has it, without a final `/`; empty for a script.
    pub base_url: String,
    /// Who gave that address.
    pub base_url_from: Origin,
    /// The variable with the credential; none: no credential is sent. The loader has already left out a variable that
    /// may not go to this address.
    pub api_key_env: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Members of every request's body.
    pub body: Map<String, Value>,
    /// For a script: its file, absolute.
    pub script: Option<PathBuf>,
    /// Certificates to trust beside the system's; absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The proxy on the way, or `none`; absent: as the environment says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// The variable with the proxy's credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_auth_env: Option<String>,
    /// Time limits.
    pub timeout: Timeouts,
    /// Use at once.
    pub limits: Limits,
}

/// How safe an append of the store is against a power cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sync {
    /// Every append is on the disk before it counts.
    #[default]
    Full,
    /// A power cut may lose the last moments; a crash of the program never does.
    Normal,
}

/// Where logs are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreChoice {
    /// The file, absolute; absent: the one of the state folder.
    pub path: Option<PathBuf>,
    /// Its safety.
    pub sync: Sync,
}

/// Everything that a run needs beside its objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// The agents and all that the core knows.
    pub team: Team,
    /// Providers by the name before the colon of `provider:model`.
    pub providers: BTreeMap<String, Provider>,
    /// The folder that tools work in, absolute.
    pub workspace: PathBuf,
    /// The store.
    pub store: StoreChoice,
    /// Whether the folder has no `deputize.yaml`, so that the ceiling `workspace` holds.
    pub foreign: bool,
    /// The team's folder, as it is shown.
    pub project: String,
}

/// One agent as `check --json` lists it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// Its name in normal form.
    pub name: String,
    /// Its name as the file has it.
    pub name_as_written: String,
    /// Its whole description.
    pub description: String,
    /// Tools as written: null when absent, a list, or the text `all`.
    pub tools: Value,
    /// What it may call here.
    pub tools_resolved: Vec<String>,
    /// What it may not call, as written.
    pub disallowed: Vec<String>,
    /// What it may pass on here.
    pub grant: Vec<String>,
    /// Whom it may delegate to.
    pub agents: Vec<String>,
    /// Its model as written.
    pub model: Option<String>,
    /// Its cap on turns, if the file sets one.
    pub max_turns: Option<u64>,
    /// The lists of rules on paths that hold for it on the shortest way from the root: those that somebody wrote.
    #[serde(skip_serializing_if = "Layers::is_empty")]
    pub permissions: Layers,
    /// Skills as written.
    pub skills: Vec<String>,
    /// The system prompt.
    pub body: String,
    /// Its file relative to the current folder.
    pub file: Option<String>,
    /// The `load` entry it came from; `user` for the person's own, `.` for a folder or file that was named.
    pub source: String,
    /// Whether its front matter was no YAML and was read line by line.
    pub repaired: bool,
}

/// What loading gave.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What a run needs; absent when there are errors.
    pub setup: Option<Setup>,
    /// Every message, sorted by file, line, code.
    pub messages: Vec<Message>,
    /// The agents that loaded from files, by name.
    pub agents: Vec<Listing>,
    /// Texts of the files that messages point into, by the name that the messages use.
    pub sources: BTreeMap<String, String>,
    /// File and place of every key of the configurations, by its path; the project's where both have it.
    pub places: BTreeMap<String, (String, Place)>,
    /// Every value that a run would use and where it came from.
    pub settings: Vec<Setting>,
}

impl Loaded {
    /// What keeps a run from starting: the errors, and each model that nothing stands behind.
    pub fn blockers(&self) -> Vec<Message> {
        let forced = self.setup.as_ref().is_some_and(|s| s.team.models.forced.is_some());
        let blocks = |m: &&Message| m.level == Level::Error || (m.code == "model.unknown" && !forced);
        let raised = |m: &Message| Message { level: Level::Error, ..m.clone() };
        self.messages.iter().filter(blocks).map(raised).collect()
    }
}
