//! Tests of the run that need its insides: which commands do nothing, how delays are drawn, how labels are ordered.

use super::account::call_order;
use super::{Command, Delivery, RunState, stopped};
use crate::brief::{Draft, MemoryScope, Origin, Stated, Success};
use crate::budget::{Budget, Spend};
use crate::code;
use crate::definition::{Definition, Team};
use crate::event::{Event, Recorded, Started, VERSION};
use crate::id::{AgentName, AgentPath, Digest, Label, ModelName, RunId, Time};
use crate::schema;
use crate::summary::Terminal;

fn started(run: &str) -> Started {
    let text = |t: &str| Some(Stated::new(t.to_string(), Origin::Flag));
    let budget =
        Budget { tokens: 50_000, time: 60_000, turns: 5, model_calls: None, tool_calls: 5, children: 1, runs: 1 };
    let brief = Draft {
        objective: text("do it"),
        output_format: text("text"),
        guidance: text("none"),
        boundaries: text("none"),
        success: Some(Stated::new(Success::default(), Origin::Default)),
        output: Some(Stated::new(schema::default_output(), Origin::Default)),
        tools: Some(Stated::new(Vec::new(), Origin::Default)),
        memory: Some(Stated::new(MemoryScope::Private, Origin::Default)),
        budget: Some(Stated::new(budget, Origin::Config)),
        ..Draft::default()
    };
    let agent = AgentName::new("one");
    Started {
        run: RunId::new(run),
        parent: None,
        path: AgentPath::root(&agent),
        agent,
        depth: 0,
        brief: brief.complete().unwrap(),
        model: ModelName::new("test:small"),
        role: None,
        definition: Digest::new("d"),
        team: Digest::new("t"),
        team_name: "test".into(),
        program_rev: 1,
        choices: Vec::new(),
    }
}

fn team() -> Team {
    let one = Definition { name: AgentName::new("one"), pattern: "react".into(), ..Definition::default() };
    Team { root: one.name.clone(), agents: [(one.name.clone(), one)].into(), ..Team::default() }
}

fn take(state: &mut RunState, at: u64, events: Vec<Event>) {
    for event in events {
        let record = Recorded { v: VERSION, seq: state.next_seq(), at: Time(at), event };
        state.evolve(&record);
    }
}

/// A run whose first model call is open.
fn running(run: &str) -> RunState {
    let mut state = RunState::default();
    take(&mut state, 10, vec![Event::RunStarted(Box::new(started(run)))]);
    let next = state.advance(&team()).events;
    take(&mut state, 20, next);
    state
}

fn deliver(label: &str, attempt: u32, delivery: Delivery) -> Command {
    Command::Deliver { label: Label::parse(label).unwrap(), attempt, delivery, spent: Spend::default() }
}

#[test]
fn commands_that_no_longer_apply_give_nothing() {
    let (state, team) = (running("r"), team());
    let none = |command: Command| assert!(state.decide(&team, Time(60), command).is_empty());
    none(deliver("t1", 2, Delivery::Failure(stopped())));
    none(deliver("t2", 1, Delivery::Failure(stopped())));
    none(Command::Wake { now: Time(10) });
    assert!(RunState::default().decide(&team, Time(60), Command::Cancel { by: "x".into() }).is_empty());
    let mut state = state;
    let events = state.decide(&team, Time(60), Command::Cancel { by: "x".into() });
    take(&mut state, 30, events);
    assert!(state.decide(&team, Time(60), Command::Cancel { by: "y".into() }).is_empty());
    assert_eq!(state.advance(&team).stop, [Label::parse("t1").unwrap()]);
    let events = state.decide(&team, Time(60), deliver("t1", 1, Delivery::Failure(stopped())));
    take(&mut state, 40, events);
    let end = state.advance(&team).events;
    take(&mut state, 40, end);
    assert!(state.summary().is_some() && state.advance(&team).events.is_empty());
    assert!(state.decide(&team, Time(60), Command::Recover { now: Time(50) }).is_empty());
}

