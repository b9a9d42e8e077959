//! Caps: each ends a run with its own status and name, labelled partial, with a last synthesis or with what exists.
//! Budgets down the tree: reserved before a child starts, settled after, never more than the cap.

use crate::common::{Answer, Asked, Plan, Script, Sim, agent, calls, delegates, fails, leads, says, says_of, team, to};
use deputize_core::budget::{Budget, Caps};
use deputize_core::code::{self, Code};
use deputize_core::definition::Team;
use deputize_core::event::Event;
use deputize_core::step::Retry;
use deputize_core::summary::{Summary, Terminal};
use serde_json::{Value, json};

fn look() -> (&'static str, Value) {
    ("look", json!({"at": "a"}))
}

/// A model that calls the same tool for ever, until it is asked to close.
fn looper() -> Script {
    Script::new(|asked: &Asked<'_>| match asked.label {
        "closing" => says("this is what I have"),
        _ => calls(&[look()]),
    })
}

fn one(caps: Caps) -> Team {
    let mut one = agent("one", &["look"]);
    one.budget = caps;
    team(vec![one])
}

fn capped(summary: &Summary, status: Terminal, limit: &str, code: Code) {
    let found = (summary.status, summary.limit.as_deref(), summary.partial);
    assert_eq!(found, (status, Some(limit), true), "{summary:?}");
    assert_eq!(summary.reason_code, Some(code));
}

