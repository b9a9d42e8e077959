//! What runs wait for, as documents; and whether a run waits.

use crate::docs::status_word;
use crate::time::rfc3339;
use deputize_core::code::Code;
use deputize_core::id::{AgentPath, RunId, Time};
use deputize_core::projection::{self, RunView, Tree, WaitRow};
use serde::Serialize;
use serde_json::Value;

/// `show --waiting`.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingListDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Everything that is waited for, newest tree first.
    pub waiting: Vec<WaitingDoc>,
}

/// One thing that a run waits for. Fields that belong to another kind are null.
#[derive(Clone, Debug, Serialize)]
pub struct WaitingDoc {
    /// Unique in the store, the same after every restart: the step's id.
    pub id: String,
    /// The run that waits.
    pub run_id: RunId,
    /// The root of its tree.
    pub root: RunId,
    /// Its agent.
    pub agent: String,
    /// Its path by names.
    pub path: AgentPath,
    /// `provider`.
    pub kind: &'static str,
    /// The tool that a person is asked about.
    pub tool: Option<String>,
    /// Its arguments.
    pub arguments: Option<Value>,
    /// Digest of these.
    pub arguments_digest: Option<String>,
    /// What a person is asked.
    pub questions: Option<Value>,
    /// Why it waits.
    pub reason_code: Code,
    /// The same in one sentence.
    pub reason: String,
    /// Since when.
    pub since: String,
    /// Until when; null: until the run is taken up.
    pub until: Option<String>,
    /// The same moment, for text.
    #[serde(skip)]
    pub until_time: Option<Time>,
    /// When the question is void.
    pub expires: Option<String>,
    /// The literal command that goes on.
    pub command: String,
}

/// What a run and all below it wait for.
pub fn waiting_docs(tree: &Tree, id: &RunId) -> Vec<WaitingDoc> {
    let doc = |row: WaitRow| WaitingDoc {
        id: format!("{}/{}", row.run, row.step),
        root: row.run.root(),
        command: format!("deputize resume {}", row.run.root()),
        run_id: row.run,
        agent: row.agent.to_string(),
        path: row.path,
        kind: "provider",
        tool: None,
        arguments: None,
        arguments_digest: None,
        questions: None,
        reason_code: row.code,
        reason: row.why,
        since: rfc3339(row.since),
        until: row.until.map(rfc3339),
        until_time: row.until,
        expires: None,
    };
    projection::waiting(tree, id).into_iter().map(doc).collect()
}

/// The word for the state of a run in its tree.
pub fn status_in(tree: &Tree, run: &RunView, live: bool) -> &'static str {
    match run.state.summary() {
        None if projection::waits(tree, &run.id) => "waiting",
        summary => status_word(summary.map(|s| s.status), live),
    }
}
