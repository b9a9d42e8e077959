//! A running tree as lines: one for each step when it is over, one for each run. Owns what is said of an event; the lines
//! are for people and no contract.

use crate::out::{Out, one_line};
use deputize_api::text;
use deputize_core::budget::Spend;
use deputize_core::event::{Event, Recorded};
use deputize_core::id::{AgentPath, Label, RunId};
use deputize_core::message::Arguments;
use deputize_core::step::{Ask, Product, Then};
use deputize_runtime::Live;
use deputize_runtime::port::Queued;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Characters of a tool's argument.
const ARGUMENT: usize = 60;
/// Characters of a reason.
const REASON: usize = 160;

/// What has been seen of a tree so far.
pub(crate) struct Progress<'a> {
    out: &'a Out,
    root: RunId,
    /// Tokens of the tree.
    tokens: u64,
    /// Steps under way.
    asks: BTreeMap<(RunId, Label), Arc<Ask>>,
}

impl<'a> Progress<'a> {
    /// `tokens`: what the tree had used before.
    pub(crate) fn new(out: &'a Out, root: RunId, tokens: u64) -> Progress<'a> {
        Progress { out, root, tokens, asks: BTreeMap::new() }
    }
    /// Says what is worth a line.
    pub(crate) fn show(&mut self, live: &Live) {
        let said = match live {
            Live::Event { run, path, record } => {
                if self.out.is_detailed()
                    && let Some(said) = self.detail(run, path, record)
                {
                    self.out.detail(&said);
                }
                self.said(run, path, record)
            }
            Live::Queued { path, label, queued, .. } => Some(self.line(path, label, &waits(queued))),
            Live::Delta { .. } => None,
        };
        if let Some(said) = said {
            self.out.note(&said);
        }
    }
    /// Some items were lost because printing was too slow.
    pub(crate) fn skipped(&self, count: u64) {
        self.out.note(&format!("({count} lines skipped)"));
    }

    /// What is about to be done, and what a call used.
    fn detail(&self, run: &RunId, path: &AgentPath, record: &Recorded) -> Option<String> {
        match &record.event {
            Event::RunStarted(started) => Some(format!("{path}  starts with {}", started.model)),
            Event::StepStarted(start) if start.delegation.is_none() => {
                let again = if start.attempt > 1 { format!(", attempt {}", start.attempt) } else { String::new() };
                Some(format!("{path}  {}  {} under way{again}", start.label, wanted(&start.ask)))
            }
            Event::StepSucceeded { label, spent, .. } if spent.usage.tokens() > 0 => {
                let ask = self.asks.get(&(run.clone(), label.clone()))?;
                let u = spent.usage;
                let (input, cached, output) = (u.input_tokens, u.cached_tokens, u.output_tokens);
                Some(format!("{path}  {label}  {}: {input} tokens in ({cached} cached), {output} out", wanted(ask)))
            }
            Event::Recovered { .. } => Some(format!("{path}  taken up again")),
            _ => None,
        }
    }

    /// What is worth a line, in one.
    pub(crate) fn said(&mut self, run: &RunId, path: &AgentPath, record: &Recorded) -> Option<String> {
        match &record.event {
            Event::StepStarted(start) => {
                self.asks.insert((run.clone(), start.label.clone()), start.ask.clone());
                let delegation = start.delegation.as_ref()?;
                let objective = one_line(&delegation.brief.objective.value, ARGUMENT);
                Some(self.line(path, &start.label, &format!("delegate {}: {objective}", delegation.to)))
            }
            Event::StepSucceeded { label, product, spent, .. } => {
                let ask = self.ended(run, label, spent)?;
                match product {
                    Product::Turn(turn) if turn.calls.is_empty() => Some(self.line(path, label, "answer")),
                    Product::Turn(turn) => {
                        let names: Vec<&str> = turn.calls.iter().map(|c| c.name.as_str()).collect();
                        Some(self.line(path, label, &format!("calls {}", one_line(&names.join(", "), ARGUMENT))))
                    }
                    Product::Summary(_) | Product::Exists(_) | Product::Noted => None,
                    Product::Output(_) => Some(self.line(path, label, &wanted(&ask))),
                }
            }
            Event::StepFailed { label, code, why, spent, then, .. }
            | Event::StepRejected { label, code, why, spent, then, .. } => {
                let ask = self.ended(run, label, spent)?;
                let after = after(then);
                let said = format!("{} failed{after}: {code}: {}", wanted(&ask), one_line(why, REASON));
                Some(self.line(path, label, &said))
            }
            Event::StepDenied { label, ask, refusal } => {
                let said = format!("{} refused: {}: {}", wanted(ask), refusal.code, one_line(&refusal.why, REASON));
                Some(self.line(path, label, &said))
            }
            Event::StepInDoubt { label, presumed, then, .. } => {
                self.tokens = self.tokens.saturating_add(presumed.usage.tokens());
                let after = if matches!(then, Then::Retry { .. }) { "is done again" } else { "is given up" };
                Some(self.line(path, label, &format!("was under way when the run stopped, {after}")))
            }
            Event::StepInterrupted { presumed, .. } => {
                self.tokens = self.tokens.saturating_add(presumed.usage.tokens());
                None
            }
            Event::Adopted { .. } => Some(format!("{path}  goes on with changed definitions")),
            Event::CancelRequested { by, limit: None } => Some(format!("{path}  cancelled by {by}")),
            Event::CancelRequested { by, limit: Some(_) } => Some(format!("{path}  ended: the time of {by} is over")),
            Event::MessageReceived { by, .. } => Some(format!("{path}  a message of {by}")),
            Event::ResultDiscarded { label, spent, .. } => {
                self.tokens = self.tokens.saturating_add(spent.usage.tokens());
                Some(self.line(path, label, "came too late and is not used"))
            }
            Event::RunFinished { summary } if *run != self.root => {
                Some(format!("{path}  {}", text::people_word(summary.status.word(), summary.partial)))
            }
            _ => None,
        }
    }

    /// Books the step's tokens and gives what it was about. What a child used is in the child's own steps.
    fn ended(&mut self, run: &RunId, label: &Label, spent: &Spend) -> Option<Arc<Ask>> {
        let ask = self.asks.get(&(run.clone(), label.clone())).cloned()?;
        if !matches!(&*ask, Ask::Delegate { .. }) {
            self.tokens = self.tokens.saturating_add(spent.usage.tokens());
        }
        Some(ask)
    }

    fn line(&self, path: &AgentPath, label: &Label, said: &str) -> String {
        format!("{path}  {label}  {said}  [{} tokens]", text::count(self.tokens))
    }
}

/// Why a call has not been made yet.
fn waits(queued: &Queued) -> String {
    let provider = one_line(&queued.provider, ARGUMENT);
    let until = queued.until.map(|at| format!(" until {}", deputize_api::rfc3339(at))).unwrap_or_default();
    let ahead = if queued.ahead > 0 { format!(", {} before it", queued.ahead) } else { String::new() };
    format!("queued for {provider}{until}{ahead}")
}

/// What follows a failure, in a few words.
fn after(then: &Then) -> String {
    match then {
        Then::Retry { .. } => ", tries again".to_string(),
        Then::Wait { until: Some(at), .. } => format!(", waits until {}", text::moment(*at)),
        Then::Wait { until: None, .. } => ", waits to be resumed".to_string(),
        Then::Fallback { model, .. } => format!(", `{}` takes over", one_line(model.as_str(), ARGUMENT)),
        Then::Final => String::new(),
    }
}

/// A step in a few words.
pub(crate) fn wanted(ask: &Ask) -> String {
    match ask {
        Ask::Model { .. } => "model call".to_string(),
        Ask::Tool { name, arguments, .. } => {
            format!("{} {}", one_line(name.as_str(), ARGUMENT), argument(arguments)).trim_end().to_string()
        }
        Ask::Delegate { arguments, .. } => {
            let to = member(arguments, "agent").or_else(|| member(arguments, "task_type")).unwrap_or_default();
            format!("delegate {}", one_line(to, ARGUMENT)).trim_end().to_string()
        }
        Ask::Probe { path } => format!("look for {}", one_line(path, ARGUMENT)),
        Ask::Decide { what, .. } => one_line(what, ARGUMENT),
    }
}

fn member<'a>(arguments: &'a Arguments, key: &str) -> Option<&'a str> {
    match arguments {
        Arguments::Json(value) => value.get(key)?.as_str(),
        Arguments::Malformed(_) => None,
    }
}

/// The argument that says most: the path or pattern, else the first text.
fn argument(arguments: &Arguments) -> String {
    let named = ["path", "file_path", "pattern"].into_iter().find_map(|key| member(arguments, key));
    let first = || match arguments {
        Arguments::Json(Value::Object(map)) => map.values().find_map(Value::as_str),
        Arguments::Json(_) => None,
        Arguments::Malformed(text) => Some(text.as_str()),
    };
    one_line(named.or_else(first).unwrap_or_default(), ARGUMENT)
}
