//! JSON Schema: whether a schema is one, and what a value lacks. The only user of the validator library.

use crate::depth::{DEEPEST, deeper};
use serde_json::{Value, json};

/// The schema of a run that declares no output: `{result: non-empty text}`.
pub fn default_output() -> Value {
    json!({
        "type": "object",
        "properties": {"result": {"type": "string", "minLength": 1}},
        "required": ["result"],
        "additionalProperties": false
    })
}

/// Checks that a value is a usable JSON Schema.
///
/// # Errors
/// One sentence that says why it is not.
pub fn check(schema: &Value) -> Result<(), String> {
    if !schema.is_object() {
        return Err("it must be an object".into());
    }
    if deeper(schema, DEEPEST) {
        return Err(format!("it is nested deeper than {DEEPEST} levels"));
    }
    jsonschema::validator_for(schema).map(|_| ()).map_err(|e| e.to_string())
}

/// What a value lacks, at most `most` complaints, each with its place; empty when it is valid.
pub fn complaints(schema: &Value, value: &Value, most: usize) -> Vec<String> {
    match jsonschema::validator_for(schema) {
        Err(e) => vec![format!("the schema itself is unusable: {e}")],
        Ok(v) => {
            v.iter_errors(value).take(most).map(|e| place(&e.instance_path().to_string(), &e.to_string())).collect()
        }
    }
}

fn place(path: &str, text: &str) -> String {
    let at = if path.is_empty() { "the whole" } else { path };
    let text: String = text.chars().take(300).collect();
    format!("{at}: {text}")
}
