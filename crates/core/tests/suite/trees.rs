//! Whole trees under trouble: crashes at every append, other orders of arrival, cancels at every point, deadlines.

use crate::common::sim::root;
use crate::common::{
    Answer, Asked, Crash, Plan, Script, Sim, Used, agent, calls, delegates, fails, leads, says, says_of, team, text, to,
};
use deputize_core::code;
use deputize_core::definition::Team;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::RunId;
use deputize_core::projection::{Decision, Tree, decisions};
use deputize_core::step::Retry;
use deputize_core::summary::Terminal;
use serde_json::{Value, json};

/// A tree, its world, and how it ends.
struct Case {
    name: &'static str,
    team: Team,
    script: Script,
    runs: usize,
}

fn look(at: &str) -> (&'static str, Value) {
    ("look", json!({"at": at}))
}

/// Two levels: own tools, three children, one rejected and one degraded brief, a repair, a retry, an effectful tool.
fn two_levels() -> Case {
    let mut writer = agent("writer", &["look", "save", "send"]);
    writer.output = Some(json!({"type": "object", "required": ["pages"]}));
    let team = team(vec![leads("lead", &["look"], &["reader", "writer"]), agent("reader", &["look"]), writer]);
    let model = |asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => calls(&[look("a"), look("b"), ("send", json!({}))]),
        ("lead", "t2") => delegates(&[
            to("reader", "read one"),
            to("writer", "write it"),
            to("reader", "read two"),
            to("reader", " "),
            to("stranger", "do it"),
        ]),
        ("lead", _) => says("lead is done"),
        ("lead/writer#1", "t1") if asked.failures == 0 => fails(code::MODEL_OVERLOADED, Retry::After(Some(700))),
        ("lead/writer#1", "t1") if asked.failures == 1 => fails(code::MODEL_TIMEOUT, Retry::Ambiguous),
        ("lead/writer#1", "t1") => calls(&[("save", json!({"at": "x"})), look("y"), ("send", json!({"at": "z"}))]),
        ("lead/writer#1", _) if asked.rejections == 0 => says("no JSON"),
        ("lead/writer#1", _) => says_of(&json!({"pages": 2})),
        (_, "t1") => calls(&[look("c"), look("d")]),
        (path, _) => says(&format!("{path} is done")),
    };
    Case { name: "two levels", team, script: Script::new(model).tools(tools), runs: 4 }
}

/// Three levels: leads of leads, children that fail, a note before an effect.
fn three_levels() -> Case {
    let agents = vec![
        leads("top", &[], &["east", "west"]),
        leads("east", &["look"], &["hand"]),
        leads("west", &["save"], &["hand"]),
        agent("hand", &["look", "save"]),
    ];
    let model = |asked: &Asked<'_>| match (asked.path, asked.label) {
        ("top", "t1") => delegates(&[to("east", "go east"), to("west", "go west")]),
        ("top", "t2") => delegates(&[to("east", "go east again")]),
        ("top/east#1" | "top/west#1", "t1") => delegates(&[to("hand", "one"), to("hand", "two")]),
        ("top/east#1/hand#2", _) => fails(code::MODEL_REFUSED, Retry::Never),
        (path, "t1") if path.contains("hand") => calls(&[("save", json!({"at": "m"})), look("n")]),
        (path, label) => says(&format!("{path} {label} is done")),
    };
    Case { name: "three levels", team: team(agents), script: Script::new(model).tools(tools), runs: 8 }
}

/// `save` notes what it saw before its effect; looking at `b` fails.
fn tools(used: &Used<'_>) -> Answer {
    match used.tool {
        "save" if used.note.is_none() => Answer { reply: crate::common::script::Reply::Note(json!("h1")), latency: 3 },
        "look" if used.arguments["at"] == "b" => fails(code::TOOL_FAILED, Retry::Never),
        tool => text(&format!("<{tool} {}>", used.arguments)).after(7),
    }
}

fn cases() -> [Case; 2] {
    [two_levels(), three_levels()]
}

