//! The documents. Every one carries `"schema": 1`; a change that breaks readers raises it.

use crate::time::rfc3339;
use crate::waiting::{WaitingDoc, status_in, waiting_docs};
use deputize_core::budget::Spend;
use deputize_core::code::Code;
use deputize_core::event::{Choice, Recorded};
use deputize_core::id::{AgentPath, Label, RunId};
use deputize_core::message::{BlobRef, Usage};
use deputize_core::projection::{self, DelegationRow, RunView, StepRow, Tree};
use deputize_core::summary::{Evidence, Finding, Judged, Terminal};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// The version of all documents.
pub const SCHEMA: u32 = 1;

/// What a run and all below it used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UsageDoc {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// The cached part of the input.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Model calls, retries and repairs included.
    pub model_calls: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Runs, the root included.
    pub runs: u64,
    /// The tokens by role and model; they sum to the totals.
    pub by_model: Vec<ModelUsageDoc>,
}

/// The tokens of one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelUsageDoc {
    /// The role that chose it.
    pub role: Option<String>,
    /// The model.
    pub model: String,
    /// Input tokens.
    pub input_tokens: u64,
    /// Cached input tokens.
    pub cached_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
}

impl From<&Spend> for UsageDoc {
    fn from(spend: &Spend) -> UsageDoc {
        let by_model = spend.by_model.iter().map(|m| ModelUsageDoc {
            role: m.role.clone(),
            model: m.model.to_string(),
            input_tokens: m.usage.input_tokens,
            cached_tokens: m.usage.cached_tokens,
            output_tokens: m.usage.output_tokens,
        });
        UsageDoc {
            input_tokens: spend.usage.input_tokens,
            cached_tokens: spend.usage.cached_tokens,
            output_tokens: spend.usage.output_tokens,
            model_calls: spend.model_calls,
            tool_calls: spend.tool_calls,
            runs: spend.runs,
            by_model: by_model.collect(),
        }
    }
}

/// Money. This build has no prices: every model that was used is unpriced.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CostDoc {
    /// Dollars; null when a price is unknown.
    pub usd: Option<f64>,
    /// The date of the prices.
    pub prices_dated: Option<String>,
    /// Models without a price.
    pub unpriced: Vec<String>,
}

impl From<&Spend> for CostDoc {
    fn from(spend: &Spend) -> CostDoc {
        let mut unpriced: Vec<String> = spend.by_model.iter().map(|m| m.model.to_string()).collect();
        unpriced.sort();
        unpriced.dedup();
        CostDoc { usd: None, prices_dated: None, unpriced }
    }
}

/// One run, as `run`, `resume` and `show` print it.
#[derive(Clone, Debug, Serialize)]
pub struct RunDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The body.
    #[serde(flatten)]
    pub run: RunBody,
    /// What it and all below it wait for; only there when something does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<WaitingDoc>,
}

/// The fields of a run that every document shares.
#[derive(Clone, Debug, Serialize)]
pub struct RunBody {
    /// Its id.
    pub run_id: RunId,
    /// The root of its tree.
    pub root: RunId,
    /// Its parent run.
    pub parent: Option<RunId>,
    /// 0 for the root.
    pub depth: u32,
    /// The team's name.
    pub team: String,
    /// The agent.
    pub agent: String,
    /// The objective.
    pub objective: String,
    /// A terminal state, or `running`, `interrupted`, `waiting`.
    pub status: &'static str,
    /// Whether the payload was synthesised at a limit or cut short.
    pub partial: bool,
    /// The cap that tripped.
    pub limit: Option<String>,
    /// Why it did not succeed.
    pub reason_code: Option<Code>,
    /// The same in one sentence.
    pub reason: Option<String>,
    /// The result.
    pub payload: Value,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Governance findings.
    pub findings: Vec<Finding>,
    /// The success conditions and who judged them.
    pub success: Vec<Judged>,
    /// Tokens and calls: of the whole subtree in `run`, `resume`, `show`; of the run alone in `trace`.
    pub usage: UsageDoc,
    /// Money, over the same runs as `usage`.
    pub cost: CostDoc,
    /// When it started.
    pub started: Option<String>,
    /// When it was over.
    pub ended: Option<String>,
    /// Choices made for the user.
    pub choices: Vec<Choice>,
    /// The literal command to type next.
    pub next: Option<String>,
}

/// `trace`.
#[derive(Clone, Debug, Serialize)]
pub struct TraceDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The runs, parents before children, children in call order.
    pub runs: Vec<TracedRun>,
}

