//! Performing a started step: a task of its own for each, bounded in time, whose panic is an outcome like any other.

use super::{Driver, Landed, World};
use crate::live::Live;
use crate::port::{Delta, Who};
use deputize_core::budget::Spend;
use deputize_core::code;
use deputize_core::context;
use deputize_core::digest;
use deputize_core::id::{Label, ModelName, RunId, ToolName};
use deputize_core::message::{Arguments, BlobRef, Request, ToolOutput, Usage};
use deputize_core::run::{Delivery, RunState};
use deputize_core::step::{Ask, Failure, Note, Product};
use futures_util::FutureExt;
use serde_json::Value;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// What a task needs to report.
struct Report {
    who: Who,
    land: UnboundedSender<Landed>,
}

impl Report {
    /// The driver may be gone; then nobody waits for the result.
    fn ended(self, delivery: Delivery, spent: Spend) {
        let Who { run, label, attempt, .. } = self.who;
        drop(self.land.send(Landed::Ended { run, label, attempt, delivery, spent }));
    }
    fn prepared(self, note: Note) {
        let Who { run, label, attempt, .. } = self.who;
        drop(self.land.send(Landed::Prepared { run, label, attempt, note }));
    }
}

fn who(state: &RunState, label: &Label) -> Option<Who> {
    let (started, step) = (state.started()?, state.step(label)?);
    let (run, agent, path) = (started.run.clone(), started.agent.clone(), started.path.clone());
    Some(Who { run, agent, path, label: label.clone(), attempt: step.attempt })
}

impl Driver {
    /// Performs an open step of a run that holds a slot.
    pub(super) fn perform(&mut self, run: &RunId, label: &Label) {
        let Some(node) = self.nodes.get(run) else { return };
        let (Some(who), Some(step)) = (who(&node.state, label), node.state.step(label)) else { return };
        let (world, land) = (self.world.clone(), self.land.clone());
        let report = Report { who, land };
        let task = match &*step.ask {
            Ask::Model { .. } => {
                let request = context::render(&node.state, &self.team, label);
                let Some(request) = request.filter(|r| step.digest.as_ref() == Some(&digest::of(r))) else {
                    let why = format!("step {label} was recorded with other bytes than this build makes");
                    return self.abandon(run, code::RUN_DIVERGED, why);
                };
                let role = node.state.started().and_then(|s| s.role.clone());
                tokio::spawn(model(world, report, request, role, self.delta(run, label)))
            }
            Ask::Tool { name, arguments, .. } => {
                let limit = self.team.tool_timeout.by_tool.get(name).copied().unwrap_or(self.team.tool_timeout.default);
                let most = self.team.output_limits.tool_result;
                let job =
                    Job { name: name.clone(), arguments: arguments.clone(), note: step.note.clone(), limit, most };
                tokio::spawn(tool(world, report, job))
            }
            Ask::Probe { path } => tokio::spawn(probe(world, report, path.clone())),
            Ask::Delegate { .. } | Ask::Decide { .. } => return,
        };
        let handle = task.abort_handle();
        if let Some(node) = self.nodes.get_mut(run) {
            node.launched.insert(label.clone(), Some(handle));
        }
    }

    fn delta(&self, run: &RunId, label: &Label) -> Delta {
        let (live, run, label) = (self.live.clone(), run.clone(), label.clone());
        Arc::new(move |text: &str| {
            // Fails only when nobody watches.
            drop(live.send(Live::Delta { run: run.clone(), label: label.clone(), text: Arc::from(text) }));
        })
    }
}

async fn model(world: World, report: Report, request: Request, role: Option<String>, delta: Delta) {
    let call = AssertUnwindSafe(world.model.call(&report.who, &request, delta)).catch_unwind().await;
    let spent = |usage: Usage| spend(role.as_deref(), &request.model, usage);
    let (delivery, spent) = match call {
        Ok(Ok(reply)) => (Delivery::Product(Product::Turn(Arc::new(reply.turn))), spent(reply.usage)),
        Ok(Err(failed)) => (Delivery::Failure(failed.failure), spent(failed.usage)),
        Err(_) => {
            let failure = Failure::fixed(code::MODEL_PANICKED, "the adapter of the model provider broke down");
            (Delivery::Failure(failure), spent(Usage::default()))
        }
    };
    report.ended(delivery, spent);
}

fn spend(role: Option<&str>, model: &ModelName, usage: Usage) -> Spend {
    Spend::model_call(role, model, usage)
}

struct Job {
    name: ToolName,
    arguments: Arguments,
    note: Option<Note>,
    /// Milliseconds.
    limit: u64,
    /// Tokens that the model is shown.
    most: u64,
}

async fn tool(world: World, report: Report, job: Job) {
    let empty = Value::Null;
    let arguments = match &job.arguments {
        Arguments::Json(value) => value,
        Arguments::Malformed(_) => &empty, // the gate let no such call through
    };
    if job.note.is_none() {
        match AssertUnwindSafe(world.tools.prepare(&report.who, &job.name, arguments)).catch_unwind().await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(note))) => return report.prepared(note),
            Ok(Err(failure)) => return report.ended(Delivery::Failure(failure), one_call()),
            Err(_) => return report.ended(Delivery::Failure(broke_down(&job.name)), one_call()),
        }
    }
    let until = world.clock.now().plus(job.limit);
    let work =
        AssertUnwindSafe(world.tools.perform(&report.who, &job.name, arguments, job.note.as_ref())).catch_unwind();
    let result = tokio::select! {
        result = work => result.unwrap_or_else(|_| Err(broke_down(&job.name))),
        () = world.clock.sleep_until(until) => {
            let why = format!("{} did not answer within {} s", job.name, job.limit.div_ceil(1000));
            Err(Failure::fixed(code::TOOL_TIMEOUT, why))
        }
    };
    let delivery = match result {
        Err(failure) => Delivery::Failure(failure),
        Ok(text) => match output(&world, text, job.most).await {
            Ok(output) => Delivery::Product(Product::Output(Arc::new(output))),
            Err(why) => Delivery::Failure(Failure::fixed(code::TOOL_FAILED, why)),
        },
    };
    report.ended(delivery, one_call());
}

fn one_call() -> Spend {
    Spend { tool_calls: 1, ..Spend::default() }
}

fn broke_down(name: &ToolName) -> Failure {
    Failure::fixed(code::TOOL_PANICKED, format!("the tool {name} broke down"))
}

/// Bounds what a model sees; the whole is kept beside the log.
async fn output(world: &World, text: String, most: u64) -> Result<ToolOutput, String> {
    if context::tokens(text.len()) <= most {
        return Ok(ToolOutput { text, whole: None });
    }
    let shown = context::bounded(&text, context::bytes(most));
    let len = text.len() as u64;
    let sha256 = world.store.put(text.into_bytes()).await.map_err(|e| format!("its output cannot be kept: {e}"))?;
    Ok(ToolOutput { text: shown, whole: Some(BlobRef { sha256, len }) })
}

async fn probe(world: World, report: Report, path: String) {
    let found = world.tools.exists(&path).await;
    report.ended(Delivery::Product(Product::Exists(found)), Spend::default());
}
