//! The ports: what the runtime needs of the world. Owns the traits; adapters implement them, the driver calls them.

use deputize_core::code::Code;
use deputize_core::definition::ToolSpec;
use deputize_core::event::Recorded;
use deputize_core::id::{AgentName, AgentPath, Digest, Label, RunId, Time, ToolName};
use deputize_core::message::{Request, Turn, Usage};
use deputize_core::policy::Layers;
use deputize_core::step::{Failure, Note};
use deputize_core::summary::Terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A boxed future, so that ports are object-safe.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who performs a step: enough for a key, a script, a log line.
#[derive(Clone, Debug)]
pub struct Who {
    /// The run.
    pub run: RunId,
    /// Its agent.
    pub agent: AgentName,
    /// Its path by names.
    pub path: AgentPath,
    /// The step.
    pub label: Label,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The lists of rules on paths that hold for the run, beside the built-in one. What the gate has let through is allowed
    /// as it is written; a tool that touches files asks again about the place that a path leads to, and about everything
    /// that it comes across below it.
    pub permissions: Layers,
}

impl Who {
    /// The idempotency key: step id and attempt.
    pub fn key(&self) -> String {
        format!("{}/{}#{}", self.run, self.label, self.attempt)
    }
}

/// A model's answer and what it used.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The answer.
    pub turn: Turn,
    /// Tokens, as the provider counted them; estimated by the adapter when it did not.
    pub usage: Usage,
}

/// A failed model call: the failure, and what it used all the same.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFailure {
    /// Why.
    pub failure: Failure,
    /// Tokens that are known to be paid.
    pub usage: Usage,
}

impl From<Failure> for ModelFailure {
    fn from(failure: Failure) -> ModelFailure {
        ModelFailure { failure, usage: Usage::default() }
    }
}

/// Text that a model is just saying; shown live, never stored.
pub type Delta = Arc<dyn Fn(&str) + Send + Sync>;

/// A call that waits for its turn; nothing has been sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The provider's name.
    pub provider: Arc<str>,
    /// Calls that have come before it and wait, too.
    pub ahead: usize,
    /// When its turn comes at the earliest, if that is known.
    pub until: Option<Time>,
}

/// Hears of a call that waits for its turn; shown live, never stored.
pub type Notice = Arc<dyn Fn(&Queued) + Send + Sync>;

/// A model provider, or several behind one door: `request.model` says which.
pub trait Model: Send + Sync {
    /// Performs one call. Dropping the future cancels it. Retries are the core's: one call here is one request.
    fn call<'a>(&'a self, who: &'a Who, request: &'a Request, delta: Delta)
    -> Pending<'a, Result<Reply, ModelFailure>>;
    /// As [`Model::call`]; `queued` hears of it when the call has to wait for its turn first. A provider without limits has
    /// nothing to say; whoever wraps one passes this on.
    fn call_in_turn<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
        queued: Notice,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        drop(queued);
        self.call(who, request, delta)
    }
}

/// The tools of a workspace.
pub trait Tools: Send + Sync {
    /// What can be performed.
    fn specs(&self) -> Vec<ToolSpec>;
    /// For a tool whose effect must be told apart from its absence after a crash: what the world looks like before.
    /// The note is in the log before the effect. `None`: nothing to note.
    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>>;
    /// Performs one call; `note` is what [`Tools::prepare`] gave, perhaps in an earlier process. Dropping the future cancels it:
    /// when the drop returns, nothing of the call goes on. Whoever starts processes kills their whole group in a destructor;
    /// the driver awaits the drop of what it stops before it reports that the tree has ended.
    /// The text may be of any size; the driver bounds what a model sees.
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>>;
    /// Whether a path of the workspace exists, for success predicates.
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool>;
}

/// Time. The driver asks nothing else for it.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Time;
    /// Returns at or after this moment.
    fn sleep_until(&self, at: Time) -> Pending<'static, ()>;
}

/// Ids of root runs.
pub trait Ids: Send + Sync {
    /// A new one: short, unique, without `/`.
    fn run(&self) -> RunId;
}

/// Why a store could not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The log has another length than expected: another driver wrote.
    #[error("the log of {run} is at {found}, not at {expected}: another driver wrote to it")]
    Conflict {
        /// The run.
        run: RunId,
        /// The length that was expected.
        expected: u64,
        /// The length that was found.
        found: u64,
    },
    /// The tree is under a later lease.
    #[error("the tree of {root} has a newer driver (epoch {found}, this one has {epoch})")]
    Fenced {
        /// The root.
        root: RunId,
        /// The epoch of the append.
        epoch: u64,
        /// The epoch in the store.
        found: u64,
    },
    /// The store was made by a later version of the program.
    #[error("the store {path} has schema {found}, this build knows up to {known}: use a newer deputize")]
    Newer {
        /// Where.
        path: String,
        /// Its schema.
        found: i64,
        /// The highest that is known.
        known: i64,
    },
    /// A record cannot be read.
    #[error("the log of {run} is damaged at {seq}: {why}")]
    Damaged {
        /// The run.
        run: RunId,
        /// The place.
        seq: u64,
        /// Why.
        why: String,
    },
    /// The disk, the file system, the database.
    #[error("{0}")]
    Failed(String),
}

