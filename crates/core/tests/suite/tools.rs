//! Tools: who may call what, what is refused, what runs together and what alone, and one result for each call in order.

use crate::common::{
    Answer, Asked, Plan, Script, Sim, Used, agent, calls, delegates, fails, leads, says, team, text, to,
};
use deputize_core::code::{self, Code};
use deputize_core::definition::{Definition, Operation, Permission, Team, ToolChoice};
use deputize_core::event::Event;
use deputize_core::id::{ModelName, ToolName};
use deputize_core::step::Retry;
use deputize_core::summary::Terminal;
use serde_json::{Value, json};

fn look(at: &str) -> (&'static str, Value) {
    ("look", json!({"at": at}))
}

/// One turn with these calls, then an answer.
fn turn_of(list: Vec<(&'static str, Value)>) -> Script {
    Script::new(move |asked: &Asked<'_>| match asked.label {
        "t1" => calls(&list),
        _ => says("done"),
    })
}

/// The codes of the refusals of a single agent's only turn with calls, and how many tools ran.
fn refusals(team: &Team, list: Vec<(&'static str, Value)>) -> (Vec<Code>, usize) {
    let script = turn_of(list);
    let sim = Sim::run(team, &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded, "the loop goes on");
    let codes = sim.summary().findings.iter().map(|f| f.code.clone()).collect();
    (codes, sim.tools_used())
}

// The model is told, the loop goes on, nothing is performed.
// covers E-20, E-13
#[test]
fn a_tool_outside_the_allowlist_is_refused() {
    let one = team(vec![agent("one", &["look"])]);
    assert_eq!(refusals(&one, vec![("save", json!({}))]), (vec![code::TOOL_NOT_ALLOWED], 0));
    assert_eq!(refusals(&one, vec![("fly", json!({})), look("a")]), (vec![code::TOOL_UNKNOWN], 1));
    let script = turn_of(vec![("fly", json!({}))]);
    let read = Sim::run(&one, &script).results("one", "t2");
    assert!(read[0].contains("tool.unknown") && read[0].contains("refused") && read[0].contains("look"), "{}", read[0]);
}

// A child's refusal is a finding of its own account and reaches the parent with it.
// covers E-09, E-18, E-20
#[test]
fn a_childs_refused_call_is_in_its_account() {
    let team = team(vec![leads("lead", &["look", "save"], &["reader"]), agent("reader", &["look"])]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("reader", "read it")]),
        ("lead/reader#1", "t1") => calls(&[("save", json!({"at": "x"}))]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    let finding = &sim.summary_of("r/t1/c0").findings[0];
    assert_eq!((finding.code.clone(), finding.scope.as_str()), (code::TOOL_NOT_ALLOWED, "r/t1/c0"));
    assert!(sim.summary().findings.is_empty(), "the scope is the child's");
    assert!(sim.results("lead", "t2")[0].contains("tool.not_allowed"));
}

// covers E-20
#[test]
fn arguments_must_be_an_object() {
    let one = team(vec![agent("one", &["look"])]);
    let list = vec![("look", json!({"malformed": "{\"at\": "})), ("look", json!("a")), ("look", json!([1])), look("b")];
    assert_eq!(refusals(&one, list), (vec![code::TOOL_ARGUMENTS; 3], 1));
}

// What a person would have to allow is refused where nobody can be asked.
// covers E-20
#[test]
fn the_policy_of_the_team_decides_on_operations() {
    let mut one = team(vec![agent("one", &["look", "send", "shell"])]);
    one.permissions.insert(Operation::Shell, Permission::Ask);
    one.permissions.insert(Operation::Net, Permission::Deny);
    let found = refusals(&one, vec![("shell", json!({})), ("send", json!({})), look("a")]);
    assert_eq!(found, (vec![code::APPROVAL_UNAVAILABLE, code::PERMISSION_DENIED], 1));
}

/// `(label, "start" | "end")` of the tool steps of a log, in order.
fn spans(sim: &Sim<'_>) -> Vec<(String, &'static str)> {
    let one = |r: &deputize_core::event::Recorded| match &r.event {
        Event::StepStarted(s) if s.label.as_call().is_some() => Some((s.label.to_string(), "start")),
        Event::StepSucceeded { label, .. } if label.as_call().is_some() => Some((label.to_string(), "end")),
        _ => None,
    };
    sim.logs.values().next().unwrap().iter().filter_map(one).collect()
}

// Read-only calls together, every other one alone and in emitted order.
// covers F-09
#[test]
fn effectful_calls_run_alone_and_in_order() {
    let one = team(vec![agent("one", &["look", "save", "send"])]);
    let list =
        vec![look("a"), look("b"), ("send", json!({})), look("c"), look("d"), ("save", json!({})), ("send", json!({}))];
    let script = turn_of(list);
    for seed in 0..20 {
        let sim = Sim::with(&one, &script, Plan { seed: Some(seed), ..Plan::default() });
        let spans = spans(&sim);
        let at = |call: usize, what: &str| {
            spans.iter().position(|(l, w)| *l == format!("t1/c{call}") && *w == what).unwrap()
        };
        for alone in [2, 5, 6] {
            assert_eq!(at(alone, "end"), at(alone, "start") + 1, "c{alone} runs alone: {spans:?}");
            assert!((0..alone).all(|before| at(before, "end") < at(alone, "start")), "{spans:?}");
            assert!((alone + 1..7).all(|behind| at(behind, "start") > at(alone, "end")), "{spans:?}");
        }
        assert!(at(1, "start") < at(0, "end") && at(4, "start") < at(3, "end"), "the others run together: {spans:?}");
    }
}

// As long as the longest, not as long as all.
// covers F-09, E-28
#[test]
fn read_only_calls_and_children_take_the_time_of_the_longest() {
    let mut team = team(vec![leads("lead", &["look"], &["reader"]), agent("reader", &["look"])]);
    team.budget.concurrency = 10;
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => calls(&(0..10).map(|i| look(&i.to_string())).collect::<Vec<_>>()).after(0),
        ("lead", "t2") => delegates(&(0..10).map(|i| to("reader", &i.to_string())).collect::<Vec<_>>()).after(0),
        ("lead", _) => says("done").after(0),
        _ => says("read").after(500),
    })
    .tools(|_: &Used<'_>| text("seen").after(300));
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.now.0 - 1_000_000, 800);
    assert_eq!(sim.logs.len(), 11);
}

