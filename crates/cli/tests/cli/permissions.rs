//! Rules on paths in whole runs: what the model is told, what stands in the log, what `check` shows.

use crate::common::Place;
use serde_json::{Value, json};

const TREE: &str = "
lead:
  - calls:
      - read_file: {path: one.txt}
      - read_file: {path: secrets/key.txt}
      - read_file: {path: alias}
      - grep: {pattern: canary}
  - calls:
      - delegate: {agent: reader, objective: read the key}
  - text: done
lead/reader:
  - calls:
      - read_file: {path: secrets/key.txt}
      - ls: {path: secrets}
      - write_file: {path: SECRETS/new, content: x}
  - text: refused
";

fn place() -> Place {
    let place = Place::team(TREE);
    let config = std::fs::read_to_string(place.path("deputize.yaml")).unwrap();
    let rules = "permissions:\n  - {operations: [read, write], paths: [/secrets/], mode: deny, reason: ask the owner}\n  \
                 - {operations: [read, write], paths: [/]}\n";
    place.write("deputize.yaml", &format!("{config}{rules}"));
    let own = "permissions:\n  - {operations: [read], paths: [/]}\n";
    place.agent("lead", "tools: [ls, read_file, grep, write_file]\nagents: [reader]\n");
    place.agent("reader", &format!("tools: [ls, read_file, write_file]\n{own}"));
    place.write("secrets/key.txt", "canary\n");
    std::os::unix::fs::symlink("secrets/key.txt", place.path("alias")).unwrap();
    place
}

fn steps(run: &Value) -> Vec<Value> {
    let tools = run["steps"].as_array().unwrap().iter().filter(|step| step["kind"] == "tool");
    tools.map(|step| json!([step["status"], step["reason_code"]])).collect()
}

// covers D-08, X-09
#[test]
fn fault_33_the_rules_of_a_project_hold_in_a_whole_run() {
    let place = place();
    let ended = place.json(&["run", "read"]).exits(0);
    assert_eq!(ended.json()["status"], "succeeded", "a refused path ends no turn");
    let trace = place.json(&["trace", "last"]).exits(0).json();
    let (lead, reader) = (&trace["runs"][0], &trace["runs"][1]);
    let denied = json!(["denied", "permission.denied"]);
    let (ok, failed) = (json!(["ok", null]), json!(["failed", "permission.denied"]));
    assert_eq!(steps(lead), [ok.clone(), denied.clone(), failed, ok]);
    assert_eq!(steps(reader), [denied.clone(), denied.clone(), denied]);
    let texts: Vec<&str> = reader["findings"].as_array().unwrap().iter().map(|f| f["text"].as_str().unwrap()).collect();
    for text in &texts {
        assert!(text.contains("rule 1 of the project denies it (`/secrets/`): ask the owner"), "{texts:?}");
    }
    assert_eq!(lead["brief"]["permissions"][0]["source"], "project");
    assert_eq!(reader["brief"]["permissions"][0], lead["brief"]["permissions"][0]);
    assert_eq!(reader["brief"]["permissions"][1]["source"], json!({"agent": "reader"}));
    let events = place.json(&["trace", "last", "--events"]).exits(0).stdout;
    let told = events.replace("secrets/key.txt", "").replace("pattern", "");
    assert!(!told.contains("canary\\n") && !told.contains("1:canary"), "no content of the closed file is in the log");
    assert!(!place.path("SECRETS/new").exists() && !place.path("secrets/new").exists());
}

#[test]
fn check_shows_the_rules_that_hold() {
    let place = place();
    let shown = place.deputize(&["check"]).exits(0).stdout;
    assert!(shown.contains("rules on paths: of the project, of agent reader; the strictest wins"), "{shown}");
    let doc = place.json(&["check"]).exits(0).json();
    let reader = doc["agents"].as_array().unwrap().iter().find(|agent| agent["name"] == "reader").unwrap();
    assert_eq!(reader["permissions"][1]["rules"][0]["paths"], json!(["/"]));
}

//
#[test]
fn fault_36_the_ceiling_of_a_foreign_folder_says_how_to_lift_it() {
    let place = Place::empty();
    place.write("play.yaml", "solo: [{calls: [{write_file: {path: a.txt, content: x}}]}, {text: done}]");
    place.write(".claude/agents/solo.md", "---\nname: solo\ndescription: writes\ntools: Write\n---\nWrite.\n");
    let doc = place.json(&["run", "write", "--agent", "solo", "--script", "play.yaml"]).exits(0).json();
    let finding = &doc["findings"][0];
    assert_eq!(finding["code"], "approval.unavailable");
    let text = finding["text"].as_str().unwrap();
    for part in ["write_file: `a.txt`", "rule 2 of the ceiling `workspace`", "`--allow write` allows it"] {
        assert!(text.contains(part), "{text}");
    }
}
