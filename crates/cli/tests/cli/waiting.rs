//! A provider that asks for a long pause: the process ends, the run waits, and every command says so.

use crate::common::{Place, id, keys, set, wait_for};
use serde_json::Value;

/// The reader's provider asks to come back in an hour.
fn place(after: &str) -> Place {
    let script = format!(
        "
lead:
  - calls: [{{delegate: {{agent: reader, objective: read}}}}]
  - text: all is read
lead/reader:
  - calls: [{{read_file: {{path: one.txt}}}}]
  - fault: rate_limited
    retry_after: {after}
    times: 1
    text: the number is 1
"
    );
    Place::team(&script)
}

fn list(place: &Place, words: &[&str]) -> Vec<Value> {
    let doc = place.json(&[&["show", "--waiting"], words].concat()).exits(0).json();
    assert_eq!((keys(&doc), &doc["schema"]), (set("schema waiting"), &Value::from(1)));
    doc["waiting"].as_array().unwrap().clone()
}

// covers U-02
#[test]
fn a_tree_waits_for_its_provider() {
    let place = place("1h");
    assert!(list(&place, &[]).is_empty());
    let ended = place.json(&["run", "x"]).exits(5);
    let doc = ended.json();
    let run = id(&doc);
    assert_eq!((&doc["status"], &doc["payload"]), (&Value::from("waiting"), &Value::Null));
    assert_eq!(doc["next"], format!("deputize resume {run}"));
    let waiting = doc["waiting"].as_array().unwrap().clone();
    let names = "id run_id root agent path kind tool arguments arguments_digest questions reason_code reason since until expires command";
    assert_eq!((waiting.len(), keys(&waiting[0])), (1, set(names)));
    let wait = &waiting[0];
    assert_eq!(wait["id"], format!("{run}/t1/c0/t2"));
    assert_eq!((&wait["run_id"], &wait["root"]), (&Value::from(format!("{run}/t1/c0")), &Value::from(run.clone())));
    assert_eq!((&wait["kind"], &wait["path"]), (&Value::from("provider"), &Value::from("lead/reader#1")));
    assert_eq!(wait["command"], format!("deputize resume {run}"));
    assert!(wait["since"].as_str() < wait["until"].as_str(), "{wait}");

    let before = place.json(&["trace", &run, "--events"]).exits(0).json();
    assert_eq!(before["runs"][1]["steps"][2]["status"], "waiting");
    let again = place.json(&["resume", &run]).exits(5).json();
    assert_eq!((&again["waiting"], &again["usage"]["model_calls"]), (&doc["waiting"], &doc["usage"]["model_calls"]));
    assert_eq!(place.json(&["show", &run]).exits(0).json()["waiting"], doc["waiting"]);
    assert_eq!(list(&place, &[]), waiting);
    assert_eq!(list(&place, &[&run]), waiting);
    assert_eq!(place.json(&["runs"]).json()["runs"][0]["status"], "waiting");

    let text = place.deputize(&["resume", &run]).exits(5);
    let line =
        text.stdout.lines().find(|l| l.contains("waits for its provider until")).unwrap_or_else(|| panic!("{text:?}"));
    assert!(line.contains(" UTC (in ") && line.contains(" min)"), "{line}");
    assert!(text.stdout.contains(&format!("next: deputize resume {run}")), "{text:?}");
    let text = place.deputize(&["show", "--waiting"]).exits(0).stdout;
    assert!(text.contains(&format!("next: deputize resume {run}")), "{text}");

    let watched = format!("{:?}", place.deputize(&["watch", &run]).exits(5));
    assert!(watched.contains("t2 model call waits for its provider until 20"), "{watched}");

    place.json(&["cancel", &run]).exits(0);
    assert_eq!(place.json(&["show", &run]).json()["status"], "cancelled");
    assert!(list(&place, &[]).is_empty());
    place.json(&["resume", &run]).exits(130);
}

// covers U-02
#[test]
fn a_tree_goes_on_when_its_moment_has_come() {
    let place = place("2s");
    let team = "profile: assisted\nroot: lead\nroles: {default: 'play:any'}\nproviders: {play: {kind: scripted, script: play.yaml, retry: {total: 1s}}}\n";
    place.write("deputize.yaml", team);
    let run = place.deputize(&["run", "x", "--detach"]).exits(0).stdout.trim().to_string();
    wait_for("the tree to wait", || (place.json(&["show", &run]).exits(0).json()["status"] == "waiting").then_some(()));
    let doc = wait_for("the moment", || {
        let ended = place.json(&["resume", &run]);
        if ended.code == Some(0) {
            return Some(ended.json());
        }
        // Before the moment it waits on; the process in the background may still be on its way out.
        assert!(matches!(ended.code, Some(5 | 1)), "{ended:?}");
        None
    });
    assert_eq!(doc["payload"]["result"], "all is read");
    assert!(doc.get("waiting").is_none());
    let steps = place.json(&["trace", &run]).exits(0).json();
    assert_eq!(steps["runs"][1]["steps"][2]["attempt"], 2, "one request was refused, the next was answered");
}

// covers F-06
#[test]
fn another_provider_takes_over() {
    let place = Place::team("lead: [{fault: auth}]");
    let team = "profile: assisted\nroot: lead\nroles: {default: 'play:any', fast: 'spare:small'}\nproviders: {play: {kind: scripted, script: play.yaml}, spare: {kind: scripted, script: spare.yaml}}\n";
    place.write("deputize.yaml", team);
    place.write("spare.yaml", "lead: [{text: from the other}]");
    place.agent("lead", "tools: [ls]\nfallback: fast\n");
    let doc = place.json(&["run", "x"]).exits(0).json();
    assert_eq!(doc["payload"]["result"], "from the other");
    let models: Vec<&Value> = doc["usage"]["by_model"].as_array().unwrap().iter().map(|m| &m["model"]).collect();
    assert_eq!(models, ["play:any", "spare:small"]);
    assert_eq!(doc["findings"][0]["code"], "model.fallback");
    place.agent("lead", "tools: [ls]\nfallback: [reader]\n");
    place.json(&["run", "x"]).fails(1, "key.unsupported");
    place.agent("lead", "tools: [ls]\nfallback: [nowhere:x]\n");
    place.json(&["run", "x"]).fails(1, "model.unknown");
}