// Results in call order, whatever arrives first.
// covers F-09
#[test]
fn results_are_in_call_order() {
    let mut team = team(vec![leads("lead", &["look"], &["reader"]), agent("reader", &["look"])]);
    team.budget.concurrency = 3;
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => {
            let mut list: Vec<(&str, Value)> = (0..8).map(|i| look(&format!("p{i}"))).collect();
            list.extend((0..6).map(|i| ("delegate", to("reader", &format!("q{i}")))));
            calls(&list)
        }
        ("lead", _) => says("done"),
        (path, _) => says(path),
    });
    let calm = Sim::run(&team, &script).results("lead", "t2");
    assert!((0..8).all(|i| calm[i].contains(&format!("p{i}")) && calm[i].contains(&format!("[e{}]", i + 1))));
    assert!((0..6).all(|i| calm[8 + i].contains(&format!("lead/reader#{}", i + 1))), "ordinals are in call order");
    for seed in 0..50 {
        let sim = Sim::with(&team, &script, Plan { seed: Some(seed), ..Plan::default() });
        assert_eq!(sim.results("lead", "t2"), calm, "seed {seed}");
    }
}

// covers F-10, L-48
#[test]
fn a_turn_of_fifty_calls_with_ten_left_runs_ten() {
    let mut one = agent("one", &["look"]);
    one.budget.tool_calls = Some(12);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[look("a"), look("b")]),
        "t2" => calls(&(0..50).map(|i| look(&i.to_string())).collect::<Vec<_>>()),
        _ => says("what there is"),
    });
    let sim = Sim::run(&team(vec![one]), &script);
    assert_eq!(sim.tools_used(), 12);
    let refused = sim.summary().findings.iter().filter(|f| f.code == code::BUDGET_TOOL_CALLS).count();
    assert_eq!(refused, 41, "forty calls, and the turn that is not taken any more");
    let state = sim.state("r");
    assert!((0..50).all(|i| state.outcome(&format!("t2/c{i}")).is_some()), "each has its result");
}