// A loop ends by its turns, and never as a success.
// covers E-21, L-50
#[test]
fn turns_end_in_a_closing() {
    let script = looper();
    let sim = Sim::run(&one(Caps { turns: Some(7), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::MaxTurns, "turns", code::BUDGET_TURNS);
    assert_eq!(sim.summary().payload, json!({"result": "this is what I have"}));
    assert_eq!((sim.summary().spent.model_calls, sim.summary().evidence.len()), (8, 7));
    let closing = sim.request("one", "closing");
    assert!(closing.tools.is_empty() && closing.messages.len() == 1);
    let deputize_core::message::Message::User { text } = &closing.messages[0] else { panic!() };
    assert!(text.contains("<look") && text.contains("The limit of turns is reached"), "{text}");
}

// covers L-48, L-50
#[test]
fn tool_calls_end_in_a_closing() {
    let script = looper();
    let sim = Sim::run(&one(Caps { tool_calls: Some(3), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "tool_calls", code::BUDGET_TOOL_CALLS);
    assert_eq!(sim.summary().payload["result"], "this is what I have");
    assert_eq!(sim.tools_used(), 3);
}

// One call is kept back for the closing.
// covers E-21, L-50
#[test]
fn model_calls_end_in_a_closing() {
    let script = looper();
    let sim = Sim::run(&one(Caps { model_calls: Some(4), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "model_calls", code::BUDGET_MODEL_CALLS);
    assert_eq!((sim.summary().spent.model_calls, sim.tools_used()), (4, 3));
    assert_eq!(sim.summary().payload["result"], "this is what I have");
    let sim = Sim::run(&one(Caps { model_calls: Some(1), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "model_calls", code::BUDGET_MODEL_CALLS);
    assert_eq!(sim.summary().spent.model_calls, 1);
}

// The last synthesis is paid from what was kept back.
// covers L-49, L-50
#[test]
fn tokens_end_in_a_closing() {
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "closing" => says("this is what I have").using(500, 50),
        _ => calls(&[look()]).saying("going on").using(2_000, 400),
    });
    let sim = Sim::run(&one(Caps { tokens: Some(20_000), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "tokens", code::BUDGET_TOKENS);
    assert_eq!(sim.summary().payload["result"], "this is what I have");
    assert!(sim.summary().spent.usage.tokens() <= 20_000);
    assert!(sim.request("one", "closing").max_output >= 256, "there is room to say it");
}

// A cap so small that not even a closing fits ends with what exists.
// covers L-49
#[test]
fn a_cap_without_room_for_a_closing_gives_what_exists() {
    let script = Script::new(|_: &Asked<'_>| calls(&[look()]).saying("so far so good").using(1_500, 100));
    let sim = Sim::run(&one(Caps { tokens: Some(2_000), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "tokens", code::BUDGET_TOKENS);
    assert_eq!(sim.summary().payload["result"], "so far so good");
    assert!(sim.requests.iter().all(|r| r.label != "closing"));
}

// A closing that fails, is empty, or calls tools leaves what exists.
// covers L-50
#[test]
fn a_closing_that_fails_leaves_what_exists() {
    let closings: [fn() -> Answer; 3] =
        [|| fails(code::MODEL_REQUEST, Retry::Never), || says("  "), || calls(&[look()])];
    for closing in closings {
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "closing" => closing(),
            _ => calls(&[look()]).saying("so far"),
        });
        let sim = Sim::run(&one(Caps { turns: Some(2), ..Caps::default() }), &script);
        capped(&sim.summary(), Terminal::MaxTurns, "turns", code::BUDGET_TURNS);
        assert_eq!(sim.summary().payload["result"], "so far");
        assert_eq!(sim.tools_used(), 2, "a closing calls no tools");
    }
}

// Under an output schema a closing that keeps to it is the payload as it is.
// covers L-50, E-16
#[test]
fn a_closing_under_a_schema() {
    let mut team = one(Caps { turns: Some(1), ..Caps::default() });
    team.agents.get_mut("one").unwrap().output = Some(json!({"type": "object", "required": ["n"]}));
    for (said, payload) in [(r#"{"n": 3}"#, json!({"n": 3})), ("no JSON", json!({"result": "no JSON"}))] {
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "closing" => says(said),
            _ => calls(&[look()]),
        });
        let summary = Sim::run(&team, &script).summary();
        assert_eq!((summary.status, summary.payload), (Terminal::MaxTurns, payload));
    }
}

/// Asks for so many children in its first turn, then closes.
fn spawner(children: usize) -> Script {
    Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&(0..children).map(|i| to("kid", &format!("part {i}"))).collect::<Vec<_>>()),
        ("lead", "closing") => says("what the children found"),
        ("lead", _) => says("all of it"),
        _ => says("found"),
    })
}

fn family(caps: Caps) -> Team {
    let mut lead = leads("lead", &["look"], &["kid"]);
    lead.budget = caps;
    team(vec![lead, agent("kid", &[])])
}

// Fifty spawns are not possible.
// covers L-47, L-50, L-38
#[test]
fn children_end_in_a_closing() {
    let script = spawner(50);
    let sim = Sim::run(&family(Caps::default()), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "children", code::BUDGET_CHILDREN);
    assert_eq!(sim.logs.len(), 21, "twenty, the default, and the root");
    let state = sim.state("r");
    assert!((0..50).all(|i| state.outcome(&format!("t1/c{i}")).is_some()));
    assert_eq!(sim.summary().payload["result"], "what the children found");
    let exact = spawner(3);
    let sim = Sim::run(&family(Caps { children: Some(3), ..Caps::default() }), &exact);
    assert_eq!(sim.summary().status, Terminal::Succeeded, "using all of a cap is not going over it");
}

// covers F-11, L-50
#[test]
fn runs_of_the_tree_end_in_a_closing() {
    let script = spawner(6);
    let sim = Sim::run(&family(Caps { runs: Some(4), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "runs", code::BUDGET_RUNS);
    assert_eq!((sim.logs.len(), sim.summary().spent.runs), (4, 4));
}

// The deepest level is offered no `delegate`, and a call of it is refused.
// covers F-11
#[test]
fn depth_is_a_wall_and_no_cap_that_trips() {
    let mut team = team(vec![leads("a", &[], &["b"]), leads("b", &[], &["a"])]);
    team.budget.depth = 2;
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => {
            let next = if asked.path.ends_with("a") || asked.path.ends_with("a#1") { "b" } else { "a" };
            delegates(&[to(next, "go deeper")])
        }
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!((sim.summary().status, sim.logs.len()), (Terminal::Succeeded, 3));
    let deepest = sim.request("a/b#1/a#1", "t1");
    assert!(deepest.tools.is_empty() && !deepest.system.contains("delegate"));
    assert_eq!(sim.summary_of("r/t1/c0/t1/c0").findings[0].code, code::SPAWN_DEPTH);
}

fn budgets(sim: &Sim<'_>) -> Vec<Budget> {
    let one = |r: &deputize_core::event::Recorded| match &r.event {
        Event::StepStarted(s) => s.delegation.as_ref().map(|d| d.brief.budget.value),
        _ => None,
    };
    sim.logs.values().next().unwrap().iter().filter_map(one).collect()
}

// Shares of what is left, behind the closing reserve, by the delegations that run at once.
// covers E-15, E-21
#[test]
fn children_share_what_is_left() {
    let script = spawner(2);
    let sim = Sim::run(&family(Caps { tokens: Some(100_000), ..Caps::default() }), &script);
    let given = budgets(&sim);
    assert_eq!((given[0].tokens, given[1].tokens), ((100_000 - 8_000 - 30) / 2, (100_000 - 8_000 - 30) / 2));
    assert_eq!((given[0].runs, given[0].turns, given[0].tool_calls), (1, 30, 100));
    let script = spawner(10);
    let sim = Sim::run(&family(Caps { tokens: Some(100_000), ..Caps::default() }), &script);
    let given = budgets(&sim);
    assert_eq!(given.len(), 10, "four at once, the others when something came back");
    assert!(given.iter().all(|b| b.tokens >= (100_000 - 8_000 - 400) / 4 / 2), "nobody is starved: {given:?}");
    let sim = Sim::run(&family(Caps::default()), &script);
    assert!(budgets(&sim).iter().all(|b| b.tokens == 400_000), "never more than the default of a run");
}

// A child that leads shares the runs of the tree, a leaf needs one.
// covers F-11
#[test]
fn runs_are_shared_among_those_that_lead() {
    let mut team = team(vec![leads("top", &[], &["lead"]), leads("lead", &[], &["kid"]), agent("kid", &[])]);
    team.budget.tree.runs = Some(21);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("top", "t1") => delegates(&[to("lead", "a"), to("lead", "b")]),
        ("top/lead#1", "t1") => delegates(&[to("kid", "a")]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(budgets(&sim).iter().map(|b| b.runs).collect::<Vec<_>>(), [10, 10]);
    assert_eq!(sim.state("r/t1/c0").started().unwrap().brief.budget.value.runs, 10);
    assert_eq!(sim.summary().spent.runs, 4);
}

fn asks(tokens: u64) -> Value {
    let mut brief = to("kid", "work");
    brief["budget"] = json!({"tokens": tokens, "time_s": 5, "turns": 3, "tool_calls": 2});
    brief
}

// An explicit cap waits for the siblings, then is cut to what is left.
// covers E-15, E-17
#[test]
fn an_explicit_cap_waits_then_is_cut() {
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[asks(60_000), asks(50_000), asks(90_000), asks(1_000)]),
        ("lead", _) => says("done"),
        _ => says("found").using(9_000, 1_000),
    });
    let sim = Sim::run(&family(Caps { tokens: Some(100_000), ..Caps::default() }), &script);
    let given = budgets(&sim);
    let tokens: Vec<u64> = given.iter().map(|b| b.tokens).collect();
    assert_eq!(tokens[..2], [60_000, 50_000]);
    assert_eq!(tokens[2], 100_000 - 8_000 - 30 - 20_000, "cut to what is left when nothing can come back");
    assert_eq!(tokens[3], 1_000, "the smaller one does not overtake it");
    assert_eq!((given[0].time, given[0].turns, given[0].tool_calls), (5_000, 3, 2));
    let order: Vec<String> = sim.logs[&crate::common::sim::root()]
        .iter()
        .filter_map(|r| match &r.event {
            Event::StepStarted(s) if s.delegation.is_some() => Some(s.label.to_string()),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["t1/c0", "t1/c1", "t1/c2", "t1/c3"], "children start in call order");
}

// Too little for a child is a refusal that says so.
// covers E-15, L-49
#[test]
fn too_little_for_a_child_is_refused() {
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "work")]).using(8_200, 100),
        ("lead", _) => says("what there is"),
        _ => panic!("no child can run"),
    });
    let sim = Sim::run(&family(Caps { tokens: Some(10_000), ..Caps::default() }), &script);
    capped(&sim.summary(), Terminal::BudgetExhausted, "tokens", code::BUDGET_EXHAUSTED);
}

// What a call in flight used beyond its reservation is recorded, and ends the run.
// covers E-21
#[test]
fn excess_is_recorded() {
    let script = Script::new(|_: &Asked<'_>| calls(&[look()]).using(50_000, 0));
    let sim = Sim::run(&one(Caps { tokens: Some(20_000), ..Caps::default() }), &script);
    assert_eq!(sim.summary().status, Terminal::BudgetExhausted);
    let state = sim.state("r");
    assert_eq!(state.ledger().spent.usage.tokens(), 50_000);
    assert!(state.ledger().excess >= 30_000);
    let found: Vec<_> = state.findings().iter().filter(|f| f.code == code::SPEND_EXCESS).collect();
    assert_eq!(found.len(), 1, "said once: {:?}", state.findings());
}

// Spent and reserved stay within the cap in every log, whatever arrives first (the checker looks at
// each prefix); the children's spend is the parent's.
// covers E-21, L-49
#[test]
fn the_account_holds_in_every_order() {
    let mut team = team(vec![
        leads("top", &["look"], &["lead", "kid"]),
        leads("lead", &["look"], &["kid"]),
        agent("kid", &["look"]),
    ]);
    team.budget.tree.tokens = Some(60_000);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path.matches('/').count(), asked.label) {
        (0, "t1") => delegates(&[to("lead", "a"), to("kid", "b"), to("lead", "c"), to("kid", "d"), to("kid", "e")]),
        (1, "t1") if asked.path.contains("lead") => delegates(&[to("kid", "a"), to("kid", "b"), to("kid", "c")]),
        (_, "t1" | "t2") => calls(&[look()]).using(900, 300),
        _ => says("done").using(700, 200),
    });
    for seed in 0..60 {
        let sim = Sim::with(&team, &script, Plan { seed: Some(seed), tick: 3, ..Plan::default() });
        let own = |run: &deputize_core::id::RunId| sim.summary_of(run.as_str()).spent.usage.tokens();
        for run in sim.logs.keys() {
            let below: u64 = sim
                .logs
                .keys()
                .filter(|c| c.as_str().rsplit_once("/t").is_some_and(|(p, _)| p == run.as_str()))
                .map(own)
                .sum();
            assert!(own(run) >= below, "seed {seed}: {run}");
        }
    }
}