// What a tool saw before its effect is noted once: a later look would see the effect.
// covers F-05
#[test]
fn a_step_is_noted_once() {
    let (mut state, team) = (running("r"), team());
    let prepare = || Command::Prepare { label: Label::parse("t1").unwrap(), attempt: 1, note: "before".into() };
    let events = state.decide(&team, Time(60), prepare());
    assert!(matches!(events.as_slice(), [Event::StepPrepared { .. }]));
    take(&mut state, 30, events);
    assert!(state.decide(&team, Time(60), prepare()).is_empty());
}

// Derived events do not move the time that decisions are made by; every event moves the pause's.
#[test]
fn time_moves_with_inputs() {
    let state = running("r");
    assert_eq!((state.now(), state.deadline()), (Time(10), Some(Time(60_010))));
    let events = state.decide(&team(), Time(1_000), Command::Recover { now: Time(1_000) });
    assert_eq!(events.first(), Some(&Event::Recovered { idle: 980 }));
}

// Full jitter: different runs wait differently, none longer than the doubled delay.
// covers F-07
#[test]
fn jitter_differs_from_run_to_run() {
    use crate::code::MODEL_OVERLOADED;
    use crate::step::{Failure, Then};
    let delay = |run: &str| {
        let failure = Failure::passing(MODEL_OVERLOADED, "as tested", None);
        let events = running(run).decide(&team(), Time(5_000), deliver("t1", 1, Delivery::Failure(failure)));
        match events.as_slice() {
            [Event::StepFailed { then: Then::Retry { not_before, .. }, .. }] => not_before.since(Time(5_000)),
            other => panic!("{other:?}"),
        }
    };
    let delays: Vec<u64> = (0..50).map(|i| delay(&format!("run{i}"))).collect();
    assert!(delays.iter().all(|d| *d <= 500));
    let distinct: std::collections::BTreeSet<&u64> = delays.iter().collect();
    assert!(distinct.len() > 30, "{delays:?}");
}

#[test]
fn labels_are_ordered_by_number() {
    let mut labels: Vec<Label> =
        ["t10/c0", "t2/c10", "t2/c9", "t1", "closing", "check/f0"].map(|l| Label::parse(l).unwrap()).into();
    labels.sort_by_key(call_order);
    let order: Vec<&str> = labels.iter().map(Label::as_str).collect();
    assert_eq!(order, ["check/f0", "closing", "t1", "t2/c9", "t2/c10", "t10/c0"]);
}

#[test]
fn a_run_is_abandoned_once() {
    let mut state = RunState::default();
    take(&mut state, 10, vec![Event::RunStarted(Box::new(started("r")))]);
    let abandon = |s: &RunState| s.abandon(code::RUN_PANICKED, "it broke down".into()).events;
    let events = abandon(&state);
    assert_eq!(events.len(), 1);
    take(&mut state, 50, events);
    assert_eq!(state.summary().map(|s| s.status), Some(Terminal::Failed));
    assert!(abandon(&state).is_empty(), "what is over stays over");
}

// An agent that only reads has nobody write for it either.
#[test]
fn a_read_only_agent_passes_on_what_reads() {
    use crate::definition::{Operation, ToolChoice, ToolSpec};
    use crate::id::ToolName;
    use crate::step::EffectClass;
    let mut team = team();
    for (name, effect) in [("look", EffectClass::ReadOnly), ("save", EffectClass::Idempotent)] {
        let (description, input_schema) = (String::new(), serde_json::json!({"type": "object"}));
        let (operation, paths) = (Operation::Other, Vec::new());
        let spec = ToolSpec { name: name.into(), description, input_schema, effect, operation, paths };
        team.tools.insert(spec.name.clone(), spec);
    }
    team.ceiling = ["look", "save"].map(ToolName::from).to_vec();
    let planner = Definition { tools: ToolChoice::All, read_only: true, ..Definition::default() };
    let held = team.held(&planner, &team.above_root());
    assert_eq!((held.tools, held.grant), (vec!["look".into()], vec!["look".into()]));
}

