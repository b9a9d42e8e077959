//! A tree at one moment, a line for each run: who, in which state, what it does now, what it used. Owns these lines, which
//! are for people and no contract.

use crate::out::one_line;
use crate::progress::wanted;
use deputize_api::{UsageDoc, status_in, text};
use deputize_core::projection::{RunView, Tree};
use deputize_core::step::Ask;
use std::collections::BTreeMap;

/// Characters of an objective.
const OBJECTIVE: usize = 60;
/// Steps that are named of those that a run does at once.
const STEPS: usize = 3;

/// The run and everything below it.
pub(super) fn lines(tree: &Tree, id: &deputize_core::id::RunId, live: bool) -> Vec<String> {
    // Who is the last of its siblings, so that the branches are closed.
    let runs: Vec<&RunView> = tree.subtree(id).collect();
    let mut last: BTreeMap<String, &RunView> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.id != *id) {
        last.insert(above(run), run);
    }
    let is_last = |run: &RunView| last.get(&above(run)).is_some_and(|other| other.id == run.id);
    let mut open: Vec<(String, bool)> = Vec::new();
    let mut all = Vec::new();
    for run in runs {
        while open.last().is_some_and(|(at, _)| !run.id.as_str().starts_with(&format!("{at}/"))) {
            open.pop();
        }
        let mut indent: String =
            open.iter().skip(1).map(|(_, closed)| if *closed { "   " } else { "\u{2502}  " }).collect();
        if !open.is_empty() {
            indent.push_str(if is_last(run) { "\u{2514}\u{2500} " } else { "\u{251c}\u{2500} " });
        }
        all.push(format!("{indent}{}", line(tree, run, live)));
        open.push((run.id.to_string(), is_last(run)));
    }
    all
}

fn above(run: &RunView) -> String {
    run.parent().map(|(parent, _)| parent.to_string()).unwrap_or_default()
}

fn line(tree: &Tree, run: &RunView, live: bool) -> String {
    let summary = run.state.summary();
    let word = text::people_word(status_in(tree, run, live), summary.is_some_and(|summary| summary.partial));
    let started = run.state.started();
    let agent = started.map(|started| started.agent.to_string()).unwrap_or_default();
    let step = run.parent().map(|(_, label)| format!("{label}  ")).unwrap_or_default();
    let tokens = tokens(tree, run);
    let doing = if summary.is_some() { String::new() } else { doing(run) };
    let what = match doing.is_empty() {
        false => doing,
        true => {
            let objective = started.map(|started| started.brief.objective.value.as_str()).unwrap_or_default();
            format!("\"{}\"", one_line(objective, OBJECTIVE))
        }
    };
    format!("{step}{agent}  {word}  {tokens}  {what}")
}

/// Those of the whole subtree, and its own where they differ.
fn tokens(tree: &Tree, run: &RunView) -> String {
    let sum = |usage: UsageDoc| usage.input_tokens.saturating_add(usage.output_tokens);
    let (all, own) = (sum(UsageDoc::from(&tree.spent(&run.id))), sum(UsageDoc::from(&run.own)));
    let own = if all == own { String::new() } else { format!(" (own {})", text::count(own)) };
    format!("{} tokens{own}", text::count(all))
}

/// What it does at this moment. Its children speak for themselves.
fn doing(run: &RunView) -> String {
    let open = run.state.open().into_iter().map(|label| (label, String::new()));
    let parked: BTreeMap<_, _> = run.state.parked_steps().collect();
    let again = run.state.waiting().iter().map(|label| match parked.get(label) {
        None => (label, " is tried again soon".to_string()),
        Some(None) => (label, " waits for its provider until it is resumed".to_string()),
        Some(Some(until)) => (label, format!(" waits for its provider until {}", text::moment(*until))),
    });
    let mut steps = Vec::new();
    for (label, more) in open.chain(again) {
        if let Some(step) = run.state.step(label).filter(|step| !matches!(&*step.ask, Ask::Delegate { .. })) {
            steps.push(format!("{label} {}{more}", wanted(&step.ask)));
        }
    }
    let more = steps.len().saturating_sub(STEPS);
    steps.truncate(STEPS);
    if more > 0 {
        steps.push(format!("{more} more"));
    }
    steps.join("; ")
}
