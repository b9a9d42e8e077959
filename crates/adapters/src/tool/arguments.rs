//! The arguments of a tool: one list of parameters gives both the schema that a model sees and the check of what it sends.

use super::text;
use deputize_core::code;
use deputize_core::step::Failure;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The form of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number, not under `least`.
    Count {
        /// The least.
        least: u64,
    },
    /// Yes or no.
    Flag,
}

/// One parameter of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its form.
    pub kind: Kind,
    /// Whether a call must give it.
    pub required: bool,
    /// What it means, for the model.
    pub about: &'static str,
}

impl Parameter {
    pub(super) const fn required(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, kind, required: true, about }
    }
    pub(super) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
        Parameter { name, kind, required: false, about }
    }
}

/// JSON Schema of an object with these parameters and no others.
pub(super) fn schema(parameters: &[Parameter]) -> Value {
    let mut properties = Map::new();
    for parameter in parameters {
        let about = parameter.about;
        let form = match parameter.kind {
            Kind::Text => json!({"type": "string", "description": about}),
            Kind::Count { least } => json!({"type": "integer", "minimum": least, "description": about}),
            Kind::Flag => json!({"type": "boolean", "description": about}),
        };
        properties.insert(parameter.name.into(), form);
    }
    let required: Vec<&str> = parameters.iter().filter(|p| p.required).map(|p| p.name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Arguments that fit the parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments(BTreeMap<&'static str, Given>);

#[derive(Clone, Debug)]
enum Given {
    Text(String),
    Count(u64),
    Flag(bool),
}

impl Arguments {
    /// A text; empty when it was not given.
    pub(super) fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Given::Text(text)) => text,
            _ => "",
        }
    }
    /// A number; none when it was not given.
    pub(super) fn count(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Given::Count(count)) => Some(*count),
            _ => None,
        }
    }
    /// A flag; false when it was not given.
    pub(super) fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(Given::Flag(true)))
    }
}

/// A failure of the arguments of a tool.
pub(super) fn wrong(why: impl Into<String>) -> Failure {
    Failure::fixed(code::TOOL_ARGUMENTS, why)
}

/// Reads what a model sent; all that is wrong with it is said at once.
pub(super) fn read(tool: &str, parameters: &[Parameter], sent: &Value) -> Result<Arguments, Failure> {
    let Some(sent) = sent.as_object() else {
        return Err(wrong(format!("the arguments of {tool} must be a JSON object, not {}", kind_of(sent))));
    };
    let mut faults: Vec<String> = sent.keys().filter_map(|name| unknown(name, parameters)).collect();
    let mut given = BTreeMap::new();
    for parameter in parameters {
        match sent.get(parameter.name) {
            None | Some(Value::Null) if parameter.required => faults.push(format!("`{}` is missing", parameter.name)),
            None | Some(Value::Null) => {}
            Some(value) => match convert(parameter.kind, value) {
                Ok(value) => drop(given.insert(parameter.name, value)),
                Err(form) => {
                    faults.push(format!("`{}` must be {form}, not {}", parameter.name, kind_of(value)));
                }
            },
        }
    }
    if faults.is_empty() {
        return Ok(Arguments(given));
    }
    Err(wrong(format!("the arguments of {tool} do not fit: {}", faults.join("; "))))
}

fn unknown(name: &str, parameters: &[Parameter]) -> Option<String> {
    if parameters.iter().any(|parameter| parameter.name == name) {
        return None;
    }
    let names = || parameters.iter().map(|parameter| parameter.name);
    let hint = match text::nearest(name, names(), 1).pop() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the names are {}", names().collect::<Vec<_>>().join(", ")),
    };
    Some(format!("{} is unknown, {hint}", text::shown(name)))
}

/// The value in the wanted form; models write numbers and flags as texts, so that is read too.
fn convert(kind: Kind, value: &Value) -> Result<Given, String> {
    match kind {
        Kind::Text => value.as_str().map(|text| Given::Text(text.into())).ok_or_else(|| "a text".into()),
        Kind::Flag => match value {
            Value::Bool(flag) => Ok(Given::Flag(*flag)),
            Value::String(text) if text.trim() == "true" => Ok(Given::Flag(true)),
            Value::String(text) if text.trim() == "false" => Ok(Given::Flag(false)),
            _ => Err("true or false".into()),
        },
        Kind::Count { least } => whole(value)
            .filter(|count| *count >= least)
            .map(Given::Count)
            .ok_or_else(|| format!("a whole number from {least} on")),
    }
}

fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        // `2.0` is how some encoders write 2; its text without the fraction is the number.
        Value::Number(number) => number.as_u64().or_else(|| number.to_string().strip_suffix(".0")?.parse().ok()),
        _ => None,
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text {}", text::shown(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
