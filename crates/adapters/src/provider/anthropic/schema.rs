//! Output schemas in the subset of JSON Schema that the API compiles. A keyword outside it would turn a good request into a
//! 400, so it is left out: the model is held to less than the whole schema, and the answer is checked against all of it
//! afterwards. What cannot be said even so gives none, and the schema is asked for by prompt alone.

use serde_json::{Map, Value, json};

/// Keywords that pass as they are.
const KEPT: [&str; 7] = ["enum", "const", "title", "description", "default", "required", "type"];
/// Formats of texts that the API knows.
const FORMATS: [&str; 10] =
    ["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"];

/// The schema in that subset.
pub(super) fn fit(schema: &Value) -> Option<Value> {
    let map = schema.as_object()?;
    if let Some(kinds) = map.get("type").and_then(Value::as_array) {
        let one = |kind: &Value| {
            let mut single = map.clone();
            single.insert("type".to_string(), kind.clone());
            fit(&Value::Object(single))
        };
        let any: Vec<Value> = kinds.iter().map(one).collect::<Option<_>>()?;
        return Some(json!({ "anyOf": any }));
    }
    let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut out: Map<String, Value> = Map::new();
    out.extend(KEPT.iter().filter_map(|key| Some(((*key).to_string(), map.get(*key)?.clone()))));
    if kind == "object" || map.contains_key("properties") {
        object(map, &mut out)?;
    }
    if let Some(items) = map.get("items") {
        out.insert("items".to_string(), fit(items)?);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(list) = map.get(key).and_then(Value::as_array) {
            let any: Vec<Value> = list.iter().map(fit).collect::<Option<_>>()?;
            out.insert("anyOf".to_string(), Value::Array(any));
        }
    }
    if let Some(format) = map.get("format").filter(|f| f.as_str().is_some_and(|f| FORMATS.contains(&f))) {
        out.insert("format".to_string(), format.clone());
    }
    if let Some(least) = map.get("minItems").and_then(Value::as_u64).filter(|_| kind == "array") {
        out.insert("minItems".to_string(), json!(least.min(1)));
    }
    // References may lead back to where they stand, which the API refuses; and what says nothing at all is no schema.
    let says = ["type", "enum", "const", "anyOf"].iter().any(|key| out.contains_key(*key));
    (says && !map.contains_key("$ref")).then_some(Value::Object(out))
}

/// An object must be closed. One whose fields are not known beforehand cannot be asked for.
fn object(map: &Map<String, Value>, out: &mut Map<String, Value>) -> Option<()> {
    let properties = map.get("properties").and_then(Value::as_object)?;
    if map.get("additionalProperties").is_some_and(Value::is_object) {
        return None;
    }
    let fitted: Map<String, Value> =
        properties.iter().map(|(name, schema)| Some((name.clone(), fit(schema)?))).collect::<Option<_>>()?;
    out.insert("type".to_string(), json!("object"));
    out.insert("properties".to_string(), Value::Object(fitted));
    out.insert("additionalProperties".to_string(), json!(false));
    Some(())
}

#[cfg(test)]
mod tests;
