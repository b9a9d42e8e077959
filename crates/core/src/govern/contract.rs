//! The contract of an outcome: what a model's last turn must be before anybody builds on it.

use crate::answer::{self, Complaint};
use crate::code;
use crate::definition::{EvidenceMode, Team};
use crate::message::{Stop, Turn};
use crate::run::{RunState, Step};
use crate::step::{Ask, Form, Product};

/// What is wrong with what a step gave; none when it may stand.
pub fn finding(state: &RunState, team: &Team, step: &Step, product: &Product) -> Option<Complaint> {
    let (Ask::Model { prompt, .. }, Product::Turn(turn)) = (&*step.ask, product) else { return None };
    match turn.stop {
        Stop::Refusal | Stop::Filter if turn.calls.is_empty() => {
            let why = format!("the model declined, or a filter stopped it: {}", head(&turn.text));
            return Some(Complaint::new(code::MODEL_REFUSED, why, false));
        }
        Stop::Length if turn.calls.is_empty() && prompt.form == Form::Output => {
            let why = "the answer was cut off at the output limit: give the whole answer again, shorter";
            return Some(Complaint::new(code::MODEL_LENGTH, why, true));
        }
        _ => {}
    }
    if !turn.calls.is_empty() || prompt.form != Form::Output {
        return None;
    }
    let started = state.started()?;
    match answer::read(&turn.text, &started.brief) {
        Err(complaint) => Some(complaint),
        Ok(_) => {
            let cites = team.agents.get(&started.agent).is_some_and(|a| a.evidence == EvidenceMode::Cite);
            if cites { citations(turn, state.evidence().len()) } else { None }
        }
    }
}

fn head(text: &str) -> String {
    text.chars().take(200).collect()
}

/// `[e3]` must name a tool step that succeeded, and where there is evidence, some of it must be cited.
fn citations(turn: &Turn, known: usize) -> Option<Complaint> {
    let mut cited = 0;
    for part in turn.text.split("[e").skip(1) {
        let Some((number, _)) = part.split_once(']') else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        cited += 1;
        if number == 0 || number > known {
            let why = format!("the answer cites [e{number}], but the evidence is e1 to e{known}");
            return Some(Complaint::new(code::EVIDENCE_UNKNOWN, why, true));
        }
    }
    if cited == 0 && known > 0 {
        let why = format!("the answer cites no evidence: put ids such as [e1] (up to [e{known}]) behind its claims");
        return Some(Complaint::new(code::EVIDENCE_UNKNOWN, why, true));
    }
    None
}
