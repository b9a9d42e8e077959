//! ReAct (Yao et al. 2022, arXiv 2210.03629) with native tool calls: think, act, observe, until a turn without calls.
//! With a `delegate` tool offered it is the supervisor; the loop does not know. End states: the answer; a failed step;
//! a tripped cap, with a last synthesis of what exists, labelled partial.

use crate::answer::Answer;
use crate::code::Code;
use crate::program::{End, Flow, Move, Program, View, reason};
use crate::step::{Outcome, Product};
use serde_json::{Value, json};

pub(super) struct React;

impl Program for React {
    fn next(&self, v: &View<'_>) -> Flow<Answer> {
        let done = v.turns_done();
        let label = v.label(&format!("t{}", done + 1));
        let outcome = v.turn(&label, done)?;
        if let Some((code, why)) = reason(outcome) {
            if code.is_cap() {
                return synthesise(v, done, code, why);
            }
            let said = v.rejected_text(&label).map_or(Value::Null, |text| json!({"result": text}));
            return End::failed(code.clone(), why, said);
        }
        let Outcome::Ok(Product::Turn(turn)) = outcome else { return Err(Move::Want(Vec::new())) };
        if turn.calls.is_empty() {
            return v.answer(turn).or_else(|c| End::failed(c.code, c.why, json!({"result": turn.text})));
        }
        v.calls(&label, &turn.calls)?;
        Err(Move::Want(Vec::new())) // not reached: with every call done the turn counts as whole
    }
}

fn synthesise(v: &View<'_>, done: u64, cap: &Code, why: &str) -> Flow<Answer> {
    let limit = cap.limit().unwrap_or("budget").replace('_', " ");
    let close = format!(
        "The limit of {limit} is reached: no more tools, no more agents. Give your final answer now from what is above. \
         Say plainly what is missing or was not checked."
    );
    let payload = match v.closing(done, &close)? {
        Outcome::Ok(Product::Turn(turn)) if !turn.text.trim().is_empty() => match v.answer(turn) {
            Ok(answer) => answer.payload,
            Err(_) => json!({"result": turn.text}),
        },
        _ => Value::Null,
    };
    End::capped(cap, why, payload)
}