/// One run of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct TracedRun {
    /// The body; its `usage` is the run's own.
    #[serde(flatten)]
    pub run: RunBody,
    /// Usage of the whole subtree.
    pub usage_tree: UsageDoc,
    /// Its path by names.
    pub path: Option<AgentPath>,
    /// Its model.
    pub model: Option<String>,
    /// The complete brief, every field with its origin.
    pub brief: Value,
    /// Its steps.
    pub steps: Vec<StepDoc>,
    /// Its delegations, in call order.
    pub delegations: Vec<DelegationDoc>,
    /// The raw events, when they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Recorded>>,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct StepDoc {
    /// Its label.
    pub label: Label,
    /// `model`, `tool`, `delegate`, `probe`, `decide`.
    pub kind: &'static str,
    /// Who asked for it.
    pub agent: String,
    /// The tool, the child, or the model.
    pub name: String,
    /// The newest attempt.
    pub attempt: u32,
    /// `open`, `retry`, `waiting`, `ok`, `failed`, `denied`.
    pub status: &'static str,
    /// Why it failed or was denied.
    pub reason_code: Option<Code>,
    /// When it first appeared.
    pub started: String,
    /// When it was done.
    pub ended: Option<String>,
    /// Tokens of all its attempts.
    pub usage: Usage,
    /// What of these is presumed, since nobody knows what a lost attempt used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub presumed: Option<Usage>,
}

/// One delegation.
#[derive(Clone, Debug, Serialize)]
pub struct DelegationDoc {
    /// The step.
    pub step: Label,
    /// The child's name, or the name that was asked for.
    pub agent: String,
    /// The task type that was asked for.
    pub task_type: Option<String>,
    /// `delegated`, `degraded`, `rejected`.
    pub mode: deputize_core::brief::Mode,
    /// Why it was refused or did not succeed.
    pub reason_code: Option<Code>,
    /// The same in one sentence.
    pub reason: Option<String>,
    /// Digest of the brief.
    pub brief_digest: String,
    /// The child's run.
    pub child_run_id: Option<RunId>,
    /// How the child ended.
    pub status: Option<&'static str>,
    /// Its whole payload, when it is kept beside the log.
    pub artifact: Option<BlobRef>,
}

/// `runs`.
#[derive(Clone, Debug, Serialize)]
pub struct RunsDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// Root runs, newest first.
    pub runs: Vec<RunLine>,
}

/// One line of `runs`.
#[derive(Clone, Debug, Serialize)]
pub struct RunLine {
    /// Its id.
    pub run_id: RunId,
    /// The root of its tree.
    pub root: RunId,
    /// The team's name.
    pub team: String,
    /// The agent.
    pub agent: String,
    /// The objective.
    pub objective: String,
    /// A terminal state, or `running`, `interrupted`, `waiting`.
    pub status: &'static str,
    /// When it started.
    pub started: String,
    /// When it was over.
    pub ended: Option<String>,
    /// Of the whole tree.
    pub usage: UsageDoc,
    /// Of the whole tree.
    pub cost: CostDoc,
}

/// `run --detach --json`.
#[derive(Clone, Debug, Serialize)]
pub struct DetachDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The run that goes on in the background.
    pub run_id: RunId,
}

/// `init`.
#[derive(Clone, Debug, Serialize)]
pub struct InitDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The template.
    pub template: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Their paths in there.
    pub files: Vec<String>,
    /// The command to type next.
    pub next: String,
}

/// An error as the one document of `--json`.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorDoc {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The error.
    pub error: ErrorBody,
}

/// What went wrong, and what to do.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ErrorBody {
    /// A stable code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do instead.
    pub hint: Option<String>,
    /// The file it is about.
    pub file: Option<String>,
    /// Line from 1.
    pub line: Option<u32>,
    /// Column from 1, in characters.
    pub column: Option<u32>,
}

/// `check`. The agents are the loader's own listing.
#[derive(Clone, Debug, Serialize)]
pub struct CheckDoc<A: Serialize, M: Serialize, S: Serialize> {
    /// See [`SCHEMA`].
    pub schema: u32,
    /// The agents.
    pub agents: Vec<A>,
    /// The messages, sorted by file, line, code.
    pub messages: Vec<M>,
    /// With `--explain-config`: every value and where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<Vec<S>>,
}

/// The word for a run's state: its terminal state, else whether somebody drives its tree.
pub fn status_word(terminal: Option<Terminal>, live: bool) -> &'static str {
    match terminal {
        Some(terminal) => terminal.word(),
        None if live => "running",
        None => "interrupted",
    }
}

