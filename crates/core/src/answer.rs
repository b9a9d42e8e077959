//! The last turn of an agent, read under its brief: payload, reports on success statements, citations.
//! One reader for the contract (which rejects) and for programs (which return the payload).

use crate::brief::{Brief, Origin};
use crate::code::{self, Code};
use crate::depth::{DEEPEST, deeper};
use crate::message::paired;
use crate::schema;
use crate::summary::{Judge, Judged, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What an agent gave as its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The payload.
    pub payload: Value,
    /// What it says of the statements of its success condition, one for each, in their order.
    pub reports: Vec<Judged>,
}

/// What is wrong with an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Complaint {
    /// The reason.
    pub code: Code,
    /// What is wrong, for a repair request.
    pub why: String,
    /// Whether asking again may help.
    pub repairable: bool,
}

impl Complaint {
    pub(crate) fn new(code: Code, why: impl Into<String>, repairable: bool) -> Complaint {
        Complaint { code, why: why.into(), repairable }
    }
}

/// The fence that an agent's reports on its success statements stand in.
pub(crate) const REPORT_FENCE: &str = "```success";

/// Reads an answer under a brief.
///
/// # Errors
/// It is blank, or does not have the form that the brief asks for. A repair may help where the brief asks for a form.
pub fn read(text: &str, brief: &Brief) -> Result<Answer, Complaint> {
    let statements = &brief.success.value.statements;
    let (text, report) = if statements.is_empty() { (text.trim().into(), None) } else { split_report(text) };
    let text = &*text;
    let reports = judge(statements, report);
    let free = brief.output.by == Origin::Default;
    if text.is_empty() {
        return Err(Complaint::new(code::SUMMARY_EMPTY, "the last answer is empty", !free));
    }
    if free {
        return Ok(Answer { payload: json!({"result": text}), reports });
    }
    let Some(payload) = document(text) else {
        let why = "the answer must be one JSON document under the output schema and nothing else";
        return Err(Complaint::new(code::OUTPUT_INVALID, why, true));
    };
    if deeper(&payload, DEEPEST) {
        let why = format!("the answer is nested deeper than {DEEPEST} levels: make it flatter");
        return Err(Complaint::new(code::OUTPUT_INVALID, why, true));
    }
    let complaints = schema::complaints(&brief.output.value, &payload, 5);
    if complaints.is_empty() {
        return Ok(Answer { payload, reports });
    }
    let why = format!("the answer does not fit the output schema: {}", complaints.join("; "));
    Err(Complaint::new(code::OUTPUT_INVALID, why, true))
}

/// The answer without its report, and the report, which may stand before or behind it.
fn split_report(text: &str) -> (Cow<'_, str>, Option<&str>) {
    let Some((before, after)) = text.rsplit_once(REPORT_FENCE) else { return (text.trim().into(), None) };
    let (report, behind) = after.split_once("```").unwrap_or((after, ""));
    let (before, behind) = (before.trim(), behind.trim());
    let answer = match (before.is_empty(), behind.is_empty()) {
        (_, true) => before.into(),
        (true, false) => behind.into(),
        (false, false) => format!("{before}\n\n{behind}").into(),
    };
    (answer, Some(report))
}

/// The JSON document in a text: the whole, the first fenced block, or what stands between the outer braces.
fn document(text: &str) -> Option<Value> {
    let json = |text: &str| serde_json::from_str(text).or_else(|_| serde_json::from_str(&paired(text))).ok();
    let fenced = || {
        let (_, rest) = text.split_once("```")?;
        let (inside, _) = rest.split_once("```")?;
        json(inside.trim_start_matches("json").trim())
    };
    let braced = || {
        let from = text.find('{')?;
        let to = text.rfind('}')?;
        json(text.get(from..=to)?)
    };
    json(text).or_else(fenced).or_else(braced)
}

#[derive(Deserialize)]
struct Line {
    statement: usize,
    verdict: String,
    #[serde(default)]
    evidence: String,
}

/// One verdict for each statement; what is not said is unknown.
fn judge(statements: &[String], report: Option<&str>) -> Vec<Judged> {
    let lines = report.map(lines).unwrap_or_default();
    let one = |(i, statement): (usize, &String)| {
        let line = lines.iter().find(|l| l.statement == i + 1);
        let verdict = match line.map(|l| l.verdict.to_ascii_lowercase()) {
            Some(v) if v == "met" => Verdict::Met,
            Some(v) if v == "unmet" => Verdict::Unmet,
            _ => Verdict::Unknown,
        };
        let evidence = line.map(|l| l.evidence.clone()).unwrap_or_default();
        Judged { condition: statement.clone(), verdict, judge: Judge::SelfReported, evidence }
    };
    statements.iter().enumerate().map(one).collect()
}

/// `1: met - why`, one a line, or a JSON list of `{statement, verdict, evidence}`.
fn lines(report: &str) -> Vec<Line> {
    if let Ok(lines) = serde_json::from_str::<Vec<Line>>(report.trim()) {
        return lines;
    }
    report.lines().filter_map(line).collect()
}

/// One line: a number, then a word of its own. Models set marks of lists and of emphasis around both, and put a sign before
/// the word; what comes behind the word without a separator (`met?`) makes it another word.
fn line(text: &str) -> Option<Line> {
    let text = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let text = text.strip_prefix("Statement").or(text.strip_prefix("statement")).unwrap_or(text).trim_start();
    let (number, rest) = text.split_at_checked(text.find(|c: char| !c.is_ascii_digit())?)?;
    let statement = number.parse().ok()?;
    let rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
    let (not, rest) = match rest.split_at_checked(4) {
        Some((word, rest)) if word.eq_ignore_ascii_case("not ") => (true, rest.trim_start()),
        _ => (false, rest),
    };
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (word, behind) = rest.split_at_checked(end)?;
    let behind = behind.trim_start_matches(['*', '_', '`']);
    let separator = |c: char| c.is_whitespace() || "-:;,.()\u{2013}\u{2014}".contains(c);
    if !(behind.is_empty() || behind.starts_with(separator)) {
        return None;
    }
    let verdict = if not && word.eq_ignore_ascii_case("met") { "unmet" } else { word };
    let behind = behind.strip_prefix('.').unwrap_or(behind);
    let evidence = behind.trim_start_matches(|c: char| c.is_whitespace() || "-:;,\u{2013}\u{2014}".contains(c));
    Some(Line { statement, verdict: verdict.to_string(), evidence: evidence.to_string() })
}
