//! What a script says: for every agent path and step, the line that is played. Plain data and look-ups, no state.

use super::fault::Fault;
use deputize_core::id::AgentPath;
use deputize_core::message::{Arguments, Stop, ToolCall, Turn, Usage};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A script, read by [`Script::parse`](super::load).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The file's name as shown in messages.
    pub(super) file: String,
    pub(super) entries: Vec<Entry>,
}

/// What one key of the script says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    /// The key as written.
    pub(super) key: String,
    /// Its segments: a name, and an ordinal if one is written.
    pub(super) segments: Vec<(String, Option<u64>)>,
    /// Turns by scope; the scope of `t1` is empty, that of `s2/t1` is `s2/`.
    pub(super) turns: BTreeMap<String, Vec<Step>>,
    /// Other steps by label.
    pub(super) steps: BTreeMap<String, Step>,
    /// Every turn that is not listed.
    pub(super) rest: Option<Step>,
}

/// One step: a line for every attempt, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Always(Line),
    Attempts(Vec<Line>),
}

/// One answer, and the fault that may come before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The text.
    pub text: String,
    /// The calls.
    pub calls: Vec<ToolCall>,
    /// Tokens; estimated from the request when absent.
    pub usage: Option<Usage>,
    /// How long the answer takes.
    pub latency: Duration,
    /// Why the model stopped; absent: `tool_calls` with calls, else `end`.
    pub stop: Option<Stop>,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// How many attempts the fault lasts; absent: all.
    pub times: Option<u32>,
    /// What the provider asks to wait, for faults that have it.
    pub retry_after: Option<Duration>,
    /// Where the line stands in the file, from 1; 0 for a line made in code.
    pub at: u32,
}

impl Line {
    /// A line that says this.
    pub fn say(text: impl Into<String>) -> Line {
        Line { text: text.into(), ..Line::default() }
    }
    /// A line that calls a tool.
    pub fn call(tool: &str, arguments: serde_json::Value) -> Line {
        let calls = vec![ToolCall { name: tool.to_string(), arguments: Arguments::Json(arguments) }];
        Line { calls, ..Line::default() }
    }
    /// A line at which this goes wrong.
    pub fn fail(fault: Fault) -> Line {
        Line { fault: Some(fault), ..Line::default() }
    }
    /// The fault at this try, if it still lasts.
    pub(crate) fn fault_at(&self, attempt: u32) -> Option<Fault> {
        self.fault.filter(|_| self.times.is_none_or(|times| attempt <= times))
    }
    /// The answer, changed by a fault that is an answer too.
    pub(crate) fn turn(&self, fault: Option<Fault>) -> Turn {
        let usual = if self.calls.is_empty() { Stop::End } else { Stop::ToolCalls };
        let stop = self.stop.unwrap_or(usual);
        let whole = Turn { text: self.text.clone(), calls: self.calls.clone(), stop, ..Turn::default() };
        match fault {
            Some(Fault::Refusal) => {
                let text = if self.text.is_empty() { "I cannot help with that.".to_string() } else { whole.text };
                Turn { text, stop: Stop::Refusal, ..Turn::default() }
            }
            Some(Fault::Empty) => Turn::default(),
            Some(Fault::Length) => {
                let half = self.text.chars().count().div_ceil(2);
                Turn { text: self.text.chars().take(half).collect(), stop: Stop::Length, ..Turn::default() }
            }
            _ => whole,
        }
    }
}

/// Which line of a script: what is kept of a line that was played.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LineId {
    entry: usize,
    step: String,
    attempt: usize,
}

/// Why there is no line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoLine(String);