/// The command to type next; none when there is nothing to do.
pub fn next_command(terminal: Option<Terminal>, live: bool, id: &RunId) -> Option<String> {
    match terminal {
        Some(Terminal::Succeeded) => None,
        Some(_) => Some(format!("deputize trace {id}")),
        None if live => Some(format!("deputize show {id}")),
        None => Some(format!("deputize resume {}", id.root())),
    }
}

/// One run of a tree; none when the tree has no such run. `live`: somebody drives it now.
pub fn run_doc(tree: &Tree, id: &RunId, live: bool) -> Option<RunDoc> {
    let run = tree.run(id)?;
    Some(RunDoc { schema: SCHEMA, run: body(tree, run, &tree.spent(id), live), waiting: waiting_docs(tree, id) })
}

/// A whole tree, or the subtree of `id`.
pub fn trace_doc(tree: &Tree, id: &RunId, live: bool, events: bool) -> TraceDoc {
    let traced = |run: &RunView| TracedRun {
        run: body(tree, run, &run.own, live),
        usage_tree: UsageDoc::from(&tree.spent(&run.id)),
        path: run.state.started().map(|s| s.path.clone()),
        model: run.state.started().map(|s| s.model.to_string()),
        brief: run.state.started().and_then(|s| serde_json::to_value(&s.brief).ok()).unwrap_or_default(),
        steps: projection::steps(run).into_iter().map(step).collect(),
        delegations: projection::delegations(run).into_iter().map(delegation).collect(),
        events: events.then(|| run.log.clone()),
    };
    TraceDoc { schema: SCHEMA, runs: tree.subtree(id).map(traced).collect() }
}

/// One line of `runs` for the root of a tree.
pub fn run_line(tree: &Tree, root: &RunId, live: bool) -> Option<RunLine> {
    let RunDoc { run, .. } = run_doc(tree, root, live)?;
    Some(RunLine {
        run_id: run.run_id,
        root: run.root,
        team: run.team,
        agent: run.agent,
        objective: run.objective,
        status: run.status,
        started: run.started.unwrap_or_default(),
        ended: run.ended,
        usage: run.usage,
        cost: run.cost,
    })
}

fn body(tree: &Tree, run: &RunView, spent: &Spend, live: bool) -> RunBody {
    let summary = run.state.summary();
    let started = run.state.started();
    let terminal = summary.map(|s| s.status);
    RunBody {
        run_id: run.id.clone(),
        root: run.id.root(),
        parent: run.parent().map(|(p, _)| p.clone()),
        depth: started.map_or(0, |s| s.depth),
        team: started.map(|s| s.team_name.clone()).unwrap_or_default(),
        agent: started.map(|s| s.agent.to_string()).unwrap_or_default(),
        objective: started.map(|s| s.brief.objective.value.clone()).unwrap_or_default(),
        status: status_in(tree, run, live),
        partial: summary.is_some_and(|s| s.partial),
        limit: summary.and_then(|s| s.limit.clone()),
        reason_code: summary.and_then(|s| s.reason_code.clone()),
        reason: summary.and_then(|s| s.reason.clone()),
        payload: summary.map(|s| s.payload.clone()).unwrap_or_default(),
        evidence: run.state.evidence(),
        findings: run.state.findings().to_vec(),
        success: summary.map(|s| s.success.clone()).unwrap_or_default(),
        usage: UsageDoc::from(spent),
        cost: CostDoc::from(spent),
        started: run.started().map(rfc3339),
        ended: run.ended().map(rfc3339),
        choices: started.map(|s| s.choices.clone()).unwrap_or_default(),
        next: next_command(terminal, live, &run.id),
    }
}

fn step(row: StepRow) -> StepDoc {
    StepDoc {
        label: row.label,
        kind: row.kind,
        agent: row.agent.to_string(),
        name: row.name,
        attempt: row.attempt,
        status: row.status,
        reason_code: row.reason_code,
        started: rfc3339(row.started),
        ended: row.ended.map(rfc3339),
        usage: row.usage,
        presumed: (row.presumed != Usage::default()).then_some(row.presumed),
    }
}

fn delegation(row: DelegationRow) -> DelegationDoc {
    DelegationDoc {
        step: row.step,
        agent: row.agent,
        task_type: row.task_type,
        mode: row.mode,
        reason_code: row.reason_code,
        reason: row.reason,
        brief_digest: row.brief_digest.to_string(),
        child_run_id: row.child,
        status: row.status.map(Terminal::word),
        artifact: row.artifact,
    }
}
