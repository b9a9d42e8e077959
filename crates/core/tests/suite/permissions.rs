//! Rules on paths at the gate and down the tree: the project's, an ancestor's, an agent's own, a delegation's.

use crate::common::{Asked, Script, Sim, Used, agent, calls, delegates, leads, says, team, text, to};
use deputize_core::code;
use deputize_core::definition::{Definition, PathArgument, Team};
use deputize_core::event::Event;
use deputize_core::id::{AgentName, ToolName};
use deputize_core::policy::{Access, Glob, Layer, Layers, Permission, Rule, Source, Use};
use deputize_core::summary::Terminal;
use serde_json::{Value, json};

const BOTH: &[Access] = &[Access::Read, Access::Write];

fn rule(operations: &[Access], mode: Permission, path: &str) -> Rule {
    let paths = vec![Glob::parse(path).unwrap()];
    Rule { operations: operations.to_vec(), paths, mode, reason: None }
}

fn ruled(agent: Definition, rules: Vec<Rule>) -> Definition {
    Definition { permissions: Some(rules), ..agent }
}

/// A team whose `look` reads and whose `save` writes the path `at`, with these rules of the project.
fn project(agents: Vec<Definition>, rules: Vec<Rule>) -> Team {
    let mut team = team(agents);
    for (name, usage) in [("look", Use::Read), ("save", Use::Write)] {
        let path = PathArgument { name: "at".into(), uses: vec![usage] };
        team.tools.get_mut(&ToolName::new(name)).unwrap().paths = vec![path];
    }
    if !rules.is_empty() {
        team.layers = Layers::new([Layer { source: Source::Project, rules }]);
    }
    team
}

fn shut(path: &str) -> Vec<Rule> {
    vec![rule(BOTH, Permission::Deny, path), rule(BOTH, Permission::Allow, "/")]
}

fn open() -> Vec<Rule> {
    vec![rule(BOTH, Permission::Allow, "/")]
}

/// Every run of a chain delegates to the next and then looks at a path, before it says what it was told.
fn chain(names: &'static [&'static str], at: &'static str) -> Script {
    Script::new(move |asked: &Asked<'_>| {
        let depth = asked.path.matches('/').count();
        match (asked.label, names.get(depth + 1)) {
            ("t1", Some(next)) => delegates(&[to(next, "go on")]),
            ("t1", None) | ("t2", Some(_)) => calls(&[("look", json!({"at": at}))]),
            _ => says("done"),
        }
    })
}

/// The sentence of each refused call, by run.
fn refusals(sim: &Sim<'_>) -> Vec<(String, String)> {
    let of = |event: &Event| match event {
        Event::StepDenied { refusal, .. } => Some(refusal.why.clone()),
        _ => None,
    };
    let denied = |run: &String| sim.logs[run.as_str()].iter().filter_map(|r| of(&r.event)).collect::<Vec<_>>();
    let runs: Vec<String> = sim.logs.keys().map(|run| run.as_str().to_string()).collect();
    runs.iter().flat_map(|run| denied(run).into_iter().map(|why| (run.clone(), why))).collect()
}

// Neither a child nor a grandchild reads what the project closes, whatever its own file allows, and the same rule is named.
// covers D-08, X-09
#[test]
fn fault_33_rules_of_the_project_hold_for_every_run_below() {
    let agents = vec![
        leads("lead", &["look"], &["mid"]),
        ruled(leads("mid", &["look"], &["leaf"]), open()),
        ruled(agent("leaf", &["look"]), open()),
    ];
    let team = project(agents, shut("/secrets/"));
    let script = chain(&["lead", "mid", "leaf"], "secrets/a");
    let sim = Sim::run(&team, &script);
    let refused = refusals(&sim);
    assert_eq!(refused.iter().map(|(run, _)| run.as_str()).collect::<Vec<_>>(), ["r", "r/t1/c0", "r/t1/c0/t1/c0"]);
    for (run, why) in refused {
        assert_eq!(why, "look: `secrets/a` may not be read: rule 1 of the project denies it (`/secrets/`)", "{run}");
    }
    assert_eq!(sim.tools_used(), 0);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    let told = sim.results("lead/mid#1/leaf#1", "t2");
    assert!(told[0].contains("permission.denied") && told[0].contains("rule 1 of the project"), "{}", told[0]);
}

