//! The contract of an outcome: what a model's last turn must be before anybody builds on it.

use crate::answer::{self, Complaint};
use crate::budget::Spend;
use crate::code;
use crate::context;
use crate::definition::{EvidenceMode, Team};
use crate::id::Label;
use crate::message::Stop;
use crate::run::{RunState, Step};
use crate::step::{Ask, Form, Product};
use serde_json::Value;

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
        Ok(answer) => {
            let cites = team.agents.get(&started.agent).is_some_and(|a| a.evidence == EvidenceMode::Cite);
            if cites { citations(&answer.payload, state.evidence().len()) } else { None }
        }
    }
}

/// Percent of the estimate under which a provider's count says that the prompt did not arrive whole.
const WHOLE: u64 = 40;
/// The least tokens that are missing then: no server has a window so small that a shorter prompt is cut, and short prompts
/// are estimated badly.
const MISSING: u64 = 3_000;
/// The least count that is believed. What a cut leaves fills a window; servers that do not count say 0, 1 or some figure of
/// their own.
const BELIEVED: u64 = 500;

/// A prompt that the server cut: it counted far fewer tokens than were sent. Whatever it answered, it answered to another
/// question. A count that an adapter estimated is near the estimate by its making.
pub fn prompt_cut(state: &RunState, team: &Team, label: &Label, step: &Step, spent: &Spend) -> Option<Complaint> {
    let Ask::Model { .. } = &*step.ask else { return None };
    let (sent, counted) = (step.reserve.tokens.saturating_sub(step.max_output?), spent.usage.input_tokens);
    if counted < BELIEVED || sent.saturating_sub(counted) < MISSING || !is_far(sent, counted) {
        return None;
    }
    // The reserve is estimated by bytes, which is much for some texts: paid work is thrown away only where no text explains
    // the count.
    let model = state.model_of(step)?.model;
    let least = context::draft(state, team, label, &step.ask, step.room, &model)?.least();
    is_far(least, counted).then(|| {
        let why = format!(
            "about {sent} tokens were sent and the server counted {counted}: it cut the prompt. Start it with a larger \
             context, or set `context` of `{model}` under `models` to what it takes"
        );
        Complaint::new(code::MODEL_PROMPT_CUT, why, false)
    })
}

fn is_far(sent: u64, counted: u64) -> bool {
    counted.saturating_mul(100) < sent.saturating_mul(WHOLE)
}

fn head(text: &str) -> String {
    text.chars().take(200).collect()
}

/// `[e3]` must name a tool step that succeeded, and where there is evidence, the payload must cite some of it. What stands in
/// the report on the success statements is no citation: nobody reads the report as the result.
fn citations(payload: &Value, known: usize) -> Option<Complaint> {
    let cited = cited(&payload.to_string());
    if let Some(wrong) = cited.iter().find(|n| **n == 0 || **n > known) {
        let why = format!("the answer cites [e{wrong}], but the evidence is e1 to e{known}");
        return Some(Complaint::new(code::EVIDENCE_UNKNOWN, why, true));
    }
    if cited.is_empty() && known > 0 {
        let why = format!("the answer cites no evidence: put ids such as [e1] (up to [e{known}]) behind its claims");
        return Some(Complaint::new(code::EVIDENCE_UNKNOWN, why, true));
    }
    None
}

/// The numbers of all citations: brackets that hold nothing but ids, alone (`[e1]`), as a list (`[e1, e2]`, `[e1 and e2]`)
/// or as a JSON list of texts.
fn cited(text: &str) -> Vec<usize> {
    let mut all = Vec::new();
    for part in text.split('[').skip(1) {
        let Some((inside, _)) = part.split_once(']') else { continue };
        let words = inside.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty() && *w != "and");
        let ids: Option<Vec<usize>> = words.map(|w| w.strip_prefix('e')?.parse().ok()).collect();
        all.extend(ids.unwrap_or_default());
    }
    all
}
