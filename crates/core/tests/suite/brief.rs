//! The contract of a delegation: what is rejected and why, what is degraded, who gave each field. A refused brief starts
//! nothing: no run, no model call, one event.

use crate::common::team::supplied;
use crate::common::{Asked, Plan, Script, Sim, agent, calls, delegates, leads, says, team, to};
use deputize_core::brief::{Brief, Draft, MemoryScope, Mode, Origin, Stated, Success};
use deputize_core::budget::Budget;
use deputize_core::code::{self, Code};
use deputize_core::definition::{Definition, Profile, Team};
use deputize_core::event::Event;
use deputize_core::id::{AgentName, ToolName};
use deputize_core::policy::Layers;
use deputize_core::schema;
use deputize_core::step::{Outcome, Refusal};
use serde_json::{Value, json};

/// A lead that may use `look` and `send`, a reader that holds `look` and `save`, and one that the lead may not call.
fn strict() -> Team {
    let mut lead = leads("lead", &["look", "send"], &["reader"]);
    lead.grant = Some(["look", "save"].iter().map(ToolName::new).collect());
    team(vec![lead, agent("reader", &["look", "save"]), agent("hidden", &["look"])])
}

/// One turn with these calls, then an answer.
fn turn_of(briefs: Vec<Value>) -> Script {
    Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&briefs),
        _ => says("done"),
    })
}

/// What became of the only delegation of a run in which nothing else may start.
fn refused(team: &Team, brief: Value) -> Refusal {
    let script = turn_of(vec![brief.clone()]);
    let sim = Sim::run(team, &script);
    assert_eq!(sim.logs.len(), 1, "{brief}: a run was started");
    assert!(sim.requests.iter().all(|r| r.path == "lead"), "{brief}: a model was called");
    assert_eq!(sim.count("r", "step_denied"), 1, "{brief}");
    let state = sim.state("r");
    let Some(Outcome::Denied(refusal)) = state.outcome("t1/c0") else { panic!("{brief}: not refused") };
    let finding = &sim.summary().findings[0];
    assert_eq!((&finding.code, finding.scope.as_str()), (&refusal.code, "r"), "{brief}: a finding of the scope");
    refusal.clone()
}

fn rejected(team: &Team, brief: Value, code: &Code) -> String {
    let refusal = refused(team, brief.clone());
    assert_eq!((&refusal.code, refusal.mode), (code, Some(Mode::Rejected)), "{brief}: {}", refusal.why);
    refusal.why
}

fn without(field: &str) -> Value {
    let mut brief = to("reader", "read it");
    brief.as_object_mut().unwrap().shift_remove(field);
    brief
}

fn with(field: &str, value: Value) -> Value {
    let mut brief = to("reader", "read it");
    brief[field] = value;
    brief
}

// covers E-11, E-44, L-22, L-30, L-31, L-32, L-33, L-52
#[test]
fn a_missing_text_is_named() {
    let team = strict();
    let texts = [
        ("objective", code::BRIEF_OBJECTIVE_MISSING),
        ("output_format", code::BRIEF_OUTPUT_FORMAT_MISSING),
        ("guidance", code::BRIEF_GUIDANCE_MISSING),
        ("boundaries", code::BRIEF_BOUNDARIES_MISSING),
    ];
    for (field, code) in texts {
        for brief in [without(field), with(field, json!("")), with(field, json!(" \n\t")), with(field, Value::Null)] {
            let why = rejected(&team, brief, &code);
            assert!(why.contains(field), "{why}");
        }
    }
    rejected(&team, without("agent"), &code::BRIEF_ROUTE_MISSING);
}

// One line is no brief, whichever line it is.
// covers L-34
#[test]
fn a_one_line_delegation_is_rejected() {
    let team = strict();
    let whole = to("reader", "read it");
    for (field, value) in whole.as_object().unwrap() {
        let line = json!({ field: value });
        assert_eq!(refused(&team, line).mode, Some(Mode::Rejected));
    }
    rejected(&team, json!({"agent": "reader", "objective": "read it"}), &code::BRIEF_OUTPUT_FORMAT_MISSING);
    rejected(&team, json!({}), &code::BRIEF_OBJECTIVE_MISSING);
}

// covers E-12
#[test]
fn a_success_condition_is_needed_from_somebody() {
    let mut team = strict();
    team.agents.get_mut("reader").unwrap().success = None;
    rejected(&team, to("reader", "read it"), &code::BRIEF_SUCCESS_MISSING);
    let script = turn_of(vec![with("success_condition", json!("two pages are read"))]);
    let sim = Sim::run(&team, &script);
    let success = brief_of(&sim).success;
    assert_eq!((success.value.statements, success.by), (vec!["two pages are read".to_string()], Origin::Model));
}

