//! Performing a started step: a task of its own for each, bounded in time, whose panic is an outcome like any other.

use super::{Driver, Landed, World};
use crate::live::Live;
use crate::port::{Delta, Notice, Who};
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
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    let permissions = started.brief.permissions.clone();
    Some(Who { run, agent, path, label: label.clone(), attempt: step.attempt, permissions })
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
                let rendered = catch_unwind(AssertUnwindSafe(|| context::render(&node.state, &self.team, label)));
                let Ok(request) = rendered else {
                    return self.abandon(run, code::RUN_PANICKED, "the request of this run broke down".into());
                };
                let Some(request) = request.filter(|r| step.digest.as_ref() == Some(&digest::of(r))) else {
                    let why = format!("step {label} was recorded with other bytes than this build makes");
                    return self.abandon(run, code::RUN_DIVERGED, why);
                };
                let role = node.state.model_of(step).and_then(|chosen| chosen.role);
                let ears = (self.delta(run, label), self.notice(&report.who));
                self.tasks.spawn(model(world, report, request, role, ears))
            }
            Ask::Tool { name, arguments, .. } => {
                let limit = self.team.tool_timeout.by_tool.get(name).copied().unwrap_or(self.team.tool_timeout.default);
                let most = self.team.output_limits.tool_result;
                let job =
                    Job { name: name.clone(), arguments: arguments.clone(), note: step.note.clone(), limit, most };
                self.tasks.spawn(tool(world, report, job))
            }
            Ask::Probe { path } => self.tasks.spawn(probe(world, report, path.clone(), self.team.tool_timeout.default)),
            Ask::Delegate { .. } | Ask::Decide { .. } => return,
        };
        if let Some(node) = self.nodes.get_mut(run) {
            node.launched.insert(label.clone(), Some(task));
        }
    }

    fn delta(&self, run: &RunId, label: &Label) -> Delta {
        let (live, run, label) = (self.live.clone(), run.clone(), label.clone());
        Arc::new(move |text: &str| {
            // Fails only when nobody watches.
            drop(live.send(Live::Delta { run: run.clone(), label: label.clone(), text: Arc::from(text) }));
        })
    }

    fn notice(&self, who: &Who) -> Notice {
        let (live, who) = (self.live.clone(), who.clone());
        Arc::new(move |queued| {
            let Who { run, path, label, .. } = who.clone();
            // Fails only when nobody watches.
            drop(live.send(Live::Queued { run, path, label, queued: queued.clone() }));
        })
    }
}

/// The outcome of some work, or that it broke down. The port is called inside, so that one that breaks down before it has
/// made its future is caught like any other.
async fn guarded<T>(work: impl Future<Output = T>) -> Result<T, Box<dyn Any + Send>> {
    AssertUnwindSafe(work).catch_unwind().await
}

async fn model(world: World, report: Report, request: Request, role: Option<String>, (delta, queued): (Delta, Notice)) {
    let call = guarded(async { world.model.call_in_turn(&report.who, &request, delta, queued).await }).await;
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

/// What a tool gave.
enum Given {
    Note(Note),
    Text(String),
}

async fn tool(world: World, report: Report, job: Job) {
    let result = bounded(&world, job.limit, job.name.as_str(), work(&world, &report.who, &job)).await;
    let delivery = match result {
        Err(failure) => Delivery::Failure(failure),
        Ok(Given::Note(note)) => return report.prepared(note),
        Ok(Given::Text(text)) => match output(&world, text, job.most).await {
            Ok(output) => Delivery::Product(Product::Output(Arc::new(output))),
            Err(why) => Delivery::Failure(Failure::fixed(code::TOOL_FAILED, why)),
        },
    };
    report.ended(delivery, one_call());
}

/// Looks at the world first, where the tool wants to; with a note in the log it does its work.
async fn work(world: &World, who: &Who, job: &Job) -> Result<Given, Failure> {
    let empty = Value::Null;
    let arguments = match &job.arguments {
        Arguments::Json(value) => value,
        Arguments::Malformed(_) => &empty, // the gate let no such call through
    };
    if job.note.is_none()
        && let Some(note) = world.tools.prepare(who, &job.name, arguments).await?
    {
        return Ok(Given::Note(note));
    }
    world.tools.perform(who, &job.name, arguments, job.note.as_ref()).await.map(Given::Text)
}

/// Work of a tool, bounded in time; that it breaks down is an outcome like any other.
async fn bounded<T>(
    world: &World,
    limit: u64,
    name: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let until = world.clock.now().plus(limit);
    tokio::select! {
        result = guarded(work) => {
            let broken = || Failure::fixed(code::TOOL_PANICKED, format!("the tool {name} broke down"));
            result.unwrap_or_else(|_| Err(broken()))
        }
        () = world.clock.sleep_until(until) => {
            let why = format!("{name} did not answer within {} s", limit.div_ceil(1000));
            Err(Failure::fixed(code::TOOL_TIMEOUT, why))
        }
    }
}

fn one_call() -> Spend {
    Spend { tool_calls: 1, ..Spend::default() }
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

async fn probe(world: World, report: Report, path: String, limit: u64) {
    let look = async { Ok(world.tools.exists(&path).await) };
    let delivery = match bounded(&world, limit, "look at a file", look).await {
        Ok(found) => Delivery::Product(Product::Exists(found)),
        Err(failure) => Delivery::Failure(failure),
    };
    report.ended(delivery, Spend::default());
}
