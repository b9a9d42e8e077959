//! One run's conversation as text for people: what it was asked, what its model said and called, what came back. Plain
//! text; the command line sanitises and prints it.

use crate::text;
use deputize_core::code::Code;
use deputize_core::event::{Event, Recorded, Started};
use deputize_core::id::Label;
use deputize_core::message::{Arguments, ToolOutput, Turn};
use deputize_core::projection::RunView;
use deputize_core::step::{Ask, Product};
use std::fmt::Write as _;

/// What the run's log says from a place on; 0 is all of it.
pub fn conversation(run: &RunView, from: u64) -> String {
    let new = run.log.iter().filter(|record| record.seq >= from);
    new.filter_map(|record| entry(run, record)).collect()
}

fn entry(run: &RunView, record: &Recorded) -> Option<String> {
    let agent = run.state.started().map(|started| started.agent.to_string()).unwrap_or_default();
    match &record.event {
        Event::RunStarted(started) => Some(task(started)),
        Event::StepSucceeded { label, product, .. } => product_of(run, label, &agent, product),
        Event::StepRejected { label, product, code, why, .. } => {
            let said = product_of(run, label, &agent, product).unwrap_or_default();
            Some(format!("{said}{}", reason(label, "was not accepted", code, why)))
        }
        Event::StepFailed { label, code, why, .. } => {
            Some(reason(label, &format!("{} failed", name(run, label)), code, why))
        }
        Event::StepDenied { label, refusal, .. } => {
            Some(reason(label, &format!("{} was refused", name(run, label)), &refusal.code, &refusal.why))
        }
        Event::StepInDoubt { label, .. } => Some(format!("[{label}] was under way when the run stopped\n\n")),
        Event::StepInterrupted { label, .. } => Some(format!("[{label}] was interrupted\n\n")),
        Event::Decided { label, what, why } => Some(format!("[{label}] decided: {what}: {why}\n\n")),
        Event::Adopted { by, .. } => Some(format!("goes on with changed definitions, as {by} asked\n\n")),
        Event::MessageReceived { text, by } => Some(block(&format!("said by {by}"), text)),
        Event::ResultDiscarded { label, .. } => Some(format!("[{label}] came too late and was not used\n\n")),
        Event::CancelRequested { by, limit: None } => Some(format!("cancelled by {by}\n\n")),
        Event::CancelRequested { by, limit: Some(_) } => Some(format!("ended: the time of {by} is over\n\n")),
        Event::RunFinished { summary } => {
            let word = text::people_word(summary.status.word(), summary.partial);
            let why = summary.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            Some(format!("{agent} is {word}{why}\n"))
        }
        _ => None,
    }
}

fn task(started: &Started) -> String {
    let mut out = block(&format!("task of {}", started.agent), &started.brief.objective.value);
    if let Some(context) = &started.brief.context {
        out.push_str(&block("context", &context.value));
    }
    out
}

fn product_of(run: &RunView, label: &Label, agent: &str, product: &Product) -> Option<String> {
    match product {
        Product::Turn(said) => Some(turn(label, agent, said)),
        Product::Output(output) => Some(result(run, label, output)),
        Product::Summary(summary) => {
            let word = text::people_word(summary.status.word(), summary.partial);
            let head = format!("[{label}] {} reported, {word}", summary.agent);
            Some(block(&head, &text::payload(&summary.payload)))
        }
        Product::Exists(there) => {
            let said = if *there { "is there" } else { "is not there" };
            Some(format!("[{label}] {} {said}\n\n", name(run, label)))
        }
        Product::Noted => None,
    }
}

fn turn(label: &Label, agent: &str, said: &Turn) -> String {
    let mut out = format!("[{label}] {agent}\n");
    if !said.text.trim().is_empty() {
        indented(&mut out, &said.text);
    }
    for call in &said.calls {
        let arguments = match &call.arguments {
            Arguments::Json(value) => value.to_string(),
            Arguments::Malformed(text) => text.clone(),
        };
        indented(&mut out, &format!("calls {} {arguments}", call.name));
    }
    out.push('\n');
    out
}

fn result(run: &RunView, label: &Label, output: &ToolOutput) -> String {
    let more = output.whole.as_ref().map(|whole| format!(" (the beginning of {} bytes)", whole.len));
    block(&format!("[{label}] {} gave{}", name(run, label), more.unwrap_or_default()), &output.text)
}

/// What a step was about.
fn name(run: &RunView, label: &Label) -> String {
    match run.state.step(label).map(|step| &*step.ask) {
        Some(Ask::Tool { name, .. }) => name.to_string(),
        Some(Ask::Delegate { .. }) => "the delegation".to_string(),
        Some(Ask::Probe { path }) => path.clone(),
        Some(Ask::Model { .. }) => "the model call".to_string(),
        Some(Ask::Decide { .. }) | None => "the step".to_string(),
    }
}

fn reason(label: &Label, what: &str, code: &Code, why: &str) -> String {
    format!("[{label}] {what}: {code}: {why}\n\n")
}

fn block(head: &str, body: &str) -> String {
    let mut out = format!("{head}\n");
    indented(&mut out, body);
    out.push('\n');
    out
}

/// Set off, so that nothing that was said looks like a line of ours.
fn indented(out: &mut String, text: &str) {
    for line in text.trim_end().lines() {
        let _ = writeln!(out, "  {line}");
    }
}