fn brief_of(sim: &Sim<'_>) -> Brief {
    sim.state("r/t1/c0").started().unwrap().brief.clone()
}

fn whole() -> Draft {
    let text = |t: &str| Some(Stated::new(t.to_string(), Origin::Model));
    let budget =
        Budget { tokens: 5_000, time: 5_000, turns: 5, model_calls: None, tool_calls: 5, children: 1, runs: 1 };
    Draft {
        task_type: None,
        objective: text("read it"),
        context: None,
        output_format: text("text"),
        guidance: text("use look"),
        boundaries: text("no more"),
        success: Some(Stated::new(Success::default(), Origin::Definition)),
        output: Some(Stated::new(schema::default_output(), Origin::Default)),
        tools: Some(Stated::new(Vec::new(), Origin::Grant)),
        grant: None,
        memory: Some(Stated::new(MemoryScope::Private, Origin::Default)),
        budget: Some(Stated::new(budget, Origin::Config)),
        permissions: Layers::default(),
    }
}

type Change = fn(&mut Draft);

// An embedding program's brief is held to the same.
// covers E-11, E-12, E-13, E-14, E-15, E-16
#[test]
fn a_draft_is_complete_or_says_what_it_lacks() {
    let brief = whole().complete().unwrap();
    assert!(brief.tools.value.is_empty(), "an allowlist may be empty, but it is there");
    let lacks = |change: fn(&mut Draft)| {
        let mut draft = whole();
        change(&mut draft);
        draft.complete().unwrap_err().code
    };
    let table: [(Change, Code); 12] = [
        (|d| d.objective = None, code::BRIEF_OBJECTIVE_MISSING),
        (|d| d.output_format = None, code::BRIEF_OUTPUT_FORMAT_MISSING),
        (|d| d.guidance = None, code::BRIEF_GUIDANCE_MISSING),
        (|d| d.boundaries = None, code::BRIEF_BOUNDARIES_MISSING),
        (|d| d.success = None, code::BRIEF_SUCCESS_MISSING),
        (|d| d.output = None, code::BRIEF_OUTPUT_SCHEMA_MISSING),
        (|d| d.output.as_mut().unwrap().value = json!({"type": 7}), code::BRIEF_OUTPUT_SCHEMA_INVALID),
        (|d| d.output.as_mut().unwrap().value = json!("text"), code::BRIEF_OUTPUT_SCHEMA_INVALID),
        (|d| d.tools = None, code::BRIEF_TOOLS_MISSING),
        (|d| d.memory = None, code::BRIEF_MEMORY_MISSING),
        (|d| d.budget = None, code::BRIEF_BUDGET_MISSING),
        (|d| d.budget.as_mut().unwrap().value.time = 0, code::BRIEF_BUDGET_NOT_POSITIVE),
    ];
    for (change, code) in table {
        assert_eq!(lacks(change), code);
    }
    assert_eq!(lacks(|d| d.budget.as_mut().unwrap().value.tokens = 0), code::BRIEF_BUDGET_NOT_POSITIVE);
}

// covers E-15
#[test]
fn a_budget_is_positive() {
    let team = strict();
    for name in ["tokens", "time_s", "turns", "tool_calls"] {
        for value in [json!(0), json!(-5), json!(1.5), json!("many")] {
            rejected(&team, with("budget", json!({ name: value })), &code::BRIEF_BUDGET_NOT_POSITIVE);
        }
    }
    let why = rejected(&team, with("budget", json!({"tokens": 900})), &code::BRIEF_BUDGET_NOT_POSITIVE);
    assert!(why.contains("too small"), "{why}");
}

// covers E-16
#[test]
fn an_output_schema_is_a_schema() {
    let mut team = strict();
    team.agents.get_mut("reader").unwrap().output = Some(json!({"type": "nonsense"}));
    rejected(&team, to("reader", "read it"), &code::BRIEF_OUTPUT_SCHEMA_INVALID);
}

