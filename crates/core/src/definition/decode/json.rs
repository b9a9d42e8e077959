//! A tree as JSON: where a value is handed on as it is, plain scalars have the types of YAML 1.2.

use super::{Decoder, Field};
use crate::definition::node::{Kind, Node};
use serde_json::{Map, Number, Value};

impl Decoder {
    /// Any value. What JSON cannot say (`.inf`, `.nan`) is an error.
    pub(super) fn json(&mut self, field: &Field<'_>) -> Option<Value> {
        match json(field.node) {
            Ok(value) => Some(value),
            Err(node) => {
                self.error("key.value", node.at, format!("`{}`: this number cannot be written as JSON", field.path));
                None
            }
        }
    }
}

fn json(node: &Node) -> Result<Value, &Node> {
    Ok(match &node.kind {
        Kind::Null | Kind::Unreadable => Value::Null,
        Kind::Scalar { text, quoted: true } => Value::String(text.clone()),
        Kind::Scalar { text, quoted: false } => scalar(text).ok_or(node)?,
        Kind::List(items) => Value::Array(items.iter().map(json).collect::<Result<_, _>>()?),
        Kind::Map(entries) => {
            let mut map = Map::new();
            for entry in entries {
                map.insert(entry.key.clone(), json(&entry.value)?);
            }
            Value::Object(map)
        }
    })
}

/// The core schema of YAML 1.2: `true`, `12`, `0x1f`, `0o17`, `1.5e3`; everything else is a text.
fn scalar(text: &str) -> Option<Value> {
    let radix = |prefix: &str, base| text.strip_prefix(prefix).and_then(|d| i64::from_str_radix(d, base).ok());
    match text {
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" | "-.Inf" | "-.INF" | ".nan" | ".NaN" | ".NAN" => return None,
        _ => {}
    }
    if let Some(n) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(Value::from(n));
    }
    let digit = |c: char| c.is_ascii_digit();
    let number = text.trim_start_matches(['+', '-']);
    let looks = number.starts_with(digit) || (number.starts_with('.') && number.chars().nth(1).is_some_and(digit));
    if !looks || text.len() - number.len() > 1 || !number.chars().all(|c| digit(c) || "eE.+-".contains(c)) {
        return Some(Value::String(text.to_string()));
    }
    if let Ok(n) = text.parse::<i64>() {
        return Some(Value::from(n));
    }
    match text.parse::<f64>() {
        Ok(n) => Number::from_f64(n).map(Value::Number),
        Err(_) => Some(Value::String(text.to_string())),
    }
}
