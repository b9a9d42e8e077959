//! `run`: documents, exit codes, where the objective comes from.

use crate::common::{Ended, Place, id, keys, set};
use serde_json::Value;

pub(crate) const TREE: &str = "
lead:
  - calls: [{ls: {path: .}}]
  - calls:
      - delegate: {agent: reader, objective: read one.txt}
      - delegate: {agent: reader, objective: ''}
      - delegate: {agent: nobody, objective: read two.txt}
  - text: the number is 1
lead/reader:
  - calls: [{read_file: {path: one.txt}}]
  - text: it says 1
";
/// The members of a run in `run`, `resume`, `show`.
pub(crate) const RUN: &str = "schema run_id root parent depth team agent objective status partial limit reason_code reason payload \
     evidence findings success usage cost started ended choices next";

fn run(place: &Place) -> Value {
    place.json(&["run", "read it"]).exits(0).json()
}

#[test]
fn a_run_is_one_document() {
    let doc = run(&Place::team(TREE));
    assert_eq!(keys(&doc), set(RUN));
    assert_eq!(doc["schema"], 1);
    assert_eq!(doc["status"], "succeeded");
    assert_eq!(doc["payload"]["result"], "the number is 1");
    assert_eq!((&doc["agent"], &doc["objective"]), (&"lead".into(), &"read it".into()));
    assert_eq!(
        keys(&doc["usage"]),
        set("input_tokens cached_tokens output_tokens model_calls tool_calls runs by_model")
    );
    assert_eq!(keys(&doc["cost"]), set("usd prices_dated unpriced"));
    assert_eq!((&doc["usage"]["runs"], &doc["usage"]["model_calls"]), (&2.into(), &5.into()));
    assert_eq!((&doc["root"], &doc["depth"]), (&doc["run_id"], &0.into()));
    assert!(doc["parent"].is_null() && doc["next"].is_null());
}

#[test]
fn people_see_progress_and_the_result() {
    let ended = Place::team(TREE).deputize(&["run", "read it"]).exits(0);
    assert!(ended.stdout.starts_with("the number is 1\n"), "{ended:?}");
    assert!(ended.stdout.contains("\ndone  "), "{ended:?}");
    for line in [
        "run ",
        "the root is `lead`",
        "lead  t1/c0  ls .",
        "delegate reader: read one.txt",
        "lead/reader#1  t1/c0  read_file one.txt",
        "brief.objective_missing",
        "lead/reader#1  done",
    ] {
        assert!(ended.stderr.contains(line), "{line}: {ended:?}");
    }
    assert!(!ended.stderr.contains('\u{1b}') && !ended.stdout.contains('\u{1b}'));
}

