//! The decisions of a supervisor, derived from what it does by a fixed table:
//!
//! | in the log | decision |
//! |---|---|
//! | a turn with delegations | decompose, then dispatch for each that starts |
//! | a delegation to an agent whose last one failed | retry |
//! | a delegation with the task type or the objective of a failed one, to another agent | reassign |
//! | a refused delegation | reject |
//! | a final turn after a summary | synthesise |
//! | a closing | stop, then synthesise |

use super::RunView;
use crate::event::Event;
use crate::id::{AgentName, Label};
use crate::message::Turn;
use crate::step::{Ask, Delegation, Product};
use crate::summary::Terminal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a supervisor decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// It split its task.
    Decompose,
    /// It handed a part on.
    Dispatch,
    /// It tried a failed part again with the same agent.
    Retry,
    /// It gave a failed part to another agent.
    Reassign,
    /// The contract turned a part away.
    Reject,
    /// A limit ended the work.
    Stop,
    /// It made an answer of the parts.
    Synthesise,
}

/// A decision and where it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The event it follows from.
    pub seq: u64,
    /// The step.
    pub step: Label,
    /// What was decided.
    pub what: Decision,
    /// The supervisor's own reason, if it gave one.
    pub reason: Option<String>,
}

/// Whether two delegations are about the same part of the work.
fn same_part(one: &Delegation, other: &Delegation) -> bool {
    let kind = |d: &Delegation| d.brief.task_type.as_ref().map(|t| t.value.clone());
    let same_kind = kind(one).is_some() && kind(one) == kind(other);
    same_kind || one.brief.objective.value.trim() == other.brief.objective.value.trim()
}

#[derive(Default)]
struct Reader {
    out: Vec<Decided>,
    /// The newest delegation of each agent, where it did not succeed.
    failed: BTreeMap<AgentName, Arc<Delegation>>,
    summaries: usize,
}

/// The decisions of a run, in the order of its log.
pub fn decisions(run: &RunView) -> Vec<Decided> {
    let mut reader = Reader::default();
    for record in &run.log {
        reader.read(run, record.seq, &record.event);
    }
    reader.out
}

impl Reader {
    fn push(&mut self, seq: u64, step: &Label, what: Decision, reason: Option<String>) {
        self.out.push(Decided { seq, step: step.clone(), what, reason });
    }

    fn read(&mut self, run: &RunView, seq: u64, event: &Event) {
        match event {
            Event::StepSucceeded { label, product: Product::Turn(turn), .. } => self.turn(run, seq, label, turn),
            Event::StepStarted(start) => {
                if let Some(delegation) = &start.delegation {
                    let what = match self.failed.get(&delegation.to) {
                        Some(_) => Decision::Retry,
                        None if self.failed.values().any(|f| same_part(f, delegation)) => Decision::Reassign,
                        None => Decision::Dispatch,
                    };
                    self.push(seq, &start.label, what, delegation.reason.clone());
                }
            }
            Event::StepDenied { label, ask, refusal } => {
                if let Ask::Delegate { .. } = &**ask {
                    self.push(seq, label, Decision::Reject, Some(refusal.why.clone()));
                }
            }
            Event::StepSucceeded { label, product: Product::Summary(summary), .. } => {
                self.summaries += 1;
                if let Some(delegation) = run.state.step(label).and_then(|s| s.delegation.as_ref()) {
                    if summary.status == Terminal::Succeeded {
                        self.failed.remove(&delegation.to);
                    } else {
                        self.failed.insert(delegation.to.clone(), delegation.clone());
                    }
                }
            }
            _ => {}
        }
    }

    fn turn(&mut self, run: &RunView, seq: u64, label: &Label, turn: &Turn) {
        let closing = run.state.step(label).is_some_and(|s| matches!(&*s.ask, Ask::Model { closing: true, .. }));
        if closing {
            self.push(seq, label, Decision::Stop, run.state.tripped().map(ToString::to_string));
        }
        if turn.calls.iter().any(|c| c.name == crate::definition::DELEGATE) {
            self.push(seq, label, Decision::Decompose, None);
        } else if turn.calls.is_empty() && self.summaries > 0 {
            self.push(seq, label, Decision::Synthesise, None);
        }
    }
}