// A child that runs out reports what it has, and its parent goes on.
// covers E-60, E-21
#[test]
fn a_child_that_runs_out_reports() {
    let mut team = family(Caps::default());
    let kid = team.agents.get_mut("kid").unwrap();
    kid.tools = deputize_core::definition::ToolChoice::Listed(vec!["look".into()]);
    kid.budget.turns = Some(2);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "work")]),
        ("lead", _) => says("it is only half of it"),
        (_, "closing") => says_of(&json!("half")),
        _ => calls(&[look()]),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    let read = &sim.results("lead", "t2")[0];
    assert!(read.starts_with(r#"{"status":"max_turns","unverified":"#), "{read}");
    assert!(read.contains(r#""partial":true"#) && read.contains("cut short"), "{read}");
}

// A cap that trips behind a delegation that is held: the held one is refused next, whether events are appended one by one
// or in one batch.
// covers L-50, F-10
#[test]
fn a_cap_that_trips_behind_a_held_delegation() {
    let mut team = family(Caps { tokens: Some(100_000), tool_calls: Some(1), ..Caps::default() });
    team.agents.get_mut("lead").unwrap().grant = None;
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => {
            let mut list = vec![("delegate", asks(60_000)), ("delegate", asks(60_000))];
            list.extend([look(), look(), look()]);
            calls(&list)
        }
        _ => says("done"),
    });
    let kinds = |single| -> Vec<String> {
        let sim = Sim::with(&team, &script, Plan { single, ..Plan::default() });
        let line = |r: &deputize_core::event::Recorded| match &r.event {
            Event::StepDenied { label, .. } => format!("denied {label}"),
            other => other.kind().to_string(),
        };
        sim.logs[&crate::common::sim::root()].iter().map(line).collect()
    };
    assert_eq!(kinds(false), kinds(true));
    let denied: Vec<String> = kinds(false).into_iter().filter(|k| k.starts_with("denied")).collect();
    assert_eq!(denied, ["denied t1/c3", "denied t1/c1", "denied t1/c4", "denied t2"]);
}

// A retry, a repair and a repeat after a crash are the same turn and the same call.
// covers E-21, F-05
#[test]
fn repeats_are_neither_turns_nor_tool_calls() {
    let script = Script::new(|asked: &Asked<'_>| match (asked.label, asked.failures, asked.rejections) {
        ("t1", 0, _) => fails(code::MODEL_OVERLOADED, Retry::After(None)),
        ("t1", ..) => calls(&[look()]),
        ("t2", ..) => calls(&[look()]),
        ("t3", _, 0) => says("cut").stopped(deputize_core::message::Stop::Length),
        _ => says("done"),
    });
    let team = one(Caps { turns: Some(3), tool_calls: Some(2), ..Caps::default() });
    let calm = Sim::run(&team, &script);
    assert_eq!(calm.summary().status, Terminal::Succeeded, "{:?}", calm.summary());
    for at in 1..calm.appended {
        let crashes = vec![crate::common::Crash { at, performed: true }];
        let sim = Sim::with(&team, &script, Plan { crashes, ..Plan::default() });
        assert_eq!(sim.summary().status, Terminal::Succeeded, "at {at}: {:?}", sim.summary());
    }
}