fn end(sim: &Sim<'_>) -> (Terminal, Value, usize) {
    let summary = sim.summary();
    (summary.status, summary.payload, sim.logs.len())
}

// covers E-30, E-08, E-25, E-62, E-63
#[test]
fn trees_end_and_every_run_has_its_account() {
    for case in cases() {
        let sim = Sim::run(&case.team, &case.script);
        let (status, payload, runs) = end(&sim);
        assert_eq!((status, runs), (Terminal::Succeeded, case.runs), "{}", case.name);
        assert!(payload["result"].as_str().unwrap().ends_with("done"), "{payload}");
        for run in sim.logs.keys() {
            let summary = sim.summary_of(run.as_str());
            assert!(summary.spent.usage.tokens() > 0 || summary.status == Terminal::Failed, "{run}");
        }
        let all: u64 = sim.performed.keys().filter(|k| !k.contains("check/")).count() as u64;
        let spent = sim.summary().spent;
        assert!(spent.model_calls + spent.tool_calls <= all, "{}: {spent:?} for {all} effects", case.name);
    }
}

// Decompose, dispatch, synthesise, each in the log and in order.
// covers E-25, L-13
#[test]
fn a_supervisors_decisions_are_in_its_log() {
    let case = two_levels();
    let sim = Sim::run(&case.team, &case.script);
    let tree = Tree::new(sim.logs.clone().into_iter().collect());
    let found: Vec<Decision> = decisions(&tree.runs()[0]).into_iter().map(|d| d.what).collect();
    use Decision::{Decompose, Dispatch, Reject, Synthesise};
    assert_eq!(found, [Decompose, Dispatch, Dispatch, Dispatch, Reject, Reject, Synthesise]);
}

// Siblings never speak to one another: an attempt is refused, starts nobody, and no word of one is in a request of another.
// The start of each child stands in its parent's log as a delegation to that very agent.
// covers E-27
#[test]
fn siblings_do_not_reach_one_another() {
    let team = team(vec![leads("lead", &[], &["a", "b"]), agent("a", &["look"]), agent("b", &["look"])]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("a", "one"), to("b", "two")]),
        ("lead", _) => says("done"),
        ("lead/a#1", "t1") => calls(&[("delegate", to("b", "do it for me"))]).saying("SENTINEL-A"),
        (path, _) => says(if path == "lead/a#1" { "SENTINEL-A" } else { "SENTINEL-B" }),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.logs.len(), 3, "the attempt started nobody");
    let refused = sim.state("r/t1/c0").findings().iter().filter(|f| f.code == code::SPAWN_NOT_ALLOWED).count();
    assert_eq!(refused, 1);
    for (path, label, other) in [("lead/a#1", "t1", "B"), ("lead/a#1", "t2", "B"), ("lead/b#1", "t1", "A")] {
        let sent = serde_json::to_string(sim.request(path, label)).unwrap();
        assert!(!sent.contains(&format!("SENTINEL-{other}")), "{path} {label}: {sent}");
    }
    for (run, log) in &sim.logs {
        let Event::RunStarted(started) = &log[0].event else { panic!("{run} does not start") };
        let Some((parent, label)) = &started.parent else { continue };
        let state = sim.state(parent.as_str());
        let delegation = state.step(label).and_then(|s| s.delegation.clone()).unwrap();
        assert_eq!((&delegation.to, &delegation.brief), (&started.agent, &started.brief), "{run}");
    }
}

// The verdicts of one batch are those of asking again after each of its events, whatever time the appends take.
#[test]
fn batches_are_the_same_as_single_appends() {
    for case in cases() {
        let plan = |single| Plan { single, tick: 1, ..Plan::default() };
        let batched = Sim::with(&case.team, &case.script, plan(false));
        let single = Sim::with(&case.team, &case.script, plan(true));
        assert_eq!(batched.logs, single.logs, "{}", case.name);
    }
}

