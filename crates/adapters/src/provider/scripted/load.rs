//! Reads a script file. Owns its form; every error says where and what to write instead.

use super::fault::Fault;
use super::script::{Entry, Line, Script, Step, split_ordinal};
use crate::yaml;
use deputize_core::definition::node::{self, Kind, Node, Place};
use deputize_core::id::Label;
use deputize_core::message::{Arguments, Stop, ToolCall, Usage};
use serde_json::{Map, Value};
use std::path::Path;
use std::time::Duration;

/// Why a script cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("cannot read the script {file}: {why}")]
    Read {
        /// The file.
        file: String,
        /// The system's words.
        why: String,
    },
    /// The text is no script.
    #[error("{file}:{line}:{column}: {what}")]
    Form {
        /// The file.
        file: String,
        /// Line from 1.
        line: u32,
        /// Column from 1.
        column: u32,
        /// What is wrong and what to write.
        what: String,
    },
}

const LINE_KEYS: &str = "text, calls, usage, latency, stop, fault, times, retry_after, attempts";
const STOPS: [(&str, Stop); 5] = [
    ("end", Stop::End),
    ("tool_calls", Stop::ToolCalls),
    ("length", Stop::Length),
    ("filter", Stop::Filter),
    ("refusal", Stop::Refusal),
];

impl Script {
    /// Reads a script file.
    ///
    /// # Errors
    /// The file cannot be read, or is no script.
    pub fn load(file: &Path) -> Result<Script, ScriptError> {
        let name = file.display().to_string();
        match std::fs::read_to_string(file) {
            Ok(text) => Script::parse(&name, &text),
            Err(e) => Err(ScriptError::Read { file: name, why: e.to_string() }),
        }
    }

    /// Reads the text of a script; `file` is the name that messages show.
    ///
    /// # Errors
    /// The first thing that is no script.
    pub fn parse(file: &str, text: &str) -> Result<Script, ScriptError> {
        let form = |fault: Wrong| ScriptError::Form {
            file: file.to_string(),
            line: fault.at.line,
            column: fault.at.column,
            what: fault.what,
        };
        let root = yaml::parse(text, 0).map_err(|messages| form(unreadable(&messages)))?;
        let entries = entries(&root).map_err(form)?;
        Ok(Script { file: file.to_string(), entries })
    }
}

/// An error whose file is not known yet.
struct Wrong {
    at: Place,
    what: String,
}
type Read<T> = Result<T, Wrong>;

fn wrong<T>(at: Place, what: impl Into<String>) -> Read<T> {
    Err(Wrong { at, what: what.into() })
}

fn unreadable(messages: &[deputize_core::definition::message::Message]) -> Wrong {
    let Some(first) = messages.first() else {
        return Wrong { at: Place { line: 1, column: 1 }, what: "not valid YAML".to_string() };
    };
    let at = Place { line: first.line.unwrap_or(1), column: first.column.unwrap_or(1) };
    let hint = first.hint.as_ref().map(|h| format!("; {h}")).unwrap_or_default();
    Wrong { at, what: format!("{}{hint}", first.text) }
}

fn entries(root: &Node) -> Read<Vec<Entry>> {
    match &root.kind {
        Kind::Map(map) => map.iter().map(entry).collect(),
        Kind::Null => Ok(Vec::new()),
        _ => wrong(root.at, "a script is a map from agent paths to lines: write `lead:` and its list of lines below"),
    }
}

fn entry(written: &node::Entry) -> Read<Entry> {
    let segments: Vec<(String, Option<u64>)> =
        written.key.split('/').map(split_ordinal).map(|(name, ordinal)| (name.to_string(), ordinal)).collect();
    if segments.iter().any(|(name, ordinal)| name.trim().is_empty() || *ordinal == Some(0)) {
        let what =
            format!("`{}` is no agent path: write `lead`, `lead/reader` or `lead/reader#2` (from 1)", written.key);
        return wrong(written.at, what);
    }
    let mut entry = Entry { key: written.key.clone(), segments, ..Entry::default() };
    match &written.value.kind {
        Kind::List(items) => {
            entry.turns.insert(String::new(), items.iter().map(step).collect::<Read<_>>()?);
        }
        Kind::Map(map) => {
            for item in map {
                add(&mut entry, item)?;
            }
        }
        _ => {
            return wrong(
                written.value.at,
                "expected a list of lines, or a map with `turns`, `closing` or other steps",
            );
        }
    }
    Ok(entry)
}

