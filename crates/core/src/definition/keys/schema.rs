//! JSON Schemas for editors, derived from the table of keys. They say no more than the table: an editor completes keys and
//! marks slips; what only the loader can know, `check` says.

use super::{File, Key, Support, all};
use serde_json::{Map, Value, json};

/// The schema of one kind of file.
pub fn schema(file: File) -> Value {
    let title = match file {
        File::Team => "deputize.yaml",
        File::Agent => "Front matter of an agent file of Deputize",
        File::Skill => "Front matter of a SKILL.md",
    };
    let required: &[&str] = if file == File::Team { &[] } else { &["name", "description"] };
    let mut top = Map::new();
    top.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    top.insert("title".into(), json!(title));
    top.insert("type".into(), json!("object"));
    top.insert("properties".into(), properties(file, ""));
    top.insert("required".into(), json!(required));
    // Files of agents and skills may hold other products' keys; a slip in `deputize.yaml` is an error.
    top.insert("additionalProperties".into(), json!(file != File::Team));
    Value::Object(top)
}

/// The properties of the map at a path.
fn properties(file: File, path: &str) -> Value {
    let keys = all(file).iter().filter(|k| k.parent() == path);
    Value::Object(keys.map(|k| (k.name().to_string(), of(file, k))).collect())
}

/// The schema of one key, with its sentence.
fn of(file: File, key: &Key) -> Value {
    let mut value = shape(file, key);
    if let Value::Object(map) = &mut value {
        let note = match key.support {
            Support::Here => "",
            Support::Later => " Not in this build: an error.",
            Support::LeftOut => " Not in this build: left out with a warning.",
            Support::NoEffect => " No effect: a warning.",
        };
        map.insert("description".into(), json!(format!("{}{note} Default: {}.", key.doc, key.default)));
        if key.support != Support::Here {
            map.insert("deprecated".into(), json!(true));
        }
    }
    value
}

fn text() -> Value {
    json!({"type": ["string", "number", "boolean"]})
}

/// What a value of a key may be.
fn shape(file: File, key: &Key) -> Value {
    let below = all(file).iter().any(|k| k.parent() == key.path);
    let free = all(file).iter().find(|k| {
        let parent = k.parent();
        parent.strip_prefix(key.path).and_then(|rest| rest.strip_prefix('.')).is_some_and(is_free)
    });
    if let Some(free) = free {
        let entry = json!({
            "type": "object", "properties": properties(file, free.parent()), "additionalProperties": false
        });
        return json!({"type": "object", "additionalProperties": entry});
    }
    if below && key.kind.starts_with("list of maps") {
        let entry = json!({"type": "object", "properties": properties(file, key.path), "additionalProperties": false});
        return json!({"type": "array", "items": entry});
    }
    if below {
        let map = json!({"type": "object", "properties": properties(file, key.path), "additionalProperties": false});
        let or_name = key.kind.contains("name, or map");
        return if or_name { json!({"anyOf": [text(), map]}) } else { map };
    }
    by_words(key.kind)
}

/// Whether a part of a path stands for any name.
fn is_free(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase())
}

/// What the words for a type mean.
fn by_words(kind: &str) -> Value {
    let amount = json!({"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0}]});
    let map_of = |of: Value| json!({"type": "object", "additionalProperties": of});
    if let Some(words) = alternatives(kind) {
        return json!({"enum": words});
    }
    let kind = kind.trim();
    match kind {
        "true or false" => json!({"type": "boolean"}),
        "integer" => json!({"type": "integer", "minimum": 1}),
        "count" | "duration" | "dollars" => amount,
        "duration, or map of tool to duration" => json!({"anyOf": [amount, map_of(amount.clone())]}),
        "number from 0 to 2" => json!({"type": "number", "minimum": 0, "maximum": 2}),
        "any value" => json!({}),
        "map of message code to `error`, `warning` or `off`" => map_of(json!({"enum": ["error", "warning", "off"]})),
        _ if kind.starts_with("list or comma text") => {
            json!({"anyOf": [{"type": "array", "items": text()}, {"type": "string"}]})
        }
        _ if kind.starts_with("list") && (kind.starts_with("list or ") || kind.contains(", or `")) => {
            json!({"anyOf": [{"type": ["array", "object"]}, {"type": "string"}]})
        }
        _ if kind.starts_with("list of names") || kind.starts_with("list of tool names") => {
            json!({"anyOf": [{"type": "array", "items": text()}, {"type": "string"}]})
        }
        _ if kind.ends_with("or a list of them") => json!({"anyOf": [{"type": "array", "items": text()}, text()]}),
        _ if kind.starts_with("list") => json!({"type": "array"}),
        _ if kind.starts_with("map, or") => json!({"type": ["object", "string"]}),
        _ if kind.starts_with("map of texts") => map_of(text()),
        _ if kind.starts_with("map") => json!({"type": "object"}),
        _ if kind.starts_with("JSON Schema") => json!({"type": ["object", "string"]}),
        _ => text(),
    }
}

/// The words of a kind that is nothing but words in quotes.
fn alternatives(kind: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = kind.split('`').skip(1).step_by(2).collect();
    let between: String = kind.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let only = between.split_whitespace().all(|w| matches!(w, "," | "or"));
    (only && !words.is_empty() && !kind.contains(':')).then_some(words)
}