// covers F-05, E-60
#[test]
fn a_crash_at_every_append_changes_nothing() {
    for case in cases() {
        let calm = Sim::run(&case.team, &case.script);
        for at in 1..=calm.appended {
            for performed in [false, true] {
                let plan = Plan { crashes: vec![Crash { at, performed }], tick: 1, ..Plan::default() };
                check_crash(&case, &calm, plan);
            }
        }
    }
}

/// The same end; what an effectful step in doubt does to the run is said by its own test below.
fn check_crash(case: &Case, calm: &Sim<'_>, plan: Plan) {
    let mut patient = case.team.clone();
    patient.in_doubt = deputize_core::definition::InDoubt::Retry;
    let sim = Sim::with(&patient, &case.script, plan.clone());
    assert_eq!(end(&sim), end(calm), "{} {plan:?}", case.name);
    if !plan.crashes[0].performed {
        return;
    }
    let careful = Sim::with(&case.team, &case.script, plan);
    let twice: Vec<_> = careful.performed.iter().filter(|(_, n)| **n > 1).map(|(key, _)| key).collect();
    let effectful = |key: &&&String| {
        let (run, label) = key.rsplit_once('#').unwrap().0.split_at(key.rfind("/t").unwrap());
        let state = careful.state(run);
        state.steps().any(|(l, s)| label.ends_with(l.as_str()) && format!("{:?}", s.ask).contains("send"))
    };
    assert_eq!(twice.iter().filter(effectful).count(), 0, "{twice:?}");
}

// Two and three deaths in a row.
// covers F-05
#[test]
fn several_crashes_in_a_row_change_nothing() {
    for case in cases() {
        let mut patient = case.team.clone();
        patient.in_doubt = deputize_core::definition::InDoubt::Retry;
        let calm = Sim::run(&patient, &case.script);
        for at in (2..calm.appended).step_by(5) {
            let crash = |more: usize, performed| Crash { at: at + more, performed };
            let crashes = vec![crash(0, true), crash(1, false), crash(4, true)];
            let sim = Sim::with(&patient, &case.script, Plan { crashes, tick: 1, ..Plan::default() });
            assert_eq!(end(&sim), end(&calm), "{} at {at}", case.name);
        }
    }
}

// The order in which things land changes neither the result nor what is asked of models.
// covers F-09, L-27
#[test]
fn a_hundred_orders_of_arrival_give_one_result() {
    for case in cases() {
        let calm = Sim::run(&case.team, &case.script);
        let asked = |sim: &Sim<'_>| {
            let mut all: Vec<String> = sim.requests.iter().map(|r| format!("{} {}", r.path, r.label)).collect();
            all.sort();
            all
        };
        for seed in 0..120 {
            let sim = Sim::with(&case.team, &case.script, Plan { seed: Some(seed), tick: 1, ..Plan::default() });
            assert_eq!(end(&sim), end(&calm), "{} seed {seed}", case.name);
            assert_eq!(asked(&sim), asked(&calm), "{} seed {seed}", case.name);
        }
    }
}

// A cancel at any point ends every run that had begun, each with its account.
// covers E-60
#[test]
fn a_cancel_at_every_point_ends_everything_with_accounts() {
    for case in cases() {
        let calm = Sim::run(&case.team, &case.script);
        for at in 1..calm.appended {
            let sim = Sim::with(&case.team, &case.script, Plan { cancel: Some((at, None)), ..Plan::default() });
            let summary = sim.summary();
            let late = summary.status == Terminal::Succeeded;
            assert!(late || summary.status == Terminal::Cancelled, "{} at {at}: {summary:?}", case.name);
            assert!(late || (summary.partial && summary.reason_code == Some(code::RUN_CANCELLED)), "{summary:?}");
            assert!(sim.logs.values().all(|log| ended(log)), "{} at {at}", case.name);
        }
    }
}

fn ended(log: &[Recorded]) -> bool {
    matches!(log.last().unwrap().event, Event::RunFinished { .. })
}

