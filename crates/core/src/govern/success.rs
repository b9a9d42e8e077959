//! The success condition: predicates that the program checks, statements that the agent reports on.

use crate::answer::Answer;
use crate::brief::{Predicate, Success, Test};
use crate::summary::{Judge, Judged, Verdict};
use serde_json::Value;

/// Every condition and how it stands.
pub(crate) fn judge(success: &Success, answer: &Answer, evidence: usize, exists: &[bool]) -> Vec<Judged> {
    let checked = success.predicates.iter().enumerate().map(|(i, predicate)| {
        let met = match predicate {
            Predicate::At { at, test } => holds(test, answer.payload.pointer(at)),
            Predicate::FileExists(_) => exists.get(i).copied().unwrap_or(false),
            Predicate::EvidenceMin(least) => evidence as u64 >= *least,
        };
        let verdict = if met { Verdict::Met } else { Verdict::Unmet };
        Judged { condition: words(predicate), verdict, judge: Judge::Program, evidence: String::new() }
    });
    checked.chain(answer.reports.iter().cloned()).collect()
}

fn holds(test: &Test, value: Option<&Value>) -> bool {
    let items = value.and_then(Value::as_array).map(|a| a.len() as u64);
    match test {
        Test::Exists(wanted) => value.is_some() == *wanted,
        Test::Equals(wanted) => value == Some(wanted),
        Test::MinItems(least) => items.is_some_and(|n| n >= *least),
        Test::MaxItems(most) => items.is_some_and(|n| n <= *most),
        Test::Matches(pattern) => {
            let text = value.and_then(Value::as_str);
            text.is_some_and(|t| regex::Regex::new(pattern).is_ok_and(|r| r.is_match(t)))
        }
    }
}

/// A predicate as people read it.
pub(crate) fn words(predicate: &Predicate) -> String {
    match predicate {
        Predicate::At { at, test } => {
            let at = if at.is_empty() { "the payload" } else { at };
            match test {
                Test::Exists(true) => format!("{at} is there"),
                Test::Exists(false) => format!("{at} is not there"),
                Test::Equals(value) => format!("{at} equals {value}"),
                Test::MinItems(n) => format!("{at} has at least {n} items"),
                Test::MaxItems(n) => format!("{at} has at most {n} items"),
                Test::Matches(pattern) => format!("{at} matches {pattern}"),
            }
        }
        Predicate::FileExists(path) => format!("the file {path} exists"),
        Predicate::EvidenceMin(n) => format!("at least {n} tool calls succeeded"),
    }
}
