//! The smallest valid events and what they are made of, for tests that need a log but not a run.

use deputize_core::brief::{Brief, Draft, MemoryScope, Origin, Stated, Success};
use deputize_core::budget::{Budget, Spend};
use deputize_core::event::{Event, Recorded, Started, VERSION};
use deputize_core::id::{AgentName, AgentPath, Digest, Label, ModelName, RunId, Time};
use deputize_core::summary::{Summary, Terminal};
use deputize_runtime::port::Append;
use serde_json::{Value, json};
use std::sync::Arc;

/// The team of every sample.
pub const TEAM: &str = "sample";
/// The agent of every sample.
pub const AGENT: &str = "worker";

/// A label.
///
/// # Panics
/// The text is none.
#[expect(clippy::expect_used, reason = "test support: a wrong literal is a mistake in the test")]
pub fn label(text: &str) -> Label {
    Label::parse(text).expect("a step label")
}

/// A complete brief with this objective.
///
/// # Panics
/// The core no longer takes it for complete.
#[expect(clippy::expect_used, reason = "test support: an incomplete sample is a mistake here")]
pub fn brief(objective: &str) -> Brief {
    fn stated<T>(value: T) -> Option<Stated<T>> {
        Some(Stated::new(value, Origin::Default))
    }
    let budget =
        Budget { tokens: 10_000, time: 60_000, turns: 10, model_calls: None, tool_calls: 10, children: 5, runs: 5 };
    let draft = Draft {
        objective: stated(objective.to_string()),
        output_format: stated("one line".to_string()),
        guidance: stated("no tools".to_string()),
        boundaries: stated("nothing else".to_string()),
        success: stated(Success::default()),
        output: stated(json!({"type": "object"})),
        tools: stated(Vec::new()),
        grant: stated(Vec::new()),
        memory: stated(MemoryScope::Private),
        budget: stated(budget),
        ..Draft::default()
    };
    draft.complete().expect("a complete brief")
}

/// What a run starts from; its objective is `objective of <run>`.
pub fn started(run: &RunId, parent: Option<(RunId, Label)>) -> Started {
    let agent = AgentName::new(AGENT);
    Started {
        run: run.clone(),
        depth: u32::from(parent.is_some()),
        path: AgentPath::root(&agent),
        parent,
        agent,
        brief: brief(&format!("objective of {run}")),
        model: ModelName::new("scripted:small"),
        role: None,
        definition: Digest::new("0".repeat(64)),
        team: Digest::new("1".repeat(64)),
        team_name: TEAM.to_string(),
        program_rev: 1,
        choices: Vec::new(),
    }
}

/// An event at a place and a moment.
pub fn recorded(seq: u64, at: u64, event: Event) -> Recorded {
    Recorded { v: VERSION, seq, at: Time(at), event }
}

/// The first event of a root run.
pub fn start(run: &RunId, at: u64) -> Recorded {
    recorded(0, at, Event::RunStarted(Box::new(started(run, None))))
}

/// The first event of the run that `parent` delegated to under `step`, whose id is [`RunId::child`].
pub fn child_start(parent: &RunId, step: &str, at: u64) -> Recorded {
    let step = label(step);
    let started = started(&parent.child(&step), Some((parent.clone(), step)));
    recorded(0, at, Event::RunStarted(Box::new(started)))
}

/// The smallest event.
pub fn woke(seq: u64, at: u64) -> Recorded {
    recorded(seq, at, Event::Woke { now: Time(at) })
}

/// An event that carries a text of any size.
pub fn said(seq: u64, at: u64, text: &str) -> Recorded {
    recorded(seq, at, Event::CancelRequested { by: text.to_string(), limit: None })
}

/// The last event of a run.
pub fn finished(seq: u64, at: u64, run: &RunId, status: Terminal) -> Recorded {
    let summary = Summary {
        run: run.clone(),
        agent: AgentName::new(AGENT),
        status,
        partial: false,
        limit: None,
        reason_code: None,
        reason: None,
        payload: Value::Null,
        success: Vec::new(),
        evidence: Vec::new(),
        findings: Vec::new(),
        spent: Spend::default(),
        artifact: None,
    };
    recorded(seq, at, Event::RunFinished { summary: Arc::new(summary) })
}

/// An append of these events where the first one says it belongs.
pub fn append(run: &RunId, events: Vec<Recorded>) -> Append {
    let expected = events.first().map_or(0, |first| first.seq);
    Append { run: run.clone(), expected, events }
}