// A cancelled child is a result like any other.
// covers F-07, E-60
#[test]
fn a_cancelled_child_does_not_end_its_parent() {
    let case = three_levels();
    let child = RunId::new("r/t1/c0");
    let calm = Sim::run(&case.team, &case.script);
    let began = 1 + calm.logs[&root()].iter().position(|r| r.event.kind() == "step_succeeded").unwrap();
    for at in began + 4..calm.appended {
        let plan = Plan { cancel: Some((at, Some(child.clone()))), ..Plan::default() };
        let sim = Sim::with(&case.team, &case.script, plan);
        assert_eq!(sim.summary().status, Terminal::Succeeded, "at {at}");
        let status = sim.summary_of("r/t1/c0").status;
        assert!(matches!(status, Terminal::Cancelled | Terminal::Succeeded), "at {at}: {status:?}");
    }
}

// Time is a cap; what exists is the result.
// covers E-21, E-60
#[test]
fn time_ends_a_run_with_what_exists() {
    let mut team = team(vec![leads("lead", &[], &["slow", "quick"]), agent("slow", &[]), agent("quick", &[])]);
    team.budget.tree.time = Some(10_000);
    let script = Script::new(|asked: &Asked<'_>| match asked.path {
        "lead" if asked.label == "t1" => delegates(&[to("quick", "a"), to("slow", "b")]).saying("I split it"),
        "lead/quick#1" => says("in time"),
        _ => says("late").after(60_000),
    });
    let sim = Sim::run(&team, &script);
    let summary = sim.summary();
    assert_eq!((summary.status, summary.partial, summary.limit.as_deref()), (Terminal::Deadline, true, Some("time")));
    assert_eq!(summary.payload["result"], "I split it");
    assert_eq!(summary.payload["reports"][0]["payload"]["result"], "in time");
    assert_eq!(sim.summary_of("r/t1/c1").status, Terminal::Deadline);
}

// A child's own time ends the child alone.
// covers E-21
#[test]
fn a_childs_deadline_is_its_own() {
    let mut slow = agent("slow", &[]);
    slow.timeout = Some(2_000);
    let team = team(vec![leads("lead", &[], &["slow"]), slow]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("slow", "b")]),
        ("lead", _) => says("it took too long"),
        _ => says("late").after(60_000),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    let child = sim.summary_of("r/t1/c0");
    assert_eq!((child.status, child.limit.as_deref()), (Terminal::Deadline, Some("time")));
    assert!(sim.now.since(deputize_core::id::Time(1_000_000)) < 3_000, "nobody waits for it longer");
}

// The time between a death and the resume is nobody's.
// covers E-21, F-05
#[test]
fn a_pause_does_not_count_against_the_deadline() {
    let mut team = team(vec![agent("one", &["look"])]);
    team.budget.tree.time = Some(30_000);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[look("a")]),
        _ => says("done"),
    });
    let calm = Sim::run(&team, &script);
    for at in 1..calm.appended {
        let crashes = vec![Crash { at, performed: true }; 2];
        let sim = Sim::with(&team, &script, Plan { crashes, ..Plan::default() });
        assert_eq!(sim.summary().status, Terminal::Succeeded, "at {at}");
    }
}

// From a child up to the root, each with the step that led on, and what it rests on.
// covers L-15
#[test]
fn the_causal_chain_is_one_query() {
    let case = three_levels();
    let sim = Sim::run(&case.team, &case.script);
    let tree = Tree::new(sim.logs.clone().into_iter().collect());
    let leaf = RunId::new("r/t1/c1/t1/c0");
    let chain: Vec<(&str, Option<&str>)> =
        tree.path(&leaf).iter().map(|(run, step)| (run.id.as_str(), step.map(|l| l.as_str()))).collect();
    assert_eq!(chain, [("r", Some("t1/c1")), ("r/t1/c1", Some("t1/c0")), ("r/t1/c1/t1/c0", None)]);
    assert_eq!(tree.evidence(&leaf).len(), 2);
    assert_eq!(tree.spent(&root()), sim.summary().spent, "what the runs used themselves adds up to the root's account");
}
