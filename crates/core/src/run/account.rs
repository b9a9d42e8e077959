//! The account of a run: its summary, written from the state. The payload is the model's, all else is written here.

use super::state::RunState;
use crate::code::{self, Code};
use crate::depth::{DEEPEST, deeper};
use crate::digest;
use crate::id::{Label, ToolName};
use crate::step::{Ask, Outcome, Product};
use crate::summary::{Evidence, Judged, Summary, Terminal};
use serde_json::{Value, json};
use std::sync::Arc;

/// How a run ends, before its account is written.
pub(super) struct Ending {
    terminal: Terminal,
    payload: Value,
    code: Option<Code>,
    why: Option<String>,
    pub(super) partial: bool,
    pub(super) limit: Option<String>,
    pub(super) success: Vec<Judged>,
}

impl Ending {
    pub(super) fn new(terminal: Terminal, payload: Value) -> Ending {
        Ending { terminal, payload, code: None, why: None, partial: false, limit: None, success: Vec::new() }
    }
    pub(super) fn because(mut self, code: Code, why: impl Into<String>) -> Ending {
        (self.code, self.why) = (Some(code), Some(code::clip(&why.into(), code::SENTENCE)));
        self
    }
}

impl RunState {
    pub(super) fn account(&self, ending: Ending) -> Option<Arc<Summary>> {
        let started = self.started.as_ref()?;
        Some(Arc::new(Summary {
            run: started.run.clone(),
            agent: started.agent.clone(),
            status: ending.terminal,
            partial: ending.partial,
            limit: ending.limit,
            reason_code: ending.code,
            reason: ending.why,
            payload: ending.payload,
            success: ending.success,
            evidence: self.evidence(),
            findings: self.findings.clone(),
            spent: self.ledger.spent.clone(),
            artifact: None,
        }))
    }

    /// The successful tool steps, in call order.
    pub fn evidence(&self) -> Vec<Evidence> {
        let mut steps: Vec<(&Label, &ToolName, &Product)> = Vec::new();
        for (label, step) in &self.steps {
            let Ask::Tool { name, .. } = &*step.ask else { continue };
            if let Some(Outcome::Ok(product)) = self.outcome(label.as_str()) {
                steps.push((label, name, product));
            }
        }
        steps.sort_by_cached_key(|(label, ..)| call_order(label));
        let number = |(i, (label, tool, product)): (usize, (&Label, &ToolName, &Product))| Evidence {
            id: format!("e{}", i + 1),
            step: label.clone(),
            tool: tool.clone(),
            digest: digest::of(product),
        };
        steps.into_iter().enumerate().map(number).collect()
    }

    /// The payload of a run that was cut short, or failed, without a last synthesis: what its model said last, and who
    /// reported.
    pub(super) fn what_exists(&self) -> Value {
        let mut last: Option<(u64, &str)> = None;
        let mut reports: Vec<(&Label, Value)> = Vec::new();
        for (label, step) in &self.steps {
            let outcome = self.outcome(label.as_str());
            // An answer that broke the contract was paid too, and it may be all that there is.
            let rejected = step.rejected.as_ref().map(|r| &r.product);
            let said = match outcome {
                Some(Outcome::Ok(product)) => Some(product),
                _ => rejected,
            };
            match said {
                Some(Product::Turn(turn)) if !turn.text.trim().is_empty() => {
                    last = last.max(Some((step.started_seq, &turn.text)));
                }
                Some(Product::Summary(s)) => {
                    let report =
                        json!({"step": label, "agent": s.agent, "status": s.status, "payload": nested(&s.payload)});
                    reports.push((label, report));
                }
                _ => {}
            }
        }
        if last.is_none() && reports.is_empty() {
            return Value::Null;
        }
        reports.sort_by_cached_key(|(label, _)| call_order(label));
        let reports: Vec<Value> = reports.into_iter().map(|(_, r)| r).collect();
        json!({"result": last.map_or("", |(_, text)| text), "reports": reports})
    }
}

/// A payload as a part of another: as its text where the whole would be nested too deep to be read back.
fn nested(payload: &Value) -> Value {
    const AROUND: usize = 3;
    if deeper(payload, DEEPEST - AROUND) { Value::String(payload.to_string()) } else { payload.clone() }
}

/// Sorts labels by their segments, numbers by value: `t2/c0` before `t10/c0`.
pub(crate) fn call_order(label: &Label) -> Vec<(String, u64)> {
    let key = |segment: &str| {
        let digits = segment.len() - segment.trim_start_matches(|c: char| !c.is_ascii_digit()).len();
        let (word, number) = segment.split_at_checked(digits).unwrap_or((segment, ""));
        (word.to_string(), number.parse().unwrap_or(0))
    };
    label.as_str().split('/').map(key).collect()
}
