//! The list of tools, their schemas, their arguments, and the registry.

use crate::bench::{Bench, Expect::*, wait, who};
use deputize_adapters::tool::{BUILTIN, Builtin, Registry, RegistryError};
use deputize_core::code::{TOOL_ARGUMENTS, TOOL_UNKNOWN};
use deputize_core::definition::{Operation, ToolSpec};
use deputize_core::id::ToolName;
use deputize_core::schema;
use deputize_core::step::{EffectClass, Failure, Note};
use deputize_runtime::port::{Pending, Tools, Who};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn the_list_is_complete_and_its_schemas_are_valid() {
    let table: Vec<_> = BUILTIN.iter().map(|tool| (tool.name, tool.effect, tool.operation)).collect();
    let (read, write) = (EffectClass::ReadOnly, EffectClass::Idempotent);
    assert_eq!(
        table,
        [
            ("ls", read, Operation::Read),
            ("read_file", read, Operation::Read),
            ("glob", read, Operation::Read),
            ("grep", read, Operation::Read),
            ("write_file", write, Operation::Write),
            ("edit_file", write, Operation::Write),
        ]
    );
    for spec in BUILTIN.iter().map(Builtin::spec) {
        assert_eq!(schema::check(&spec.input_schema), Ok(()), "{}", spec.name);
        assert_eq!(spec.input_schema["additionalProperties"], json!(false));
        assert!(spec.description.len() > 60, "{}", spec.name);
        assert!(!spec.description.contains("  "), "{}", spec.description);
        let properties = spec.input_schema["properties"].as_object().unwrap();
        assert!(properties.values().all(|one| one["description"].as_str().is_some_and(|text| text.len() > 10)));
    }
    assert_eq!(Bench::new(&[]).tools.specs().len(), BUILTIN.len());
}

#[test]
fn arguments_that_do_not_fit_are_all_named() {
    let bench = Bench::new(&[("a", "1\n2\n3\n")]);
    let table: [(&str, Value, &[&str]); 10] = [
        ("read_file", json!({}), &["read_file", "`path` is missing"]),
        ("read_file", json!({"path": null}), &["`path` is missing"]),
        ("read_file", json!({"path": 7}), &["`path` must be a text, not 7"]),
        ("read_file", json!({"path": ["a"]}), &["not a list"]),
        (
            "read_file",
            json!({"file_path": "a"}),
            &["`file_path` is unknown, did you mean `path`?", "`path` is missing"],
        ),
        ("read_file", json!({"path": "a", "limt": 1}), &["did you mean `limit`?"]),
        ("read_file", json!({"path": "a", "zzz": 1}), &["`zzz` is unknown, the names are path, offset, limit"]),
        (
            "read_file",
            json!({"path": "a", "limit": "many"}),
            &["`limit` must be a whole number from 1 on, not the text `many`"],
        ),
        ("read_file", json!({"path": "a", "offset": -1, "limit": 1.5}), &["not -1", "not 1.5"]),
        ("grep", json!({"pattern": "x", "ignore_case": "perhaps"}), &["true or false"]),
    ];
    for (tool, arguments, why) in table {
        bench.check(tool, &arguments, &Fails(TOOL_ARGUMENTS, why));
    }
    for arguments in [json!("a"), json!(["a"]), json!(null)] {
        bench.check("read_file", &arguments, &Fails(TOOL_ARGUMENTS, &["must be a JSON object"]));
    }
    bench.check("read_file", &json!({"path": "a", "limit": " 9 ", "offset": "3"}), &Is("3\n"));
}

#[test]
fn every_schema_agrees_with_the_check() {
    let bench = Bench::new(&[("a", "1\n")]);
    let samples = [
        json!({"path": "a"}),
        json!({"path": 1}),
        json!({"pattern": "a"}),
        json!({"path": "a", "content": "x"}),
        json!({"path": "a", "old": "1", "new": "2", "replace_all": false}),
        json!({"path": "a", "nonsense": 1}),
        json!({"path": "a", "offset": 0}),
        json!({}),
    ];
    for spec in bench.tools.specs() {
        for sample in &samples {
            let fits = schema::complaints(&spec.input_schema, sample, 1).is_empty();
            let got = bench.call(spec.name.as_str(), sample);
            let refused = got.as_ref().err().is_some_and(|failure| failure.why.contains("do not fit"));
            assert_eq!(fits, !refused, "{} {sample}: {got:?}", spec.name);
        }
    }
}

#[test]
fn an_unknown_tool_names_the_nearest() {
    let bench = Bench::new(&[]);
    bench.check("readfile", &json!({}), &Fails(TOOL_UNKNOWN, &["no tool `readfile`, did you mean `read_file`?"]));
    assert_eq!(bench.prepare("delete", &json!({})).unwrap_err().code, TOOL_UNKNOWN);
}

/// A tool of an embedding program.
struct Own(&'static str);

impl Tools for Own {
    fn specs(&self) -> Vec<ToolSpec> {
        vec![ToolSpec {
            name: ToolName::new(self.0),
            description: "Its own.".into(),
            input_schema: json!({"type": "object"}),
            effect: EffectClass::Effectful,
            operation: Operation::Other,
            paths: Vec::new(),
        }]
    }
    fn prepare<'a>(&'a self, _: &'a Who, _: &'a ToolName, _: &'a Value) -> Pending<'a, Result<Option<Note>, Failure>> {
        Box::pin(async { Ok(Some(json!("noted"))) })
    }
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        _: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        Box::pin(async move { Ok(format!("{tool} {} {note:?}", who.key())) })
    }
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        Box::pin(async move { path == "own" })
    }
}

#[test]
fn a_registry_joins_tools_under_one_door() {
    let bench = Bench::new(&[("a", "text\n")]);
    let registry = Registry::new().with(Arc::new(bench.tools.clone())).unwrap().with(Arc::new(Own("mail"))).unwrap();
    let names: Vec<String> = registry.specs().iter().map(|spec| spec.name.to_string()).collect();
    assert_eq!(names, ["ls", "read_file", "glob", "grep", "write_file", "edit_file", "mail"]);
    let (who, mail, read) = (who(), ToolName::new("mail"), ToolName::new("read_file"));
    let note = wait(registry.prepare(&who, &mail, &json!({}))).unwrap();
    assert_eq!(note, Some(json!("noted")));
    let sent = wait(registry.perform(&who, &mail, &json!({}), note.as_ref())).unwrap();
    assert_eq!(sent, "mail r1/t1/c0#1 Some(String(\"noted\"))");
    assert_eq!(wait(registry.perform(&who, &read, &json!({"path": "a"}), None)).unwrap(), "text\n");
    assert_eq!(wait(registry.prepare(&who, &read, &json!({}))), Ok(None));
    for (path, there) in [("a", true), ("own", true), ("none", false)] {
        assert_eq!(wait(registry.exists(path)), there, "{path}");
    }
    let unknown = wait(registry.perform(&who, &ToolName::new("mial"), &json!({}), None)).unwrap_err();
    assert_eq!(unknown.why, "there is no tool `mial`, did you mean `mail`?");
}

#[test]
fn two_tools_of_one_name_are_an_error() {
    let bench = Bench::new(&[]);
    let files = || Registry::new().with(Arc::new(bench.tools.clone())).unwrap();
    let taken = files().with(Arc::new(Own("grep"))).err().unwrap();
    assert_eq!(taken, RegistryError::Duplicate(ToolName::new("grep")));
    assert_eq!(taken.to_string(), "two tools are called `grep`: rename one of them");
    assert_eq!(files().with(Arc::new(Own("delegate"))).err().unwrap(), RegistryError::Reserved);
}