// A child is held by its parent's list and by its own; the list in its brief is what holds.
// covers X-09
#[test]
fn fault_34_parent_and_child_are_combined_for_every_pair() {
    let words = [Permission::Allow, Permission::Ask, Permission::Deny];
    for (tool, operation) in [("look", Access::Read), ("save", Access::Write)] {
        for (parent, child) in words.iter().flat_map(|p| words.iter().map(move |c| (*p, *c))) {
            let list = |mode| vec![rule(&[operation], mode, "/a"), rule(BOTH, Permission::Allow, "/")];
            let agents = vec![
                ruled(leads("lead", &[], &["reader"]), list(parent)),
                ruled(agent("reader", &[tool]), list(child)),
            ];
            let team = project(agents, Vec::new());
            let script = Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
                ("lead", "t1") => delegates(&[to("reader", "try it")]),
                (_, "t1") => calls(&[(tool, json!({"at": "a"})), (tool, json!({"at": "b"}))]),
                _ => says("done"),
            });
            let sim = Sim::run(&team, &script);
            let codes: Vec<_> = sim.summary_of("r/t1/c0").findings.iter().map(|f| f.code.clone()).collect();
            let expected = match parent.max(child) {
                Permission::Allow => vec![],
                Permission::Ask => vec![code::APPROVAL_UNAVAILABLE],
                Permission::Deny => vec![code::PERMISSION_DENIED],
            };
            assert_eq!(codes, expected, "{tool}: {parent:?} and {child:?}");
            assert_eq!(sim.tools_used(), 2 - expected.len());
            let held = sim.state("r/t1/c0").started().unwrap().brief.permissions.clone();
            let sources: Vec<String> = held.as_slice().iter().map(|layer| layer.source.to_string()).collect();
            assert_eq!(sources, ["agent lead", "agent reader"]);
        }
    }
}

// An empty list is a list: it opens nothing, neither alone nor under a parent that denies.
// covers X-09, X-10
#[test]
fn an_empty_list_of_a_child_does_not_replace_its_parents() {
    let agents = vec![leads("lead", &["look"], &["leaf"]), ruled(agent("leaf", &["look"]), Vec::new())];
    for rules in [shut("/a"), open(), Vec::new()] {
        let team = project(agents.clone(), rules);
        let script = chain(&["lead", "leaf"], "a");
        let sim = Sim::run(&team, &script);
        assert!(refusals(&sim).iter().any(|(run, _)| run == "r/t1/c0"));
    }
}

// One refused path among good calls is one error result in its place; the others are performed and the run goes on.
// covers X-09
#[test]
fn fault_39_a_refused_path_is_one_result_among_others() {
    let team = project(vec![agent("one", &["look"])], shut("/secrets/"));
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&["a", "secrets/b", "c"].map(|at| ("look", json!({"at": at})))),
        _ => says("done"),
    })
    .tools(|used: &Used<'_>| text(used.arguments["at"].as_str().unwrap()));
    let sim = Sim::run(&team, &script);
    let results = sim.results("one", "t2");
    assert_eq!(results.len(), 3);
    assert!(results[0].contains("\na\n") && results[2].contains("\nc\n"), "{results:?}");
    assert!(results[1].contains("permission.denied") && results[1].contains("`secrets/b`"), "{}", results[1]);
    assert_eq!((sim.tools_used(), sim.summary().status), (2, Terminal::Succeeded));
}

// Nobody can be asked in this build: the child says which call was denied, why, and how to allow it.
// covers X-09
#[test]
fn fault_36_what_would_have_been_asked_says_how_to_allow_it() {
    let asks = Rule { reason: Some("releases are looked at".into()), ..rule(BOTH, Permission::Ask, "/release/") };
    let rules = vec![asks, rule(BOTH, Permission::Allow, "/")];
    let team = project(vec![leads("lead", &[], &["writer"]), ruled(agent("writer", &["save"]), rules)], Vec::new());
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("writer", "write it")]),
        (_, "t1") => calls(&[("save", json!({"at": "release/notes.md"}))]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    let finding = &sim.summary_of("r/t1/c0").findings[0];
    assert_eq!(finding.code, code::APPROVAL_UNAVAILABLE);
    for part in [
        "save: `release/notes.md`",
        "nobody can be asked",
        "rule 1 of agent writer",
        "releases are looked at",
        "put a rule with `mode: allow` before that one in the file of writer",
    ] {
        assert!(finding.text.contains(part), "{part}: {}", finding.text);
    }
    assert!(sim.results("lead", "t2")[0].contains("approval.unavailable"), "the parent is told");
}

fn narrowing(permissions: &Value) -> Value {
    let mut brief = to("mid", "go on");
    brief["permissions"] = permissions.clone();
    brief
}