// An override narrows or is refused.
// covers E-17, E-13
#[test]
fn nothing_is_wider_than_what_the_parent_may_pass_on() {
    let team = strict();
    let why = rejected(&team, with("tools", json!(["look", "send"])), &code::BRIEF_OVERRIDE_WIDER);
    assert!(why.contains("send"), "{why}");
    for budget in [json!({"tokens": 2_000_001}), json!({"time_s": 3_601}), json!({"runs": 51})] {
        rejected(&team, with("budget", budget), &code::BRIEF_OVERRIDE_WIDER);
    }
    let script = turn_of(vec![with("tools", json!(["look"]))]);
    let tools = brief_of(&Sim::run(&team, &script)).tools;
    assert_eq!((tools.value, tools.by), (vec![ToolName::new("look")], Origin::Model));
    let script = turn_of(vec![with("tools", json!([]))]);
    assert!(brief_of(&Sim::run(&team, &script)).tools.value.is_empty());
}

// What is no brief is told apart from a brief that lacks something.
// covers E-08
#[test]
fn malformed_briefs_name_the_field() {
    let team = strict();
    let table = [
        (with("objective", json!(5)), "objective"),
        (with("context", json!(["a"])), "context"),
        (with("tools", json!("look")), "tools"),
        (with("tools", json!([1])), "tools"),
        (with("budget", json!(5)), "budget"),
        (with("budget", json!({"cents": 5})), "cents"),
        (with("note", json!("x")), "note"),
        (json!(["reader"]), "object"),
        (json!({"malformed": "{\"agent\": \"rea"}), "valid JSON"),
    ];
    for (brief, word) in table {
        let why = rejected(&team, brief, &code::BRIEF_MALFORMED);
        assert!(why.contains(word), "{why}");
    }
}

// Contract, then route, then the rest of the contract.
// covers L-25
#[test]
fn the_order_is_written_part_route_completed_part() {
    let team = strict();
    let mut nobody = to("nobody", " ");
    rejected(&team, nobody.clone(), &code::BRIEF_OBJECTIVE_MISSING);
    nobody["objective"] = json!("read it");
    nobody.as_object_mut().unwrap().shift_remove("boundaries");
    assert_eq!(refused(&team, nobody).mode, Some(Mode::Degraded), "nobody to complete it for");
}

// covers L-23, F-07
#[test]
fn an_unknown_name_is_degraded() {
    let refusal = refused(&strict(), to("stranger", "read it"));
    assert_eq!((refusal.code, refusal.mode), (code::ROUTE_UNKNOWN, Some(Mode::Degraded)));
    let fallback = refusal.fallback.unwrap();
    assert_eq!(fallback.answer, "supervisor fallback for \"read it\" (no specialist: stranger)");
    assert_eq!(fallback.known, [AgentName::new("reader")]);
}

// covers L-45
#[test]
fn a_known_agent_that_is_not_ones_own_is_refused() {
    rejected(&strict(), to("hidden", "read it"), &code::SPAWN_NOT_ALLOWED);
    rejected(&strict(), to("lead", "read it"), &code::SPAWN_NOT_ALLOWED);
}

fn twins() -> Team {
    let names = ["doc-reader", "docreader", "fact-finder"];
    let mut agents = vec![leads("lead", &[], &names)];
    agents.extend(names.map(|n| agent(n, &[])));
    agents[3].task_types = vec!["find".into(), "look-up".into()];
    team(agents)
}

fn goes_to(brief: Value) -> Option<String> {
    let team = twins();
    let script = turn_of(vec![brief]);
    let sim = Sim::run(&team, &script);
    let state = sim.state("r");
    let step = state.steps().find(|(l, _)| l.as_str() == "t1/c0").unwrap().1;
    step.delegation.as_ref().map(|d| d.to.to_string())
}

// Names match exactly, then loosely; two loose matches are none.
// covers L-23
#[test]
fn names_match_exactly_then_loosely() {
    for name in ["fact-finder", "Fact Finder", "FACT_FINDER", "\"fact-finder\"", " 'factfinder' "] {
        assert_eq!(goes_to(to(name, "x")).as_deref(), Some("fact-finder"), "{name}");
    }
    assert_eq!(goes_to(to("docreader", "x")).as_deref(), Some("docreader"));
    assert_eq!(goes_to(to("doc-reader", "x")).as_deref(), Some("doc-reader"));
    assert_eq!(goes_to(to("Doc Reader", "x")), None);
    let mut by_type = to("", "x");
    by_type.as_object_mut().unwrap().shift_remove("agent");
    for (kind, to) in
        [("find", Some("fact-finder")), ("Look up", Some("fact-finder")), ("docreader", Some("docreader"))]
    {
        by_type["task_type"] = json!(kind);
        assert_eq!(goes_to(by_type.clone()).as_deref(), to, "{kind}");
    }
    by_type["agent"] = json!("doc-reader");
    assert_eq!(goes_to(by_type).as_deref(), Some("doc-reader"), "a name wins over a type");
}