// A closing over a long conversation keeps room for its answer.
// covers L-50
#[test]
fn a_closing_has_room_for_its_answer() {
    use deputize_core::definition::ModelLimits;
    let mut team = one(Caps { turns: Some(3), ..Caps::default() });
    let limits = ModelLimits { context: 8_000, max_output: 2_000, ..ModelLimits::default() };
    team.models.limits.insert("test:small".into(), limits);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "closing" => says("what there is"),
        _ => calls(&[look()]),
    })
    .tools(|_| crate::common::text(&"word ".repeat(1_700)));
    let sim = Sim::run(&team, &script);
    capped(&sim.summary(), Terminal::MaxTurns, "turns", code::BUDGET_TURNS);
    assert_eq!(sim.request("one", "closing").max_output, 2_000);
}

/// A root that starts so many leads in one turn, each with one child.
fn company(leads_in_a_turn: usize, runs: u64) -> (Team, Script) {
    let mut team = team(vec![leads("top", &[], &["lead"]), leads("lead", &[], &["kid"]), agent("kid", &[])]);
    team.budget.tree.tokens = Some(4_000_000);
    team.budget.tree.runs = Some(runs);
    let script = Script::new(move |asked: &Asked<'_>| match (asked.path.matches('/').count(), asked.label) {
        (0, "t1") => delegates(&(0..leads_in_a_turn).map(|i| to("lead", &format!("part {i}"))).collect::<Vec<_>>()),
        (1, "t1") => delegates(&[to("kid", "work")]),
        _ => says("done"),
    });
    (team, script)
}

