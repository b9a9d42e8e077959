//! What `doctor` finds: a row for each thing that a run needs, as a document and as text of 80 columns. Owns shape and
//! words, not what is looked at.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns of the text.
const WIDTH: usize = 80;
/// Where the sentences begin.
const INDENT: usize = 19;

/// `doctor --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DoctorDoc {
    /// See [`crate::SCHEMA`].
    pub schema: u32,
    /// Whether a run could start.
    pub ready: bool,
    /// What was looked at, in order.
    pub checks: Vec<CheckedDoc>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedDoc {
    /// What kind of thing: `team`, `model`, `provider`, `local`, `keys`, `network`, `state`, `store`, `git`, ...
    pub area: &'static str,
    /// Which one, where there may be several.
    pub name: Option<String>,
    /// How it is.
    pub status: Health,
    /// For a provider that fails: the layer (`address`, `proxy`, `dns`, `connect`, `tls`, `auth`, `model`, `answer`).
    pub layer: Option<&'static str>,
    /// One sentence.
    pub text: String,
    /// What to do about it.
    pub fix: Option<String>,
    /// What was measured or found, by name.
    pub facts: BTreeMap<&'static str, Value>,
}

/// How a thing is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It works.
    Ok,
    /// A run can start all the same.
    Warning,
    /// No run can start.
    Failed,
    /// It is not there, and need not be.
    Off,
}

impl CheckedDoc {
    /// A row without anything to do.
    pub fn new(area: &'static str, status: Health, text: impl Into<String>) -> CheckedDoc {
        CheckedDoc { area, name: None, status, layer: None, text: text.into(), fix: None, facts: BTreeMap::new() }
    }
    /// With which one it is.
    #[must_use]
    pub fn name(self, name: impl Into<String>) -> CheckedDoc {
        CheckedDoc { name: Some(name.into()), ..self }
    }
    /// With what to do.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> CheckedDoc {
        CheckedDoc { fix: Some(fix.into()), ..self }
    }
    /// With something that was found.
    #[must_use]
    pub fn fact(mut self, name: &'static str, value: impl Into<Value>) -> CheckedDoc {
        self.facts.insert(name, value.into());
        self
    }
}

/// The document as text.
pub fn text(doc: &DoctorDoc) -> String {
    let mut out = String::new();
    for row in &doc.checks {
        let mark = match row.status {
            Health::Ok => "ok",
            Health::Warning => "warning",
            Health::Failed => "FAILED",
            Health::Off => "-",
        };
        let name = row.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        let layer = row.layer.map(|layer| format!("{layer}: ")).unwrap_or_default();
        wrapped(&mut out, &format!("{mark:<8} {:<10}", row.area), &format!("{name}{layer}{}", row.text));
        for line in row.fix.iter().flat_map(|fix| fix.lines()) {
            // What stands in a second column is said about the command: whoever copies the line copies a comment.
            let line = match line.split_once("  ") {
                Some((command, about)) => format!("= {command} # {}", about.trim_start()),
                None => format!("= {line}"),
            };
            wrapped(&mut out, &" ".repeat(INDENT), &line);
        }
    }
    out.push_str(if doc.ready { "a run can start\n" } else { "a run cannot start yet: see FAILED above\n" });
    out
}

/// A text behind a head, in lines of [`WIDTH`]; a word that is longer stands alone in its line.
fn wrapped(out: &mut String, head: &str, text: &str) {
    let mut line = head.to_string();
    let mut empty = true;
    for word in text.split_whitespace() {
        let fits = line.chars().count() + 1 + word.chars().count() <= WIDTH;
        if !empty && !fits {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(INDENT);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests;