// A delegation takes paths away, for the child and all below it, and gives none.
// covers E-17, X-09
#[test]
fn a_delegation_only_narrows() {
    let agents = || vec![leads("lead", &[], &["mid"]), leads("mid", &["look"], &["leaf"]), agent("leaf", &["look"])];
    let team = project(agents(), open());
    let run = |permissions: Value| {
        let script = Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
            ("lead", "t1") => delegates(&[narrowing(&permissions)]),
            ("lead/mid#1", "t1") => delegates(&[to("leaf", "go on")]),
            ("lead/mid#1/leaf#1", "t1") | ("lead/mid#1", "t2") => {
                calls(&["x/a", "y/a"].map(|at| ("look", json!({"at": at}))))
            }
            _ => says("done"),
        });
        let sim = Sim::run(&team, &script);
        (refusals(&sim), sim.tools_used(), sim.summary().findings.iter().map(|f| f.code.clone()).collect::<Vec<_>>())
    };
    let (refused, used, _) = run(json!([{"operations": ["read"], "paths": ["/x/"], "mode": "deny"}]));
    assert_eq!(refused.len(), 2, "{refused:?}");
    assert!(refused.iter().all(|(_, why)| why.contains("rule 1 of the delegation to mid denies it")), "{refused:?}");
    assert_eq!(used, 2);
    let table = [
        (
            json!([{"operations": ["read"], "paths": ["/"], "mode": "allow"}]),
            code::BRIEF_OVERRIDE_WIDER,
            "only takes away",
        ),
        (
            json!([{"operations": ["read"], "paths": ["../x"], "mode": "deny"}]),
            code::BRIEF_MALFORMED,
            "begins with `/`",
        ),
        (json!([{"operations": ["fly"], "paths": ["/x"], "mode": "deny"}]), code::BRIEF_MALFORMED, "fly"),
        (json!([{"operations": [], "paths": ["/x"], "mode": "deny"}]), code::BRIEF_MALFORMED, "operations"),
        (json!("all"), code::BRIEF_MALFORMED, "a list of rules"),
    ];
    for (permissions, code, part) in table {
        let (refused, used, codes) = run(permissions.clone());
        assert_eq!((codes, used), (vec![code], 0), "{permissions}");
        assert!(refused[0].1.contains(part), "{refused:?}");
    }
}

#[test]
fn rules_are_offered_to_a_model_where_somebody_thinks_of_paths() {
    let offers = |team: &Team| {
        let script = Script::new(|_: &Asked<'_>| says("done"));
        let sim = Sim::run(team, &script);
        let offer = sim.request("lead", "t1").tools[0].input_schema.clone();
        offer["properties"].get("permissions").cloned()
    };
    let plain = vec![leads("lead", &[], &["leaf"]), agent("leaf", &["look"])];
    assert_eq!(offers(&project(plain.clone(), Vec::new())), None);
    let schema = offers(&project(plain, open())).unwrap();
    assert_eq!(schema["items"]["properties"]["mode"]["enum"], json!(["deny", "ask"]));
}

// The gate reads a path as the tools do. What they would refuse anyway is left to them.
// covers X-09
#[test]
fn the_gate_reads_a_path_as_the_tools_do() {
    let mut team = project(vec![agent("one", &["look"])], shut("/secrets/"));
    team.workspace = vec!["/home/me/ws".into()];
    let table = [
        ("secrets", false),
        ("./secrets//a", false),
        ("/secrets/a", false),
        ("/home/me/ws/secrets/a", false),
        ("SECRETS/a", false),
        (".env", false),
        ("docs/a", true),
        ("/home/me/ws/docs", true),
        ("../secrets/a", true),
        ("docs/../secrets", true),
        ("~/secrets", true),
    ];
    for (at, starts) in table {
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "t1" => calls(&[("look", json!({"at": at}))]),
            _ => says("done"),
        });
        assert_eq!(Sim::run(&team, &script).tools_used() == 1, starts, "{at}");
    }
}

// A tool that says nothing of paths is held by what is said of the workspace itself.
#[test]
fn a_tool_without_path_arguments_uses_the_workspace_itself() {
    let mut team = project(vec![agent("one", &["look", "save"])], vec![rule(&[Access::Read], Permission::Allow, "/")]);
    team.tools.values_mut().for_each(|tool| tool.paths.clear());
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[("look", json!({})), ("save", json!({}))]),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.tools_used(), 1);
    assert!(refusals(&sim)[0].1.contains("save: the workspace itself may not be written: no rule of the project"));
    assert!(team.agents.contains_key(&AgentName::new("one")));
}