// The same call rejected twice is not rejected for ever.
// covers E-61, L-13
#[test]
fn the_third_identical_rejection_is_degraded() {
    let bad = to("reader", " ");
    let script = turn_of(vec![bad.clone(), bad.clone(), bad.clone(), to("reader", "")]);
    let modes = |sim: &Sim<'_>| -> Vec<(Mode, Code)> {
        let denied = |r: &deputize_core::event::Recorded| match &r.event {
            Event::StepDenied { refusal, .. } => Some((refusal.mode.unwrap(), refusal.code.clone())),
            _ => None,
        };
        sim.logs.values().flatten().filter_map(denied).collect()
    };
    let lacks = || (Mode::Rejected, code::BRIEF_OBJECTIVE_MISSING);
    let repeated = || (Mode::Degraded, code::BRIEF_REPEATED);
    let expected = [lacks(), lacks(), repeated(), lacks()];
    let sim = Sim::run(&strict(), &script);
    assert_eq!(modes(&sim), expected, "in one turn");
    let single = Sim::with(&strict(), &script, Plan { single: true, ..Plan::default() });
    assert_eq!(modes(&single), expected, "one append at a time");
    let stubborn = Script::new(move |asked: &Asked<'_>| match asked.label {
        "t1" | "t2" | "t3" => delegates(std::slice::from_ref(&bad)),
        _ => says("done"),
    });
    assert_eq!(modes(&Sim::run(&strict(), &stubborn)), [lacks(), lacks(), repeated()], "in three turns");
}

// What a model leaves out is the definition's, and the log says whose each field is.
// covers E-03
#[test]
fn every_field_records_who_gave_it() {
    let mut team = strict();
    let reader = supplied(team.agents["reader"].clone());
    team.agents.insert(reader.name.clone(), Definition { budget: caps(9_000), ..reader });
    let said = json!({"agent": "reader", "objective": "read it", "guidance": "page one only", "context": " a\n b "});
    let script = turn_of(vec![said]);
    let brief = brief_of(&Sim::run(&team, &script));
    assert_eq!((brief.objective.by, brief.guidance.by), (Origin::Model, Origin::Model));
    assert_eq!((brief.output_format.by, brief.boundaries.by), (Origin::Definition, Origin::Definition));
    assert_eq!((brief.success.by, brief.output.by), (Origin::Definition, Origin::Default));
    assert_eq!((brief.tools.by, brief.grant.by, brief.memory.by), (Origin::Definition, Origin::Grant, Origin::Default));
    assert_eq!((brief.budget.by, brief.budget.value.tokens), (Origin::Definition, 9_000));
    assert_eq!(brief.context.unwrap().value, " a\n b ", "byte-exact");
}

fn caps(tokens: u64) -> deputize_core::budget::Caps {
    deputize_core::budget::Caps { tokens: Some(tokens), ..Default::default() }
}

// In profile `assisted` the rest is derived and marked as derived; the objective never is.
// covers E-12, L-31
#[test]
fn the_assisted_profile_derives_all_but_objective_and_agent() {
    let mut team = strict();
    team.profile = Profile::Assisted;
    team.agents.get_mut("reader").unwrap().success = None;
    let script = turn_of(vec![json!({"agent": "reader", "objective": "read it", "tone": "calm", "n": 3})]);
    let brief = brief_of(&Sim::run(&team, &script));
    let origins = [brief.output_format.by, brief.guidance.by, brief.boundaries.by, brief.success.by];
    assert_eq!(origins, [Origin::Derived; 4]);
    assert_eq!(brief.success.value, Success::default(), "payload valid");
    assert_eq!(brief.context.unwrap().value, "[tone] calm\n\n[n] 3", "unknown fields are passed on, not lost");
    rejected(&team, json!({"agent": "reader"}), &code::BRIEF_OBJECTIVE_MISSING);
    rejected(&team, json!({"agent": "reader", "objective": " "}), &code::BRIEF_OBJECTIVE_MISSING);
}

