//! Tests of the subset.

use super::fit;
use serde_json::{Value, json};

#[test]
fn a_schema_is_narrowed_to_what_the_api_compiles() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 1, "maximum": 9},
            "when": {"type": "string", "format": "date", "minLength": 3},
            "re": {"type": "string", "format": "regex", "pattern": "^a"},
            "list": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 3, "uniqueItems": true},
            "maybe": {"type": ["string", "null"]},
            "one": {"oneOf": [{"type": "string"}, {"const": 1}]},
        },
        "required": ["n"],
        "minProperties": 1,
    });
    let expect = json!({
        "type": "object",
        "properties": {
            "n": {"type": "integer"},
            "when": {"type": "string", "format": "date"},
            "re": {"type": "string"},
            "list": {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "one": {"anyOf": [{"type": "string"}, {"const": 1}]},
        },
        "required": ["n"],
        "additionalProperties": false,
    });
    assert_eq!(fit(&schema), Some(expect.clone()));
    assert_eq!(fit(&expect), Some(expect), "what fits is left as it is");
}

#[test]
fn what_cannot_be_said_is_left_to_the_prompt() {
    let within = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
    for schema in [
        json!(true),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}),
        within(json!({"$ref": "#"})),
        within(json!({"type": "object"})),
        within(json!({"description": "anything"})),
        within(json!({"type": "array", "items": {}})),
        within(json!({"not": {"type": "string"}})),
    ] {
        assert_eq!(fit(&schema), None, "{schema}");
    }
}
