//! `check`: its document, its messages, its exit codes.

use crate::common::{Place, keys, set};
use crate::run::TREE;
use serde_json::Value;

fn of(doc: &Value, name: &str) -> Value {
    doc["agents"].as_array().unwrap().iter().find(|a| a["name"] == name).unwrap().clone()
}

#[test]
fn a_good_team() {
    let place = Place::team(TREE);
    let doc = place.json(&["check"]).exits(0).json();
    assert_eq!(keys(&doc), set("schema agents messages"));
    let members = "name name_as_written description tools tools_resolved disallowed grant agents model max_turns skills body \
         file source repaired";
    assert_eq!(keys(&of(&doc, "lead")), set(members));
    assert_eq!(of(&doc, "lead")["file"], "agents/lead.md");
    assert_eq!(keys(&doc["messages"][0]), set("level code text hint file line column"));
    let shown = place.deputize(&["check"]).exits(0).stdout;
    assert!(shown.contains("the root is lead") && shown.contains("at most 2.0M tokens, 50 runs"), "{shown}");
    assert!(shown.ends_with("no errors, 0 warnings\n"), "{shown}");
    assert!(!place.state().exists(), "check keeps nothing");
}

#[test]
fn every_error_with_its_place() {
    let place = Place::team(TREE);
    place.write("deputize.yaml", "root: lead\nbugdet: {}\n");
    place.agent("lead", "agents: [raeder]\n");
    let doc = place.json(&["check"]).exits(1).json();
    let errors: Vec<&Value> = doc["messages"].as_array().unwrap().iter().filter(|m| m["level"] == "error").collect();
    assert_eq!(errors.len(), 2, "{doc}");
    let shown = place.deputize(&["check"]).exits(1).stdout;
    assert!(shown.contains("deputize.yaml:2:1: error[") && shown.contains("2 errors"), "{shown}");
}

#[test]
fn several_paths_are_checked_each_on_its_own() {
    let place = Place::team(TREE);
    place.write("other/agents/solo.md", "---\nname: solo\ndescription: alone\n---\nWork.\n");
    let doc = place.json(&["check", ".", "other"]).exits(0).json();
    assert_eq!(of(&doc, "solo")["file"], "other/agents/solo.md");
    assert_eq!(of(&doc, "lead")["file"], "agents/lead.md");
    place.json(&["check", ".", "nowhere"]).exits(1);
}

#[test]
fn an_empty_folder_has_a_built_in_agent() {
    let place = Place::empty();
    let doc = place.json(&["check"]).exits(0).json();
    assert!(doc["agents"].as_array().unwrap().iter().all(|a| a["source"] == "builtin"), "{doc}");
}

#[test]
fn a_provider_or_a_script_that_cannot_be_used_is_an_error() {
    let place = Place::empty();
    place.write("agents/solo.md", "---\nname: solo\ndescription: alone\n---\nWork.\n");
    let error = |config: &str| {
        place.write("deputize.yaml", config);
        let doc = place.json(&["check"]).exits(1).json();
        let errors: Vec<Value> =
            doc["messages"].as_array().unwrap().iter().filter(|m| m["level"] == "error").cloned().collect();
        assert_eq!(errors.len(), 1, "{doc}");
        (
            errors[0]["code"].as_str().unwrap().to_string(),
            errors[0]["text"].as_str().unwrap().to_string(),
            errors[0]["line"].clone(),
        )
    };
    let (code, text, line) = error("providers:\n  openai: {body: {model: other}}\n");
    assert_eq!((code.as_str(), line), ("provider.invalid", Value::from(2)));
    assert!(text.contains("body.model is written by the program"), "{text}");
    place.write("broken.yaml", "solo:\n  - {text: [}\n");
    let (code, text, _) = error("providers: {lab: {kind: scripted, script: broken.yaml}}\n");
    assert!(code == "provider.invalid" && text.contains("broken.yaml:2"), "{text}");
}

#[test]
fn every_value_says_where_it_came_from() {
    let place = Place::team(TREE);
    place.write("deputize.yaml", "budget:\n  tree:\n    tokens: 1M\nroles:\n  fast: openai:small\n");
    let args = ["check", "--explain-config", "--budget-depth", "2", "--role", "think=openai:big"];
    let doc = place.json(&args).exits(0).json();
    let of = |key: &str| {
        let all = doc["config"].as_array().unwrap();
        let found = all.iter().find(|s| s["key"] == key).unwrap_or_else(|| panic!("no {key} in {all:?}"));
        (
            found["value"].clone(),
            found["from"].as_str().unwrap().to_string(),
            found["name"].clone(),
            found["line"].clone(),
        )
    };
    let (null, line) = (Value::Null, |n: u64| Value::from(n));
    assert_eq!(of("budget.tree.tokens"), (1_000_000.into(), "project".into(), null.clone(), line(3)));
    assert_eq!(of("budget.tree.depth"), (2.into(), "flag".into(), "--budget-depth".into(), null.clone()));
    assert_eq!(of("budget.tree.runs"), (50.into(), "default".into(), null.clone(), null.clone()));
    assert_eq!(of("roles.fast"), ("openai:small".into(), "project".into(), null.clone(), line(5)));
    assert_eq!(of("roles.think"), ("openai:big".into(), "flag".into(), "--role".into(), null.clone()));
    assert_eq!(of("roles.embedding").0, null);
    assert_eq!(of("providers.openai.timeout.connect"), (10_000.into(), "default".into(), null.clone(), null.clone()));
    let shown = place.deputize(&args).exits(0).stdout;
    assert!(shown.contains("budget.tree.tokens = 1000000  # deputize.yaml:3\n"), "{shown}");
    assert!(shown.contains("budget.tree.depth = 2  # flag --budget-depth\n"), "{shown}");
    // Every key that can be set and holds one value is there.
    let all: Vec<String> =
        doc["config"].as_array().unwrap().iter().map(|s| s["key"].as_str().unwrap().into()).collect();
    let keys = deputize_core::definition::keys::all(deputize_core::definition::keys::File::Team);
    for key in keys {
        use deputize_core::definition::keys::Support;
        // A list is one value, whatever its entries hold.
        let entry = keys.iter().any(|k| k.path == key.parent() && k.kind.starts_with("list"));
        let one = !entry && !key.kind.starts_with("map") && !key.path.contains("NAME") && !key.path.contains("MODEL");
        let listed = all.iter().any(|k| k == key.path) || key.path == "version";
        assert!(listed || !one || key.support != Support::Here, "{} is not explained", key.path);
    }
}