/// One key of an entry: `turns`, `rest`, the label of a step, or a scope with its turns.
fn add(entry: &mut Entry, item: &node::Entry) -> Read<()> {
    if item.key == "rest" {
        entry.rest = Some(step(&item.value)?);
        return Ok(());
    }
    if Label::parse(&item.key).is_err() {
        let what = format!("`{}` is no step label: labels are like `t3`, `closing`, `s2/t1`", item.key);
        return wrong(item.at, what);
    }
    match &item.value.kind {
        Kind::List(items) => {
            let scope = if item.key == "turns" { String::new() } else { format!("{}/", item.key) };
            entry.turns.insert(scope, items.iter().map(step).collect::<Read<_>>()?);
        }
        _ if item.key == "turns" => return wrong(item.value.at, "`turns` is a list: begin each line with `- `"),
        _ => {
            entry.steps.insert(item.key.clone(), step(&item.value)?);
        }
    }
    Ok(())
}

fn step(node: &Node) -> Read<Step> {
    let Kind::Map(map) = &node.kind else {
        return wrong(node.at, format!("a line is a map with some of {LINE_KEYS}: write `text: ...`"));
    };
    let Some(attempts) = map.iter().find(|e| e.key == "attempts") else {
        return line(node.at, map).map(Step::Always);
    };
    if let Some(other) = map.iter().find(|e| e.key != "attempts") {
        return wrong(
            other.at,
            format!("`{}` cannot stand beside `attempts`: put it into one of its lines", other.key),
        );
    }
    let Kind::List(items) = &attempts.value.kind else {
        return wrong(attempts.value.at, "`attempts` is a list of lines, one for each attempt");
    };
    let lines: Read<Vec<Line>> = items
        .iter()
        .map(|item| match &item.kind {
            Kind::Map(map) => line(item.at, map),
            _ => wrong(item.at, "a line of `attempts` is a map: write `text: ...`"),
        })
        .collect();
    Ok(Step::Attempts(lines?))
}

fn line(at: Place, map: &[node::Entry]) -> Read<Line> {
    let mut line = Line { at: at.line, ..Line::default() };
    for item in map {
        let value = &item.value;
        match item.key.as_str() {
            "text" => line.text = text(value)?,
            "calls" => line.calls = calls(value)?,
            "usage" => line.usage = Some(usage(value)?),
            "latency" => line.latency = duration(value)?,
            "stop" => line.stop = Some(stop(value)?),
            "fault" => line.fault = Some(fault(value)?),
            "times" => line.times = Some(u32::try_from(count(value)?).unwrap_or(u32::MAX)),
            "retry_after" => line.retry_after = Some(duration(value)?),
            other => return wrong(item.at, format!("`{other}` is no key of a line; the keys are {LINE_KEYS}")),
        }
    }
    for (key, given) in [("times", line.times.is_some()), ("retry_after", line.retry_after.is_some())] {
        if given && line.fault.is_none() {
            return wrong(at, format!("`{key}` goes with a `fault`, and this line has none"));
        }
    }
    Ok(line)
}

fn text(node: &Node) -> Read<String> {
    match &node.kind {
        Kind::Scalar { text, .. } => Ok(text.clone()),
        Kind::Null => Ok(String::new()),
        _ => wrong(node.at, "expected a text: a list or map that is meant as text must stand in quotes"),
    }
}

fn calls(node: &Node) -> Read<Vec<ToolCall>> {
    const FORM: &str =
        "a call is `tool_name: {arguments}`, or `{tool: tool_name, raw: TEXT}` for arguments that are no JSON";
    let Kind::List(items) = &node.kind else {
        return wrong(node.at, format!("`calls` is a list; {FORM}"));
    };
    let call = |item: &Node| -> Read<ToolCall> {
        let Kind::Map(map) = &item.kind else {
            return wrong(item.at, FORM);
        };
        match map.as_slice() {
            [only] => Ok(ToolCall { name: only.key.clone(), arguments: arguments(&only.value)? }),
            [a, b] => match (a.key.as_str(), b.key.as_str()) {
                ("tool", "raw") => {
                    Ok(ToolCall { name: text(&a.value)?, arguments: Arguments::Malformed(text(&b.value)?) })
                }
                ("raw", "tool") => {
                    Ok(ToolCall { name: text(&b.value)?, arguments: Arguments::Malformed(text(&a.value)?) })
                }
                _ => wrong(b.at, format!("two keys in one call; {FORM}; begin the second call with `- `")),
            },
            _ => wrong(item.at, FORM),
        }
    };
    items.iter().map(call).collect()
}