// A tool's failure is a result.
// covers F-07
#[test]
fn failures_of_tools_are_results() {
    let one = team(vec![agent("one", &["look"])]);
    let broken = |used: &Used<'_>| -> Answer {
        match used.label {
            "t1/c0" => fails(code::TOOL_TIMEOUT, Retry::Never),
            "t1/c1" => fails(code::TOOL_PANICKED, Retry::After(None)),
            _ => text(""),
        }
    };
    let script = turn_of(vec![look("a"), look("b"), look("c")]).tools(broken);
    let sim = Sim::run(&one, &script);
    let read = sim.results("one", "t2");
    assert!(read[0].starts_with(r#"{"error":"tool.timeout""#), "{}", read[0]);
    assert!(read[1].starts_with(r#"{"error":"tool.panicked""#), "a tool is not tried again by itself: {}", read[1]);
    assert!(read[2].contains("(no output)"), "{}", read[2]);
    assert_eq!(sim.summary().evidence.len(), 1, "only what succeeded is evidence");
}

fn tools_of(child: Definition, lead: Definition) -> Vec<String> {
    let name = child.name.to_string();
    let team = team(vec![lead, child]);
    let script = Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to(&name, "x")]),
        _ => says("done"),
    });
    let brief = Sim::run(&team, &script).state("r/t1/c0").started().unwrap().brief.clone();
    brief.tools.value.iter().map(ToString::to_string).collect()
}

// Rights only narrow from parent to child.
// covers E-17, D-10
#[test]
fn a_childs_tools_lie_within_its_parents_grant() {
    let names = |list: &[&str]| list.iter().map(ToolName::new).collect::<Vec<_>>();
    let lead = || leads("lead", &["look"], &["kid"]);
    let kid = |tools: ToolChoice| Definition { tools, ..agent("kid", &[]) };
    assert_eq!(tools_of(kid(ToolChoice::Inherit), lead()), ["look"], "absent: the parent's own");
    assert_eq!(tools_of(agent("kid", &["save", "look"]), lead()), ["save", "look"], "more than the parent itself uses");
    let narrow = || Definition { grant: Some(names(&["look", "save"])), ..lead() };
    assert_eq!(tools_of(kid(ToolChoice::All), narrow()), ["look", "save"]);
    assert_eq!(tools_of(agent("kid", &["send", "save"]), narrow()), ["save"]);
    let without = Definition { disallowed: names(&["look"]), ..kid(ToolChoice::All) };
    assert_eq!(tools_of(without, narrow()), ["save"]);
    let reading = Definition { read_only: true, ..kid(ToolChoice::All) };
    assert_eq!(tools_of(reading, narrow()), ["look"]);
}

// A child has its own model, prompt and tools; what it does not name is its parent's.
// covers D-10, E-06, E-05
#[test]
fn a_child_has_its_own_model_and_prompt() {
    let mut team =
        team(vec![leads("lead", &["look"], &["kid", "plain"]), agent("kid", &["save"]), agent("plain", &[])]);
    team.agents.get_mut("kid").unwrap().model = deputize_core::definition::ModelChoice::Named("fast".into());
    team.models.roles.insert("fast".into(), ModelName::new("test:tiny"));
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "x"), to("plain", "y")]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    let of = |path: &str| sim.request(path, "t1").model.to_string();
    assert_eq!((of("lead/kid#1"), of("lead/plain#1")), ("test:tiny".into(), "test:small".into()));
    assert!(sim.request("lead/kid#1", "t1").system.starts_with("You are kid."));
    let spent = sim.summary().spent;
    let by: Vec<_> = spent.by_model.iter().map(|m| (m.role.as_deref(), m.model.as_str(), m.usage.tokens())).collect();
    assert_eq!(by, [(Some("default"), "test:small", 90), (Some("fast"), "test:tiny", 30)]);
    assert_eq!(spent.by_model.iter().map(|m| m.usage.tokens()).sum::<u64>(), spent.usage.tokens());
}

// Evidence is numbered in call order, in the account as in what the model reads.
// covers E-18
#[test]
fn evidence_is_numbered_in_call_order() {
    let one = team(vec![agent("one", &["look"])]);
    let script = turn_of((0..12).map(|i| look(&format!("p{i}"))).collect());
    let sim = Sim::run(&one, &script);
    let read = sim.results("one", "t2");
    for (i, evidence) in sim.summary().evidence.iter().enumerate() {
        assert_eq!((evidence.id.clone(), evidence.step.to_string()), (format!("e{}", i + 1), format!("t1/c{i}")));
        assert!(read[i].contains(&format!("look [{}]", evidence.id)), "{}", read[i]);
    }
}