#[test]
fn a_trace_has_every_run_step_and_delegation() {
    let place = Place::team(TREE);
    let root = id(&run(&place));
    let doc = place.json(&["trace", &root]).exits(0).json();
    assert_eq!(keys(&doc), set("schema runs"));
    let runs = doc["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let mut wanted = set(RUN);
    wanted.remove("schema");
    wanted.extend(set("usage_tree path model brief steps delegations"));
    assert_eq!(keys(&runs[0]), wanted);
    let (lead, reader) = (&runs[0], &runs[1]);
    assert_eq!((&lead["agent"], &reader["agent"]), (&"lead".into(), &"reader".into()));
    assert_eq!((&reader["parent"], &reader["depth"]), (&root.as_str().into(), &1.into()));
    assert_eq!(keys(&lead["steps"][0]), set("label kind agent name attempt status reason_code started ended usage"));
    let delegations = lead["delegations"].as_array().unwrap();
    let members = "step agent task_type mode reason_code reason brief_digest child_run_id status artifact";
    assert_eq!(keys(&delegations[0]), set(members));
    let modes: Vec<&str> = delegations.iter().map(|d| d["mode"].as_str().unwrap()).collect();
    assert_eq!(modes, ["delegated", "rejected", "degraded"]);
    assert_eq!(delegations[0]["child_run_id"], reader["run_id"]);
    assert_eq!(lead["usage"]["model_calls"], 3);
    assert_eq!(lead["usage_tree"]["model_calls"], 5);
    assert_eq!(reader["brief"]["objective"]["value"], "read one.txt");
    let events = place.json(&["trace", &root, "--events"]).exits(0).json();
    assert_eq!(events["runs"][0]["events"][0]["type"], "run_started");
    let part = place.json(&["trace", reader["run_id"].as_str().unwrap()]).exits(0).json();
    assert_eq!(part["runs"].as_array().unwrap().len(), 1);
    let shown = place.deputize(&["trace", &root, "--events"]).exits(0).stdout;
    assert!(shown.contains("reader  done") && shown.contains("run_started"), "{shown}");
}

#[test]
fn the_objective_may_come_from_standard_input() {
    let place = Place::team(TREE);
    let doc = place.with_input(&["run", "-", "--json"], "read it\nall of it\n").exits(0).json();
    assert_eq!(doc["objective"], "read it\nall of it");
    place.with_input(&["run", "-", "--json"], " \n").fails(1, "brief.objective_missing");
}

#[test]
fn a_team_may_be_named() {
    let place = Place::team(TREE);
    let elsewhere = place.state();
    std::fs::create_dir_all(&elsewhere).unwrap();
    let mut command = place.command(&["run", "../work", "read it", "--workspace", "../work", "--json"]);
    command.current_dir(elsewhere);
    let doc = crate::common::Running::of(command).end().exits(0).json();
    assert_eq!(doc["status"], "succeeded");
    let error = place.json(&["run", "agents"]).fails(2, "usage.invalid");
    assert!(error["message"].as_str().unwrap().contains("folder"));
}

fn ends(script: &str, more: &[&str]) -> (Ended, Value) {
    let place = Place::team(script);
    let ended = place.json(&[&["run", "read it"], more].concat());
    let doc = ended.json();
    (ended, doc)
}

// covers L-50
#[test]
fn a_cap_ends_with_3() {
    let script = "lead: {rest: {calls: [{ls: {path: .}}]}, closing: {text: so far nothing}}";
    let (ended, doc) = ends(script, &["--budget-turns", "2"]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert_eq!((&doc["status"], &doc["partial"], &doc["limit"]), (&"max_turns".into(), &true.into(), &"turns".into()));
    assert_eq!(doc["next"], format!("deputize trace {}", id(&doc)));
}

#[test]
fn a_failure_ends_with_4() {
    let (ended, doc) = ends("lead: [{fault: refusal, text: no}]", &[]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    assert_eq!((&doc["status"], &doc["reason_code"]), (&"failed".into(), &"model.refused".into()));
    let (ended, doc) = ends("lead: []", &[]);
    assert_eq!((ended.code, &doc["reason_code"]), (Some(4), &"model.script".into()));
}

#[test]
fn a_panic_of_an_adapter_is_a_failed_run() {
    let (ended, doc) = ends("lead: [{fault: panic}]", &[]);
    assert_eq!((ended.code, &doc["reason_code"]), (Some(4), &"model.panicked".into()), "{ended:?}");
}

#[test]
fn choices_are_said_and_kept() {
    let place = Place::team(TREE);
    place.agent("lead", "tools: [ls]\nagents: [reader]\nmodel: think\n");
    let ended = place.json(&["run", "read it"]).exits(0);
    assert!(ended.stderr.contains("the role `think` is not set"), "{ended:?}");
    let codes: Vec<Value> = ended.json()["choices"].as_array().unwrap().iter().map(|c| c["code"].clone()).collect();
    assert_eq!(codes, ["profile.chosen", "root.chosen", "role.unset"]);
}

#[test]
fn a_foreign_folder_runs_under_the_ceiling() {
    let place = Place::empty();
    place.write("play.yaml", "solo: [{calls: [{write_file: {path: a.txt, content: x}}]}, {text: done}]");
    place.write(".claude/agents/solo.md", "---\nname: solo\ndescription: writes\ntools: Write, Bash\n---\nWrite.\n");
    let words = ["run", "write", "--agent", "solo", "--script", "play.yaml"];
    let ended = place.json(&words).exits(0);
    for said in ["ceiling `workspace`", "Write is write_file", "Bash", "cap: 500000 tokens"] {
        assert!(ended.stderr.contains(said), "{said}: {ended:?}");
    }
    assert!(!place.path("a.txt").exists());
    place.json(&[&words[..], &["--allow", "write"]].concat()).exits(0);
    assert_eq!(std::fs::read_to_string(place.path("a.txt")).unwrap(), "x");
}

#[test]
fn no_agent_changes_its_team() {
    let place = Place::team("lead: [{calls: [{write_file: {path: crew/lead.md, content: x}}]}, {text: done}]");
    place.write("deputize.yaml", "root: lead\nload: [crew]\nroles: {default: 'play:any'}\nproviders: {play: {kind: scripted, script: play.yaml}}\n");
    place.write("crew/lead.md", "---\nname: lead\ndescription: leads\ntools: [write_file]\n---\nLead.\n");
    let ended = place.json(&["run", "change it"]).exits(0);
    assert!(std::fs::read_to_string(place.path("crew/lead.md")).unwrap().contains("leads"), "{ended:?}");
    assert!(ended.stderr.contains("no agent changes it"), "{ended:?}");
}

#[test]
fn what_a_model_says_does_not_steer_the_terminal() {
    let place = Place::team("lead: [{text: \"a\\e[2Jb\\u202e\"}]");
    let ended = place.deputize(&["run", "x"]).exits(0);
    assert!(ended.stdout.starts_with("a\u{fffd}[2Jb\u{fffd}\n"), "{ended:?}");
    let doc = place.json(&["show", "last"]).exits(0);
    assert!(!doc.stdout.contains('\u{1b}') && !doc.stdout.contains('\u{202e}'));
    assert_eq!(doc.json()["payload"]["result"], "a\u{1b}[2Jb\u{202e}");
}

#[test]
fn a_closed_standard_output_does_not_end_a_run() {
    let place = Place::team(TREE);
    let mut command = place.command(&["run", "read it"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stdout(writer);
    command.stderr(std::process::Stdio::null());
    assert_eq!(command.status().unwrap().code(), Some(0));
    assert_eq!(place.json(&["show", "last"]).exits(0).json()["status"], "succeeded");
}

#[test]
fn the_state_folder_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::team(TREE);
    run(&place);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.state()), 0o700);
    assert_eq!(mode(&place.state().join("store.sqlite3")), 0o600);
}

/// The results that the tools of the root gave, in call order.
fn statuses(place: &Place) -> Vec<String> {
    let trace = place.json(&["trace", "last"]).json();
    let steps = trace["runs"][0]["steps"].as_array().unwrap().clone();
    steps.iter().filter(|s| s["kind"] == "tool").map(|s| s["status"].as_str().unwrap().to_string()).collect()
}

// An agent that could write agent files would give itself agents, and so rights; also in folders of another name.
#[test]
fn agents_make_no_agents_wherever_agent_files_lie() {
    let script = "solo:
  - calls:
      - write_file: {path: team/new.md, content: x}
      - write_file: {path: team/deep/new.md, content: x}
      - write_file: {path: team/other/new.md, content: x}
      - write_file: {path: AGENTS.md, content: x}
      - write_file: {path: deputize.yaml, content: x}
      - write_file: {path: notes/fine.md, content: x}
  - text: done
";
    let place = Place::empty();
    let agent = |name: &str| format!("---\nname: {name}\ndescription: d\ntools: Read, Write\n---\nB\n");
    place.write("team/solo.md", &agent("solo"));
    place.write("team/deep/second.md", &agent("second"));
    place.write("s.yaml", script);
    place.write("deputize.yaml", "load: [team]\nroot: solo\n");
    place.json(&["run", "x", "--script", "s.yaml"]).exits(0);
    assert_eq!(statuses(&place), ["failed", "failed", "failed", "failed", "denied", "ok"]);
    assert!(!place.path("team/new.md").exists() && place.path("notes/fine.md").exists());
}

#[test]
fn nobody_writes_below_an_agent_that_only_reads() {
    let script = "lead: [{calls: [{delegate: {agent: w, objective: write}}]}, {text: done}]
lead/w: [{calls: [{write_file: {path: planned.txt, content: x}}]}, {text: tried}]
";
    let place = Place::empty();
    place.write("agents/lead.md", "---\nname: lead\ndescription: d\npermissionMode: plan\nagents: [w]\n---\nB\n");
    place.write("agents/w.md", "---\nname: w\ndescription: d\ntools: Write\n---\nB\n");
    place.write("s.yaml", script);
    place.json(&["run", "x", "--script", "s.yaml", "--allow", "write"]);
    assert!(!place.path("planned.txt").exists());
}