// A run that cannot go on first stops what it has under way, and ends once nothing is.
#[test]
fn a_run_with_an_open_step_is_abandoned_when_that_is_stopped() {
    let mut state = running("r");
    let abandon = |s: &RunState| s.abandon(code::RUN_PANICKED, "it broke down".into());
    let next = abandon(&state);
    assert!(next.events.is_empty());
    assert_eq!(next.stop, [Label::under("", "t1")]);
    let stop = state.decide(&team(), Time(60), deliver("t1", 1, Delivery::Failure(stopped())));
    take(&mut state, 60, stop);
    let events = abandon(&state).events;
    take(&mut state, 70, events);
    assert_eq!(state.summary().map(|s| s.status), Some(Terminal::Failed));
}

// A run whose parent's time is up ends as one whose time is up; one that somebody ends is cancelled.
// covers X-08
#[test]
fn a_run_whose_parents_time_is_up_ends_by_deadline() {
    let mut state = running("r/t1/c0");
    let events = state.decide(&team(), Time(60), Command::Expire { by: "its parent r".into() });
    take(&mut state, 60, events);
    assert!(state.expired());
    let stop = state.decide(&team(), Time(60), deliver("t1", 1, Delivery::Failure(stopped())));
    take(&mut state, 60, stop);
    let events = state.advance(&team()).events;
    take(&mut state, 70, events);
    let summary = state.summary().unwrap();
    assert_eq!((summary.status, summary.limit.as_deref()), (Terminal::Deadline, Some("time")));
    assert_eq!(summary.reason.as_deref(), Some("the time of its parent r is over"));
}

// What comes after a step was given up is in the log and is not used; what it used beyond the presumed is booked, once.
// covers X-08
#[test]
fn a_late_result_is_logged_and_not_used() {
    use crate::message::Usage;
    let mut state = running("r");
    let events = state.decide(&team(), Time(60), Command::Cancel { by: "a person".into() });
    take(&mut state, 60, events);
    let events = state.decide(&team(), Time(60), deliver("t1", 1, Delivery::Failure(stopped())));
    assert!(matches!(events.as_slice(), [Event::StepFailed { presumed: true, .. }]));
    take(&mut state, 60, events);
    let presumed = state.ledger().spent.usage;
    let usage = Usage { input_tokens: presumed.input_tokens + 7, output_tokens: 1, cached_tokens: 0 };
    let late = |state: &RunState| {
        let turn = crate::message::Turn { text: "late".into(), ..Default::default() };
        let delivery = Delivery::Product(crate::step::Product::Turn(turn.into()));
        let spent = Spend::model_call(None, &ModelName::new("test:small"), usage);
        let label = Label::parse("t1").unwrap();
        state.decide(&team(), Time(70), Command::Deliver { label, attempt: 1, delivery, spent })
    };
    let events = late(&state);
    assert!(matches!(events.as_slice(), [Event::ResultDiscarded { attempt: 1, code: None, .. }]), "{events:?}");
    take(&mut state, 70, events);
    assert_eq!(state.ledger().spent.usage.tokens(), presumed.tokens() + 7);
    assert_eq!(state.ledger().spent.model_calls, 1);
    let events = state.advance(&team()).events;
    take(&mut state, 80, events);
    let summary = state.summary().unwrap();
    assert_eq!((summary.status, &summary.payload), (Terminal::Cancelled, &serde_json::Value::Null));
    assert!(summary.findings.iter().any(|f| f.code == code::RESULT_DISCARDED));
    assert!(late(&state).is_empty(), "a log that is closed stays closed");
}

// Half of a pair of surrogates, as a model that is cut writes it, becomes visible instead of costing the call.
// covers X-11
#[test]
fn lone_surrogates_become_visible() {
    use crate::message::{Arguments, paired};
    let cases = [
        (r#"{"a":"\ud83d"}"#, "\u{fffd}"),
        (r#"{"a":"x\udc00y"}"#, "x\u{fffd}y"),
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}\u{1f600}"),
        (r#"{"a":"\\ud83d \ud83d"}"#, "\\ud83d \u{fffd}"),
    ];
    for (text, want) in cases {
        let Arguments::Json(value) = Arguments::from_text(text) else { panic!("{text}") };
        assert_eq!(value["a"], want, "{text}");
    }
    for text in [r#"{"a":"\ud83d\ude00"}"#, r#"{"a": "\u12"#, "\\é\\", "\\", r"\u"] {
        assert_eq!(paired(text), text);
    }
}