// Runs are shared as tokens are: whoever leads waits for what may come back instead of starting without a child.
// covers F-11
#[test]
fn whether_a_lead_may_delegate_does_not_depend_on_its_place() {
    for (many, runs) in [(6, 50), (6, 13), (3, 8)] {
        let (team, script) = company(many, runs);
        let sim = Sim::run(&team, &script);
        let given: Vec<u64> = budgets(&sim).iter().map(|b| b.runs).collect();
        assert!(given.len() == many && given.iter().all(|n| *n > 1), "{given:?} of {runs}");
        for i in 0..many {
            assert_eq!(sim.summary_of(&format!("r/t1/c{i}")).status, Terminal::Succeeded, "{i} of {runs}");
        }
    }
}

// Runs that are asked for wait for siblings to settle, then are cut to what is left.
// covers F-11
#[test]
fn runs_that_are_asked_for_wait_then_are_cut() {
    let (mut team, script) = company(2, 11);
    team.agents.get_mut("lead").unwrap().budget.runs = Some(8);
    let given = |team: &Team| budgets(&Sim::run(team, &script)).iter().map(|b| b.runs).collect::<Vec<_>>();
    assert_eq!(given(&team), [8, 8]);
    team.agents.get_mut("lead").unwrap().budget.runs = Some(9);
    team.budget.tree.runs = Some(9);
    assert_eq!(given(&team), [8, 6]);
}