// What a model must give depends on what the definitions supply.
// covers F-01, E-12
#[test]
fn the_tools_schema_requires_what_nobody_supplies() {
    let required = |team: &Team| {
        let script = Script::new(|_| says("done"));
        let sim = Sim::run(team, &script);
        sim.request("lead", "t1").tools[0].input_schema["required"].clone()
    };
    let mut team = strict();
    assert_eq!(required(&team), json!(["agent", "objective", "output_format", "guidance", "boundaries"]));
    team.agents.get_mut("reader").unwrap().success = None;
    let all = json!(["agent", "objective", "output_format", "guidance", "boundaries", "success_condition"]);
    assert_eq!(required(&team), all);
    team.profile = Profile::Assisted;
    assert_eq!(required(&team), json!(["agent", "objective"]));
}

// Without agents there is no such tool, and a made-up call is refused.
// covers E-26, F-01
#[test]
fn who_has_nobody_to_delegate_to_cannot() {
    let team = team(vec![agent("lead", &["look"])]);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[("delegate", to("lead", "read it"))]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    assert!(sim.request("lead", "t1").tools.iter().all(|t| t.name.as_str() != "delegate"));
    assert_eq!(sim.summary().findings[0].code, code::SPAWN_NOT_ALLOWED);
}

// A brief narrows what the definition, else the configuration gives a run; a model cannot lift it.
// covers E-17, L-48
#[test]
fn a_brief_never_lifts_the_default_of_a_run() {
    let mut team = strict();
    team.agents.get_mut("reader").unwrap().budget.tool_calls = Some(7);
    let wide = [
        ("turns", json!(31)),
        ("tool_calls", json!(8)),
        ("children", json!(21)),
        ("tokens", json!(400_001)),
        ("time_s", json!(901)),
    ];
    for (cap, value) in wide {
        let mut brief = to("reader", "read it");
        brief["budget"] = json!({(cap): value});
        let refusal = refused(&team, brief);
        assert_eq!(refusal.code, code::BRIEF_OVERRIDE_WIDER, "{cap}");
        assert!(refusal.why.contains("reader may have"), "{}", refusal.why);
    }
    let mut brief = to("reader", "read it");
    brief["budget"] = json!({"turns": 30, "tool_calls": 7, "children": 20, "tokens": 400_000, "time_s": 900});
    let sim_script = turn_of(vec![brief]);
    let sim = Sim::run(&team, &sim_script);
    assert_eq!(sim.state("r/t1/c0").started().unwrap().brief.budget.value.tool_calls, 7);
}

// Tools that a brief narrows keep the order of the definition, each once: servers refuse a tool that is offered twice.
// covers E-17, U-09
#[test]
fn narrowed_tools_keep_their_order() {
    let mut brief = to("reader", "read it");
    brief["tools"] = json!(["save", "look", "look"]);
    let script = turn_of(vec![brief]);
    let sim = Sim::run(&strict(), &script);
    let offered: Vec<&str> = sim.request("lead/reader#1", "t1").tools.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(offered, ["look", "save"]);
}

// Whatever the reason: what was rejected twice is answered the third time, so that no model goes in circles.
// covers L-23, F-11
#[test]
fn the_third_refusal_is_answered_whatever_the_reason() {
    let mut deep = team(vec![leads("lead", &[], &["reader"]), agent("reader", &[])]);
    deep.budget.depth = 0;
    let mut unknown = strict();
    unknown.agents.get_mut("reader").unwrap().model = deputize_core::definition::ModelChoice::Named("nobody".into());
    let mut poor = to("reader", "read it");
    poor["budget"] = json!({"tokens": 999});
    let alone = team(vec![agent("lead", &[])]);
    let cases = [
        (deep, to("reader", "read it"), code::SPAWN_DEPTH),
        (alone, to("reader", "read it"), code::SPAWN_NOT_ALLOWED),
        (unknown, to("reader", "read it"), code::MODEL_UNKNOWN),
        (strict(), poor, code::BRIEF_BUDGET_NOT_POSITIVE),
    ];
    for (team, brief, reason) in cases {
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "t1" | "t2" | "t3" => delegates(std::slice::from_ref(&brief)),
            _ => says("done"),
        });
        let sim = Sim::run(&team, &script);
        let state = sim.state("r");
        let modes: Vec<(Option<Mode>, Code)> = ["t1/c0", "t2/c0", "t3/c0"]
            .iter()
            .map(|label| match state.outcome(label) {
                Some(Outcome::Denied(refusal)) => (refusal.mode, refusal.code.clone()),
                other => panic!("{other:?}"),
            })
            .collect();
        let rejected = (Some(Mode::Rejected), reason);
        assert_eq!(modes, [rejected.clone(), rejected, (Some(Mode::Degraded), code::BRIEF_REPEATED)]);
    }
}
