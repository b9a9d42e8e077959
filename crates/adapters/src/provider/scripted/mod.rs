//! The scripted provider: a model whose answers stand in a file, chosen by agent path, step and attempt.
//!
//! It holds no position in the script, so a run may be killed, resumed in another process, repeated or replayed and meets
//! the same answers. The form of the file is in docs/guide/scripts.md.

mod fault;
mod load;
mod player;
mod script;

pub use fault::Fault;
pub use load::ScriptError;
pub use script::{Line, NoLine, Script};

pub(crate) use player::{Played, Player};

use super::estimate;
use deputize_core::code;
use deputize_core::id::{AgentPath, Label, RunId};
use deputize_core::message::{Request, Turn, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Model, ModelFailure, Pending, Reply, Who};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// In how many pieces a text is streamed.
pub(crate) const PIECES: usize = 4;

/// One call as it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The run.
    pub run: RunId,
    /// The agent.
    pub path: AgentPath,
    /// The step.
    pub label: Label,
    /// The attempt.
    pub attempt: u32,
    /// All that was sent.
    pub request: Arc<Request>,
}

/// A model that answers by a script.
#[derive(Debug)]
pub struct Scripted {
    player: Player,
    /// None: calls are not kept.
    calls: Option<Mutex<Vec<Call>>>,
}

impl Scripted {
    /// A model that plays this script and keeps every call for [`Scripted::calls`].
    pub fn new(script: Script) -> Scripted {
        Scripted { player: Player::new(script), calls: Some(Mutex::default()) }
    }

    /// The same from a file.
    ///
    /// # Errors
    /// The file cannot be read, or is no script: the text says where and what to write.
    pub fn load(file: &Path) -> Result<Scripted, ScriptError> {
        Script::load(file).map(Scripted::new)
    }

    /// Without the memory of calls, whose size grows with the square of a conversation's length.
    #[must_use]
    pub fn forgetful(self) -> Scripted {
        Scripted { calls: None, ..self }
    }

    /// The calls of this process so far, in order; those that met no line are among them.
    pub fn calls(&self) -> Vec<Call> {
        self.calls.as_ref().map(|c| c.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// Lines that this process never played, each with file, line and step.
    pub fn leftovers(&self) -> Vec<String> {
        self.player.leftovers()
    }

    fn keep(&self, who: &Who, request: &Request) {
        let Some(calls) = &self.calls else {
            return;
        };
        let call = Call {
            run: who.run.clone(),
            path: who.path.clone(),
            label: who.label.clone(),
            attempt: who.attempt,
            request: Arc::new(request.clone()),
        };
        calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }

    async fn answer(&self, who: &Who, request: &Request, delta: Delta) -> Result<Reply, ModelFailure> {
        self.keep(who, request);
        let played = self.player.play(&who.key(), &who.path, who.label.as_str(), who.attempt);
        let Played { line, fault } = played.map_err(|none| Failure::fixed(code::MODEL_SCRIPT, none.to_string()))?;
        if line.latency > Duration::ZERO {
            tokio::time::sleep(line.latency).await;
        }
        let turn = line.turn(fault);
        match fault {
            Some(Fault::Panic) => break_down(),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Stall) => {
                begin(&turn.text, &delta);
                std::future::pending().await
            }
            Some(Fault::Cut) => begin(&turn.text, &delta),
            _ => {}
        }
        if let Some(failure) = fault.and_then(|f| f.failure(line.retry_after)) {
            return Err(ModelFailure { failure, usage: line.usage.unwrap_or_default() });
        }
        for piece in pieces(&turn.text, PIECES) {
            delta(piece);
        }
        let usage = line.usage.unwrap_or_else(|| estimated(request, &turn));
        Ok(Reply { turn, usage })
    }
}

impl Model for Scripted {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.answer(who, request, delta))
    }
}

#[expect(clippy::panic, reason = "the fault that scripts ask for: the driver must survive an adapter that panics")]
fn break_down() -> ! {
    panic!("scripted fault `panic`")
}

/// Streams the first piece only.
fn begin(text: &str, delta: &Delta) {
    if let Some(piece) = pieces(text, PIECES).first() {
        delta(piece);
    }
}

/// A text in at most `count` pieces of about the same length.
pub(crate) fn pieces(text: &str, count: usize) -> Vec<&str> {
    let size = text.len().div_ceil(count.max(1)).max(1);
    let mut rest = text;
    let mut all = Vec::new();
    while !rest.is_empty() {
        let at = (size..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        let Some((piece, tail)) = rest.split_at_checked(at) else {
            break;
        };
        all.push(piece);
        rest = tail;
    }
    all
}

fn estimated(request: &Request, turn: &Turn) -> Usage {
    let bytes = |value: Result<Vec<u8>, serde_json::Error>| value.map_or(0, |v| v.len());
    let calls = if turn.calls.is_empty() { 0 } else { bytes(serde_json::to_vec(&turn.calls)) };
    Usage {
        input_tokens: estimate(bytes(serde_json::to_vec(request))),
        cached_tokens: 0,
        output_tokens: estimate(turn.text.len() + calls),
    }
}

#[cfg(test)]
mod tests;