impl fmt::Display for NoLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Script {
    /// The name of the file, as it is shown.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line for an attempt at a step of an agent. Depends on nothing but its arguments, so that a run that is killed
    /// and resumed in another process meets the same lines.
    pub(crate) fn find(&self, path: &AgentPath, label: &str, attempt: u32) -> Result<(LineId, &Line), NoLine> {
        let asked = format!("`{path}`, step `{label}`, attempt {attempt}");
        let Some((index, entry)) = self.entry(path) else {
            let keys: Vec<&str> = self.entries.iter().map(|e| e.key.as_str()).collect();
            let has = if keys.is_empty() { "it is empty".to_string() } else { format!("it has {}", keys.join(", ")) };
            return Err(NoLine(format!("{} has no entry for {asked}: {has}", self.file)));
        };
        let Some((name, step)) = entry.step(label) else {
            let said = entry.summary();
            return Err(NoLine(format!("{}: `{}` has no line for {asked}: it has {said}", self.file, entry.key)));
        };
        let (at, line) = match step {
            Step::Always(line) => (0, Some(line)),
            Step::Attempts(lines) => {
                let at = usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX);
                (at, lines.get(at))
            }
        };
        let line = line.ok_or_else(|| NoLine(format!("{}: no line of `attempts` is left for {asked}", self.file)))?;
        Ok((LineId { entry: index, step: name, attempt: at }, line))
    }

    /// Every line but those of `rest`, with its name.
    pub(super) fn lines(&self) -> Vec<(LineId, String)> {
        let mut all = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            for (name, step) in entry.named() {
                let lines = match step {
                    Step::Always(line) => std::slice::from_ref(line),
                    Step::Attempts(lines) => lines,
                };
                for (attempt, line) in lines.iter().enumerate() {
                    let shown = format!("{}:{}: `{}`, step `{name}`", self.file, line.at, entry.key);
                    all.push((LineId { entry: index, step: name.clone(), attempt }, shown));
                }
            }
        }
        all
    }

    /// The entry that fits best: more ordinals before fewer, then an ordinal nearer to the root before one farther away.
    fn entry(&self, path: &AgentPath) -> Option<(usize, &Entry)> {
        let segments: Vec<(&str, Option<u64>)> = path.as_str().split('/').map(split_ordinal).collect();
        let fits = |entry: &Entry| {
            entry.segments.len() == segments.len()
                && entry
                    .segments
                    .iter()
                    .zip(&segments)
                    .all(|((name, ordinal), (is, number))| name == is && (ordinal.is_none() || ordinal == number))
        };
        let rank = |entry: &Entry| {
            let exact: Vec<bool> = entry.segments.iter().map(|(_, ordinal)| ordinal.is_some()).collect();
            (exact.iter().filter(|e| **e).count(), exact)
        };
        self.entries.iter().enumerate().filter(|(_, e)| fits(e)).max_by_key(|(_, e)| rank(e))
    }
}

impl Entry {
    /// The step of a label, and the name it goes by in reports.
    fn step(&self, label: &str) -> Option<(String, &Step)> {
        if let Some(step) = self.steps.get(label) {
            return Some((label.to_string(), step));
        }
        let (scope, number) = turn_of(label)?;
        let listed = self.turns.get(scope).and_then(|turns| turns.get(number.checked_sub(1)?));
        match listed {
            Some(step) => Some((label.to_string(), step)),
            None => self.rest.as_ref().map(|rest| ("rest".to_string(), rest)),
        }
    }
    /// All steps that must be played, by label.
    fn named(&self) -> Vec<(String, &Step)> {
        let numbered = |(scope, turns): (&String, &'_ Vec<Step>)| {
            let scope = scope.clone();
            (1..=turns.len()).map(move |n| format!("{scope}t{n}")).collect::<Vec<_>>()
        };
        let labels = self.turns.iter().flat_map(numbered);
        let turns = labels.zip(self.turns.values().flatten());
        turns.chain(self.steps.iter().map(|(label, step)| (label.clone(), step))).collect()
    }
    fn summary(&self) -> String {
        let named = self.named();
        let labels: Vec<&str> = named.iter().map(|(label, _)| label.as_str()).collect();
        if labels.is_empty() { "no lines".to_string() } else { labels.join(", ") }
    }
}

/// `research#2` is `research` and 2.
pub(super) fn split_ordinal(segment: &str) -> (&str, Option<u64>) {
    match segment.rsplit_once('#').and_then(|(name, number)| Some((name, number.parse().ok()?))) {
        Some((name, number)) => (name, Some(number)),
        None => (segment, None),
    }
}

/// `s2/t3` is turn 3 of the scope `s2/`.
fn turn_of(label: &str) -> Option<(&str, usize)> {
    let at = label.rfind('/').map_or(0, |i| i + 1);
    let (scope, last) = label.split_at_checked(at)?;
    Some((scope, last.strip_prefix('t')?.parse().ok()?))
}
