//! A model that answers, calls, delegates, fails, panics and hangs as a seed says; the same call always meets the same.

use super::dice::Dice;
use crate::toys::Toys;
use crate::valid;
use deputize_core::code;
use deputize_core::message::{Arguments, Request, Stop, ToolCall, Turn, Usage};
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::{Delta, Model, ModelFailure, Pending, Reply, Who};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The model, and what it saw.
pub(super) struct Chaos {
    pub(super) seed: u64,
    seen: Mutex<Seen>,
}

/// What came in.
#[derive(Clone, Default)]
pub(super) struct Seen {
    pub(super) requests: u64,
    pub(super) faults: u64,
    pub(super) invalid: Option<String>,
}

impl Chaos {
    pub(super) fn new(seed: u64) -> Chaos {
        Chaos { seed, seen: Mutex::default() }
    }
    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, who: &Who, request: &Request, fault: bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.requests += 1;
        seen.faults += u64::from(fault);
        if let Err(why) = valid::request(request) {
            seen.invalid = Some(format!("{}: {why}", who.key()));
        }
    }

    async fn answer(&self, who: &Who, request: &Request) -> Result<Reply, ModelFailure> {
        let mut dice = Dice::of(self.seed, &format!("{} {} {}", who.path, who.label, who.attempt));
        let kind = dice.below(24);
        self.note(who, request, kind < 6);
        tokio::time::sleep(Duration::from_millis(dice.below(3_000))).await;
        match kind {
            0 => return Err(Failure::passing(code::MODEL_OVERLOADED, "busy", Some(dice.below(2_000))).into()),
            1 => {
                let why = "it took too long".to_string();
                return Err(Failure { code: code::MODEL_TIMEOUT, why, retry: Retry::Ambiguous }.into());
            }
            2 => return Err(Failure::fixed(code::MODEL_AUTH, "no").into()),
            3 => panic!("as the seed says"),
            4 if dice.below(3) == 0 => std::future::pending().await,
            _ => {}
        }
        let text = if kind == 5 { String::new() } else { format!("{} says so", who.path) };
        let last = !who.label.as_str().starts_with('t') || dice.below(4) == 0;
        let calls = if kind == 5 || last { Vec::new() } else { calls(&mut dice) };
        let stop = if calls.is_empty() { Stop::End } else { Stop::ToolCalls };
        let (input_tokens, output_tokens) = (200 + dice.below(1_500), dice.below(400));
        let usage = Usage { input_tokens, cached_tokens: 0, output_tokens };
        Ok(Reply { turn: Turn { text, calls, stop, ..Turn::default() }, usage })
    }
}

fn calls(dice: &mut Dice) -> Vec<ToolCall> {
    (0..=dice.below(4)).map(|_| call(dice)).collect()
}

fn call(dice: &mut Dice) -> ToolCall {
    let toys = Toys::names();
    let toys: Vec<&str> = toys.iter().map(deputize_core::id::ToolName::as_str).collect();
    let (name, arguments) = match dice.below(12) {
        0 => ("fly".to_string(), Arguments::Json(json!({}))),
        1 => ("look".to_string(), Arguments::Malformed("{\"at\": ".into())),
        2 => ("delegate".to_string(), Arguments::Json(json!({"agent": "nobody", "objective": "x"}))),
        3 => ("look".to_string(), Arguments::Json(Value::from(7))),
        4..=6 => {
            let brief = json!({"agent": dice.pick(&["mid", "leaf"]), "objective": "a part of it"});
            ("delegate".to_string(), Arguments::Json(brief))
        }
        _ => (dice.pick(&toys).to_string(), Arguments::Json(json!({"n": dice.below(9)}))),
    };
    ToolCall { name, arguments }
}

impl Model for Chaos {
    fn call<'a>(&'a self, who: &'a Who, request: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.answer(who, request))
    }
}
