//! Trees and runs as text for people. Plain text without colour; the command line sanitises and prints it.

use crate::docs::{RunDoc, UsageDoc};
use crate::time::rfc3339;
use crate::waiting::{WaitingDoc, WaitingListDoc, status_in};
use deputize_core::brief::Mode;
use deputize_core::event::Event;
use deputize_core::id::{Label, RunId, Time};
use deputize_core::projection::{self, RunView, StepRow, Tree};
use serde_json::Value;
use std::fmt::Write as _;

/// The state as people say it: `done`, `partial`, `waiting`, `failed`, `cancelled`, `running`, `interrupted`.
pub fn people_word(status: &str, partial: bool) -> &'static str {
    match status {
        "succeeded" => "done",
        "cancelled" => "cancelled",
        "running" => "running",
        "interrupted" => "interrupted",
        "waiting" => "waiting",
        _ if partial => "partial",
        _ => "failed",
    }
}

/// `12.3k in (4.0k cached), 1.2k out, 14 model calls, 9 tool calls, 4 runs`.
pub fn usage(usage: &UsageDoc) -> String {
    let cached =
        if usage.cached_tokens > 0 { format!(" ({} cached)", count(usage.cached_tokens)) } else { String::new() };
    format!(
        "{} in{cached}, {} out, {}, {}, {}",
        count(usage.input_tokens),
        count(usage.output_tokens),
        many(usage.model_calls, "model call"),
        many(usage.tool_calls, "tool call"),
        many(usage.runs, "run"),
    )
}

fn many(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// `950`, `12.3k`, `4.0M`.
pub fn count(n: u64) -> String {
    match n {
        0..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        _ => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
    }
}

/// `950 bytes`, `12.3 MB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)];
    match UNITS.into_iter().find(|(_, unit)| n >= *unit) {
        Some((name, unit)) => format!("{}.{} {name}", n / unit, n % unit * 10 / unit),
        None => many(n, "byte"),
    }
}