/// What is appended to one log.
#[derive(Clone, Debug)]
pub struct Append {
    /// The log.
    pub run: RunId,
    /// `seq` of the first event; must be the length of the log.
    pub expected: u64,
    /// The events, with consecutive `seq` from `expected`. Never empty.
    pub events: Vec<Recorded>,
}

/// A line of the list of runs, kept by the store from the first and the last event of each log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunHead {
    /// The run.
    pub run: RunId,
    /// The root of its tree.
    pub root: RunId,
    /// Its agent.
    pub agent: AgentName,
    /// Its team's name.
    pub team: String,
    /// Its objective.
    pub objective: String,
    /// When it started.
    pub started: Time,
    /// When its last event was appended.
    pub updated: Time,
    /// How it ended, if it has.
    pub status: Option<Terminal>,
}

/// A command for a tree from another process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Signal {
    /// End this run and all below it.
    Cancel {
        /// The run.
        run: RunId,
        /// Who asks.
        by: String,
    },
    /// Say this to the model of a run.
    Say {
        /// The run.
        run: RunId,
        /// What.
        text: String,
        /// Who.
        by: String,
    },
}

/// A signal that has not been acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number in the store; later signals have greater ones.
    pub id: u64,
    /// What is asked.
    pub signal: Signal,
}

/// Logs of runs. Reads may lag behind nothing: what `append` returned for is seen by every later read.
pub trait EventStore: Send + Sync {
    /// Takes the tree over: every append of an earlier epoch fails from now on. Returns the new epoch, from 1.
    fn lease<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<u64, StoreError>>;
    /// Appends to one or more logs of one tree. Once it returns, all of it is durable; if it fails, none of it is there.
    fn append<'a>(&'a self, root: &'a RunId, epoch: u64, batch: Vec<Append>) -> Pending<'a, Result<(), StoreError>>;
    /// One log from a place on, in order; empty when there is no such run.
    fn read<'a>(&'a self, run: &'a RunId, from: u64) -> Pending<'a, Result<Vec<Recorded>, StoreError>>;
    /// The runs of a tree, parents before children, siblings in order of their start; empty when there is no such root.
    fn tree<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<RunHead>, StoreError>>;
    /// Root runs, newest first, at most `most`.
    fn roots(&self, most: usize) -> Pending<'_, Result<Vec<RunHead>, StoreError>>;
    /// Runs whose id begins with this text, at most `most`; roots before children.
    fn find<'a>(&'a self, prefix: &'a str, most: usize) -> Pending<'a, Result<Vec<RunHead>, StoreError>>;
    /// Leaves a signal for the driver of a tree.
    fn signal<'a>(&'a self, root: &'a RunId, signal: Signal) -> Pending<'a, Result<(), StoreError>>;
    /// Signals of a tree that have not been acknowledged, in order.
    fn signals<'a>(&'a self, root: &'a RunId) -> Pending<'a, Result<Vec<Waiting>, StoreError>>;
    /// What these signals asked for is durable: they are not returned again. Unknown numbers are ignored.
    fn acknowledge<'a>(&'a self, root: &'a RunId, ids: Vec<u64>) -> Pending<'a, Result<(), StoreError>>;
}

/// Content beside the logs, by its digest.
pub trait BlobStore: Send + Sync {
    /// Keeps content; keeping the same twice is one.
    fn put(&self, content: Vec<u8>) -> Pending<'_, Result<Digest, StoreError>>;
    /// The content of a digest; none when it was never kept.
    fn get<'a>(&'a self, digest: &'a Digest) -> Pending<'a, Result<Option<Vec<u8>>, StoreError>>;
}

/// Both halves of a store behind one door.
pub trait Store: EventStore + BlobStore {}
impl<T: EventStore + BlobStore> Store for T {}

/// A store error as a reason code for people and machines.
pub fn store_code(error: &StoreError) -> Code {
    Code::other(match error {
        StoreError::Conflict { .. } | StoreError::Fenced { .. } => "store.fenced",
        StoreError::Newer { .. } => "store.newer",
        StoreError::Damaged { .. } => "store.damaged",
        StoreError::Failed(_) => "store.failed",
    })
}
