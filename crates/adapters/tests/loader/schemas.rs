//! The JSON Schemas for editors: every example of the table is valid under them, slips are not.

use deputize_adapters::yaml;
use deputize_core::definition::keys::{self, File};
use deputize_core::definition::node::{Kind, Node};
use deputize_core::schema;
use serde_json::{Map, Value};

/// As an editor reads YAML.
fn json(node: &Node) -> Value {
    match &node.kind {
        Kind::Null | Kind::Unreadable => Value::Null,
        Kind::Scalar { text, quoted: true } => Value::String(text.clone()),
        Kind::Scalar { text, quoted: false } => {
            serde_json::from_str(text).ok().filter(|v: &Value| !v.is_object()).unwrap_or(Value::String(text.clone()))
        }
        Kind::List(items) => items.iter().map(json).collect(),
        Kind::Map(entries) => entries.iter().map(|e| (e.key.clone(), json(&e.value))).collect::<Map<_, _>>().into(),
    }
}

fn complaints(file: File, text: &str) -> Vec<String> {
    schema::complaints(&keys::schema(file), &json(&yaml::parse(text, 0).unwrap()), 10)
}

fn with_required(file: File, text: &str) -> String {
    let lacks = |key: &&&str| !text.starts_with(&format!("{key}:"));
    let required: &[&str] = if file == File::Team { &[] } else { &["name", "description"] };
    required.iter().filter(lacks).map(|k| format!("{k}: x\n")).collect::<String>() + text
}

#[test]
fn every_example_of_the_table_is_valid() {
    for file in [File::Team, File::Agent, File::Skill] {
        schema::check(&keys::schema(file)).unwrap();
        for key in keys::all(file) {
            let text = with_required(file, key.example);
            assert_eq!(complaints(file, &text), Vec::<String>::new(), "{}: {text}", key.path);
        }
    }
}

#[test]
fn whole_files_are_valid_and_slips_are_not() {
    let team = "profile: assisted\nload: [agents]\nproviders:\n  lab: {kind: openai, base_url: \"http://x/v1\", retry: {attempts: 2}}\n\
                roles: {default: \"lab:m\"}\nbudget: {run: {turns: 5}, tree: {tokens: 1M, time: 10m}}\ntool_timeout: 90\n\
                models: {\"lab:m\": {context: 32k, streaming: false}}\ncheck: {tools.inherit: off}\n";
    assert_eq!(complaints(File::Team, team), Vec::<String>::new());
    let agent = "name: a\ndescription: d\ntools: Read, Grep\ndisallowedTools: [Bash]\nagents: \"*\"\nmaxTurns: 7\nbudget: {time: 5m}\n\
                 effort: 3\npattern: {name: react, max_turns: 8}\nbrief: {boundaries: b}\nvendor-key: [1]\n";
    assert_eq!(complaints(File::Agent, agent), Vec::<String>::new());
    let bad = [
        (File::Team, "bugdet: {}"),
        (File::Team, "profile: lax"),
        (File::Team, "user_agents: maybe"),
        (File::Team, "budget: {tree: {tokens: 0}}"),
        (File::Team, "budget: {tree: {tokns: 5}}"),
        (File::Team, "providers: {lab: {knid: openai}}"),
        (File::Team, "models: {\"a:b\": {temperature: 3}}"),
        (File::Team, "check: {x: loud}"),
        (File::Team, "load: agents"),
        (File::Agent, "description: d"),
        (File::Agent, "name: a\ndescription: d\ntools: {a: b}"),
        (File::Agent, "name: a\ndescription: d\nmaxTurns: 0"),
        (File::Agent, "name: a\ndescription: d\nevidence: none"),
        (File::Agent, "name: a\ndescription: d\nbrief: {bounds: x}"),
        (File::Agent, "name: a\ndescription: d\npermissionMode: all"),
        (File::Skill, "name: a"),
    ];
    for (file, text) in bad {
        assert!(!complaints(file, text).is_empty(), "{text}");
    }
}