/// A payload: a lone `result` text as it is, everything else as indented JSON.
pub fn payload(payload: &Value) -> String {
    let lone = payload.as_object().filter(|m| m.len() == 1).and_then(|m| m.get("result")).and_then(Value::as_str);
    match (lone, payload) {
        (Some(text), _) => text.to_string(),
        (None, Value::Null) => String::new(),
        (None, other) => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The result of a run: payload, state, reason, what it waits for, usage, next command. `now` is for the time that is left.
pub fn run(doc: &RunDoc, now: Time) -> String {
    let run = &doc.run;
    let mut out = payload(&run.payload);
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    let word = people_word(run.status, run.partial);
    let detail =
        if word == run.status || run.status == "succeeded" { String::new() } else { format!(" ({})", run.status) };
    let _ = writeln!(out, "{word}{detail}  {}  {}", run.run_id, run.agent);
    if let (Some(code), Some(reason)) = (&run.reason_code, &run.reason) {
        let _ = writeln!(out, "  {code}: {reason}");
    }
    for wait in &doc.waiting {
        let _ = writeln!(out, "  {}", waits(wait, now));
    }
    for judged in &run.success {
        let verdict = serde_json::to_value(judged.verdict).unwrap_or_default();
        let _ = writeln!(out, "  {}: {}", verdict.as_str().unwrap_or_default(), judged.condition);
    }
    let _ = writeln!(out, "  {}", usage(&run.usage));
    if let Some(next) = &run.next {
        let _ = writeln!(out, "next: {next}");
    }
    out
}

/// What one run waits for.
fn waits(wait: &WaitingDoc, now: Time) -> String {
    let until = match wait.until_time {
        None => "until it is resumed".to_string(),
        Some(at) if at <= now => format!("until {}, which is past", moment(at)),
        Some(at) => format!("until {} (in {})", moment(at), span(at.since(now))),
    };
    format!("{} waits for its provider {until}  {}: {}", wait.path, wait.reason_code, head(&wait.reason, 160))
}

/// Everything that is waited for, a line each with its command.
pub fn waiting(doc: &WaitingListDoc, now: Time) -> String {
    if doc.waiting.is_empty() {
        return "nothing waits".to_string();
    }
    doc.waiting.iter().map(|wait| format!("{}  {}\n  next: {}\n", wait.id, waits(wait, now), wait.command)).collect()
}

/// `2026-12-01 14:00:00 UTC`.
pub fn moment(at: Time) -> String {
    let text = rfc3339(at);
    format!("{} UTC", text.split('.').next().unwrap_or(&text).replace('T', " "))
}

/// `45 s`, `12 min`, `2 h 5 min`, `3 d 4 h`; rounded up, so that nobody comes too early.
fn span(ms: u64) -> String {
    let s = ms.div_ceil(1_000);
    let m = s.div_ceil(60);
    match (s, m) {
        (0..120, _) => format!("{s} s"),
        (_, 0..60) => format!("{m} min"),
        (_, 60..1_440) => format!("{} h {} min", m / 60, m % 60),
        _ => format!("{} d {} h", m / 1_440, m % 1_440 / 60),
    }
}

/// The tree below a run with every step, one line each.
pub fn tree(tree: &Tree, id: &RunId, live: bool) -> String {
    let mut out = String::new();
    if let Some(run) = tree.run(id) {
        node(&mut out, tree, run, live, "");
    }
    out
}

fn node(out: &mut String, tree: &Tree, run: &RunView, live: bool, indent: &str) {
    let summary = run.state.summary();
    let status = status_in(tree, run, live);
    let word = people_word(status, summary.is_some_and(|s| s.partial));
    let (agent, objective) = run
        .state
        .started()
        .map_or(("?".to_string(), String::new()), |s| (s.agent.to_string(), head(&s.brief.objective.value, 80)));
    let used = short_usage(&UsageDoc::from(&tree.spent(&run.id)));
    let adopted = run.log.iter().any(|record| matches!(record.event, Event::Adopted { .. }));
    let adopted = if adopted { "  (adopted changed definitions)" } else { "" };
    let _ = writeln!(out, "{agent}  {word}  {used}  \"{objective}\"{adopted}");
    let rows = projection::steps(run);
    for (i, row) in rows.iter().enumerate() {
        let last = i + 1 == rows.len();
        let (branch, below) = if last { ("\u{2514}\u{2500} ", "   ") } else { ("\u{251c}\u{2500} ", "\u{2502}  ") };
        let _ = write!(out, "{indent}{branch}{:<8} ", row.label.as_str());
        match tree.run(&run.id.child(&row.label)) {
            Some(child) => node(out, tree, child, live, &format!("{indent}{below}")),
            None => {
                let _ = writeln!(out, "{}", step(run, row));
            }
        }
    }
}

fn short_usage(usage: &UsageDoc) -> String {
    format!("{} tokens", count(usage.input_tokens.saturating_add(usage.output_tokens)))
}

fn step(run: &RunView, row: &StepRow) -> String {
    let again = if row.attempt > 1 { format!(" (attempt {})", row.attempt) } else { String::new() };
    let why = row.reason_code.as_ref().map(|c| format!("  {c}")).unwrap_or_default();
    let mut tokens = String::new();
    if row.usage.tokens() > 0 {
        let _ = write!(tokens, "  {} tokens", count(row.usage.tokens()));
    }
    if row.presumed.tokens() > 0 {
        let _ = write!(tokens, " ({} presumed)", count(row.presumed.tokens()));
    }
    match row.kind {
        "delegate" => refused(run, &row.label).unwrap_or_else(|| format!("delegate {}  {}{why}", row.name, row.status)),
        kind => format!("{kind} {}  {}{again}{tokens}{why}", row.name, row.status),
    }
}

fn refused(run: &RunView, label: &Label) -> Option<String> {
    let row = projection::delegations(run).into_iter().find(|d| d.step == *label && d.mode != Mode::Delegated)?;
    Some(projection::line(&row))
}

/// The first line of a text, at most so many characters.
pub fn head(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(most).collect();
    if short.len() < text.trim().len() {
        short.push('\u{2026}');
    }
    short
}
