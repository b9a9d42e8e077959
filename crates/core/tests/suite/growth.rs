//! Costs that must not grow with the length of a run: what a program looks up, what a turn adds to the log.

use crate::common::sim::root_start;
use crate::common::{Asked, Script, Sim, agent, calls, says, team};
use deputize_core::budget::Spend;
use deputize_core::definition::Team;
use deputize_core::event::{Event, Recorded, StepStart, VERSION};
use deputize_core::id::{Label, Time};
use deputize_core::message::{Arguments, ToolCall, ToolOutput, Turn};
use deputize_core::pattern::find;
use deputize_core::program::{Facts, Known, Move, View};
use deputize_core::run::RunState;
use deputize_core::step::{Ask, EffectClass, Product, Reserve};
use serde_json::json;
use std::cell::Cell;
use std::sync::Arc;

/// Facts that count how often they are asked.
struct Counted<'a> {
    facts: &'a RunState,
    asked: Cell<usize>,
}

impl Facts for Counted<'_> {
    fn find(&self, label: &Label) -> Known<'_> {
        self.asked.set(self.asked.get() + 1);
        self.facts.find(label)
    }
    fn turns(&self, scope: &str) -> u64 {
        self.asked.set(self.asked.get() + 1);
        self.facts.turns(scope)
    }
    fn rejected(&self, label: &Label) -> Option<&Product> {
        self.asked.set(self.asked.get() + 1);
        self.facts.rejected(label)
    }
}

fn record(state: &mut RunState, event: Event) {
    let record = Recorded { v: VERSION, seq: state.next_seq(), at: Time(1), event };
    state.evolve(&record);
}

/// What a looking-up program wants, and how often it looked.
fn wants(state: &RunState, team: &Team) -> (Vec<(Label, Ask)>, usize) {
    let facts = Counted { facts: state, asked: Cell::new(0) };
    let agent = &team.agents[&team.root];
    let view = View::root(&facts, team, agent, &state.started().unwrap().brief);
    match find("react").unwrap().next(&view) {
        Err(Move::Want(wants)) => (wants, facts.asked.get()),
        other => panic!("{other:?}"),
    }
}

fn begin(state: &mut RunState, label: &Label, ask: Ask) {
    let start = StepStart {
        label: label.clone(),
        ask: Arc::new(ask),
        attempt: 1,
        effect: EffectClass::ReadOnly,
        reserve: Reserve::default(),
        model: None,
        max_output: Some(100),
        room: None,
        digest: None,
        delegation: None,
    };
    record(state, Event::StepStarted(Box::new(start)));
}

fn succeed(state: &mut RunState, label: &Label, product: Product) {
    let (label, spent) = (label.clone(), Spend::default());
    record(state, Event::StepSucceeded { label, attempt: 1, product, spent });
}

// A program's step costs the same at turn 2,000 as at turn 2.
// covers F-12
#[test]
fn a_program_looks_up_as_much_late_as_early() {
    let team = team(vec![agent("one", &["look"])]);
    let mut state = RunState::default();
    record(&mut state, Event::RunStarted(Box::new(root_start(&team, "go on for long"))));
    let call = ToolCall { name: "look".into(), arguments: Arguments::Json(json!({})) };
    let turn = Turn { calls: vec![call], ..Turn::default() };
    let mut most = 0;
    for n in 1..=2_000 {
        let (wanted, looked) = wants(&state, &team);
        let (label, ask) = wanted.into_iter().next().unwrap();
        assert_eq!(label.as_str(), format!("t{n}"));
        begin(&mut state, &label, ask);
        succeed(&mut state, &label, Product::Turn(Arc::new(turn.clone())));
        let (wanted, again) = wants(&state, &team);
        let (label, ask) = wanted.into_iter().next().unwrap();
        begin(&mut state, &label, ask);
        succeed(&mut state, &label, Product::Output(Arc::new(ToolOutput { text: "x".into(), whole: None })));
        most = most.max(looked).max(again);
    }
    assert!(most <= 4, "{most} look-ups in one step");
}

// A turn adds as much to the log late as early; requests are not in it.
// covers U-16, F-12
#[test]
fn the_log_grows_by_the_same_with_every_turn() {
    let mut one = agent("one", &["look"]);
    (one.budget.turns, one.budget.tool_calls) = (Some(200), Some(200));
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t120" => says("done"),
        _ => calls(&[("look", json!({"at": "a"}))]),
    });
    let sim = Sim::run(&team(vec![one]), &script);
    let log = &sim.logs[&crate::common::sim::root()];
    let sizes: Vec<usize> = log.iter().map(|r| serde_json::to_string(r).unwrap().len()).collect();
    let turn = |n: usize| sizes[1 + 4 * (n - 1)..1 + 4 * n].iter().sum::<usize>();
    let (early, late) = (turn(2), turn(110));
    assert!(late <= early + 40, "{early} bytes for a turn, then {late}: only numbers may get longer");
    assert!(early < 2_000, "{early}");
}