fn arguments(node: &Node) -> Read<Arguments> {
    match &node.kind {
        Kind::Null => Ok(Arguments::Json(Value::Object(Map::new()))),
        _ => json(node).map(Arguments::Json),
    }
}

/// YAML's core types: a plain `12` is a number, a quoted one a text.
fn json(node: &Node) -> Read<Value> {
    Ok(match &node.kind {
        Kind::Null | Kind::Unreadable => Value::Null,
        Kind::Scalar { text, quoted: true } => Value::String(text.clone()),
        Kind::Scalar { text, quoted: false } => match text.as_str() {
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            plain => number(plain).unwrap_or_else(|| Value::String(text.clone())),
        },
        Kind::List(items) => Value::Array(items.iter().map(json).collect::<Read<_>>()?),
        Kind::Map(map) => {
            Value::Object(map.iter().map(|e| Ok((e.key.clone(), json(&e.value)?))).collect::<Read<Map<_, _>>>()?)
        }
    })
}

fn number(text: &str) -> Option<Value> {
    serde_json::from_str::<serde_json::Number>(text).ok().map(Value::Number)
}

fn usage(node: &Node) -> Read<Usage> {
    const FORM: &str = "`usage` is `{input: N, cached: N, output: N}`";
    let Kind::Map(map) = &node.kind else {
        return wrong(node.at, FORM);
    };
    let mut usage = Usage::default();
    for item in map {
        let place = match item.key.as_str() {
            "input" => &mut usage.input_tokens,
            "cached" => &mut usage.cached_tokens,
            "output" => &mut usage.output_tokens,
            other => return wrong(item.at, format!("`{other}` is no part of it; {FORM}")),
        };
        *place = count(&item.value)?;
    }
    if usage.cached_tokens > usage.input_tokens {
        return wrong(node.at, "`cached` is a part of `input` and cannot be more");
    }
    Ok(usage)
}

fn count(node: &Node) -> Read<u64> {
    let written = text(node)?;
    match written.parse() {
        Ok(count) => Ok(count),
        Err(_) => wrong(node.at, format!("`{written}` is no count: write a whole number like 1200")),
    }
}

fn duration(node: &Node) -> Read<Duration> {
    let written = text(node)?;
    let digits = written.find(|c: char| !c.is_ascii_digit()).unwrap_or(written.len());
    let parts = written.split_at_checked(digits).and_then(|(n, unit)| Some((n.parse::<u64>().ok()?, unit)));
    let millis = match parts {
        Some((n, "ms")) => Some(n),
        Some((n, "s" | "")) => n.checked_mul(1_000),
        Some((n, "m")) => n.checked_mul(60_000),
        Some((n, "h")) => n.checked_mul(3_600_000),
        _ => None,
    };
    match millis {
        Some(millis) => Ok(Duration::from_millis(millis)),
        None => wrong(node.at, format!("`{written}` is no duration: write it like 250ms, 3s or 2m")),
    }
}

fn stop(node: &Node) -> Read<Stop> {
    let written = text(node)?;
    match STOPS.iter().find(|(name, _)| *name == written) {
        Some((_, stop)) => Ok(*stop),
        None => {
            let known: Vec<&str> = STOPS.iter().map(|(name, _)| *name).collect();
            wrong(node.at, format!("`{written}` is no way to stop; write one of {}", known.join(", ")))
        }
    }
}

fn fault(node: &Node) -> Read<Fault> {
    let written = text(node)?;
    match Fault::named(&written) {
        Some(fault) => Ok(fault),
        None => {
            let known: Vec<&str> = Fault::ALL.iter().map(|f| f.name()).collect();
            wrong(node.at, format!("`{written}` is no fault; write one of {}", known.join(", ")))
        }
    }
}
