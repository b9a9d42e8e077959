//! What the loader is asked: everything it knows of the outside world comes in here, since only the command line reads
//! environment, arguments and current folder.

use deputize_core::definition::ToolSpec;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Why a team is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To run it: a folder that holds only `AGENTS.md` is a project, too.
    #[default]
    Run,
    /// To look at it.
    Check,
}

/// What flags say; they win over every file.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--model P:M`: replaces every role, alias and named model.
    pub model: Option<String>,
    /// `--role fast=P:M`.
    pub roles: Vec<(String, String)>,
    /// `--budget-KEY VALUE`, the key as in the file (`tool_calls`).
    pub budgets: Vec<(String, String)>,
    /// `--allow write`.
    pub allow: Vec<String>,
    /// `--script FILE`, relative to the current folder.
    pub script: Option<PathBuf>,
}

/// A load. Has no `Debug` form, since `env` may hold keys.
#[derive(Clone, Default)]
pub struct LoadRequest {
    /// Why.
    pub purpose: Purpose,
    /// A folder, a `deputize.yaml` or an agent file as the person wrote it; absent: the current folder.
    pub team: Option<PathBuf>,
    /// The current folder, absolute.
    pub cwd: PathBuf,
    /// `--agent NAME`: the root.
    pub agent: Option<String>,
    /// `--workspace DIR`, relative to the current folder.
    pub workspace: Option<PathBuf>,
    /// Flags.
    pub overrides: Overrides,
    /// `$XDG_CONFIG_HOME/deputize/config.yaml`, whether it exists or not.
    pub user_config: Option<PathBuf>,
    /// Folders of the person's own agents, read when the team says `user_agents: true`.
    pub user_agents: Vec<PathBuf>,
    /// The tools that this build can perform.
    pub tools: Vec<ToolSpec>,
    /// The environment. Values of keys are never copied from it, only whether they are there.
    pub env: BTreeMap<String, String>,
}
