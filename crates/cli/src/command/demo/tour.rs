//! The demo itself: the run, then what there was to see in it and what to type next.

use super::bundle::Place;
use super::{OBJECTIVE, program, quoted};
use crate::ambient::Ambient;
use crate::args::{RunArgs, TeamFlags};
use crate::command;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::past;
use deputize_api::{UsageDoc, text};
use deputize_core::brief::Mode;
use deputize_core::id::RunId;
use deputize_core::projection::{self, DelegationRow, RunView, StepRow, Tree};
use deputize_core::summary::Terminal;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Characters of a reason.
const REASON: usize = 90;

/// Runs the team as `run` does, then says what to look at.
pub(super) async fn run(place: &Place, ambient: &Ambient, out: &Out) -> Result<Exit, Fault> {
    out.note("The model of this demo is scripted. The rest is real: files, tools, contracts, budget, log.");
    let team = TeamFlags { script: Some(place.script()), workspace: Some(place.sample()), ..TeamFlags::default() };
    let words = vec![place.team.display().to_string(), OBJECTIVE.to_string()];
    let start = Instant::now();
    let exit = command::run::execute(RunArgs { words, team, detach: false, announce: false }, ambient, out).await?;
    let took = start.elapsed();
    if out.json() || exit == Exit::Interrupted {
        return Ok(exit);
    }
    let found = past::find(ambient, "last").await?;
    let tree = past::tree(&found.shelf, &found.head.root).await?;
    out.result(&told(place, ambient, &tree, &found.head.root, took));
    Ok(exit)
}

fn told(place: &Place, ambient: &Ambient, tree: &Tree, root: &RunId, took: Duration) -> String {
    let mut all = String::from("\n----------------------------------------------------------------------\n");
    all.push_str("That was a script in the place of a model. Everything else was real.\n\n");
    let _ = writeln!(all, "The tree, step by step\n\n{}", indented(&text::tree(tree, root, false)));
    if let Some(lead) = tree.run(root) {
        let _ = writeln!(all, "What became of each delegation\n\n{}", delegations(tree, lead));
    }
    let used = UsageDoc::from(&tree.spent(root));
    let _ = writeln!(all, "Figures (tokens estimated: there was no model to count them)\n");
    let _ = writeln!(all, "  {}, {:.1} s\n", text::usage(&used), took.as_secs_f64());
    all.push_str(&next(place, ambient, root));
    all
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "  {line}");
        all
    })
}

fn delegations(tree: &Tree, lead: &RunView) -> String {
    let rows = projection::delegations(lead);
    rows.iter().fold(String::new(), |mut all, row| {
        let _ = writeln!(
            all,
            "  {:<6} {:<12} {:<10} {}",
            row.step.as_str(),
            row.agent,
            mode(row.mode),
            fate(tree, &rows, row)
        );
        all
    })
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Delegated => "delegated",
        Mode::Degraded => "degraded",
        Mode::Rejected => "rejected",
    }
}

/// How it ended, and what the lead made of it.
fn fate(tree: &Tree, rows: &[DelegationRow], row: &DelegationRow) -> String {
    let status = row.status.map(Terminal::word).unwrap_or_default();
    let why = row.reason.as_ref().map(|reason| one_line(reason, REASON)).unwrap_or_default();
    let good = row.status == Some(Terminal::Succeeded);
    let later = rows.iter().skip_while(|other| other.step != row.step).skip(1).find(|other| other.agent == row.agent);
    let then = match (row.mode, later) {
        (Mode::Delegated, _) if good => repairs(tree, row),
        (Mode::Degraded, _) => "; the lead did this part itself".to_string(),
        (_, Some(other)) => format!("; sent again as {}", other.step),
        (_, None) => String::new(),
    };
    let gap = if status.is_empty() || why.is_empty() { "" } else { ": " };
    format!("{status}{gap}{why}{then}")
}

/// Answers of a child that were sent back to be put right.
fn repairs(tree: &Tree, row: &DelegationRow) -> String {
    let child = row.child.as_ref().and_then(|id| tree.run(id));
    let again = |steps: Vec<StepRow>| steps.iter().filter(|step| step.attempt > 1).count();
    match child.map(|child| again(projection::steps(child))) {
        None | Some(0) => String::new(),
        Some(count) => format!("; {count} answer sent back by its schema and put right"),
    }
}

fn next(place: &Place, ambient: &Ambient, root: &RunId) -> String {
    let (deputize, home, team) = (program(ambient), quoted(&place.home), quoted(&place.team));
    let mut all = String::from("Look closer\n\n");
    let mut line = |command: &str, about: &str| {
        let _ = writeln!(all, "  {command}\n      {about}");
    };
    line(&format!("{deputize} show {root} --home {home}"), "the result alone; --json for programs");
    line(&format!("{deputize} trace {root} --home {home}"), "the tree; --events --json has the whole log");
    let _ = writeln!(all, "\n  {}  what was reviewed", quoted(&place.sample()));
    let _ = writeln!(all, "  {}  the log", quoted(&place.home.join("store.sqlite3")));
    let _ = writeln!(all, "  {}  what the model said", quoted(&place.script()));
    let _ = writeln!(all, "\nThe same team with your model, on your files\n");
    let mut line = |command: &str, about: &str| {
        let _ = writeln!(all, "  {command}\n      {about}");
    };
    let review = format!("{deputize} run {team} \"Review README.md\"");
    line(&review, "with OPENAI_API_KEY set, or a model server on this machine (Ollama, llama.cpp, LM Studio, vLLM)");
    line(
        &format!("OPENAI_BASE_URL=http://127.0.0.1:8080/v1 {review} --model openai:NAME"),
        "with a server at any other address",
    );
    let _ = writeln!(all, "\nDoes it survive kill -9?\n\n  {deputize} demo --prove");
    let _ = writeln!(all, "\nAll of this demo is in {}: delete it when you are done.", quoted(&place.folder));
    all
}
