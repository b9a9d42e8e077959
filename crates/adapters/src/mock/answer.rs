//! What a request is answered: the line of the script over HTTP, with everything that can go wrong on the way.

use super::wire::Wire;
use super::{Asked, Play, Source, valid};
use crate::provider::estimate;
use crate::provider::scripted::{Fault, Line, Played};
use bytes::Bytes;
use deputize_core::id::AgentPath;
use deputize_core::message::{Turn, Usage};
use serde_json::{Value, json};
use std::time::Duration;

/// An answer, decided but not sent.
pub(super) struct Answer {
    /// None: the connection is left without an answer.
    pub(super) status: Option<u16>,
    /// Why the request was refused.
    pub(super) rejected: Option<String>,
    pub(super) latency: Duration,
    pub(super) retry_after: Option<Duration>,
    pub(super) events: bool,
    pub(super) pieces: Vec<Bytes>,
    pub(super) end: End,
}

/// What follows the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The proper end.
    Whole,
    /// The connection breaks.
    Broken,
    /// Nothing, for ever.
    Never,
}

impl Answer {
    fn new(status: u16, body: Vec<u8>) -> Answer {
        Answer {
            status: Some(status),
            rejected: None,
            latency: Duration::ZERO,
            retry_after: None,
            events: false,
            pieces: vec![Bytes::from(body)],
            end: End::Whole,
        }
    }

    fn error(status: u16, kind: &str, code: &str, message: &str) -> Answer {
        let body = json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
        Answer::new(status, body.to_string().into_bytes())
    }

    fn rejected(code: &str, why: String) -> Answer {
        let answer = Answer::error(400, "invalid_request_error", code, &why);
        Answer { rejected: Some(why), ..answer }
    }

    fn silent(end: End) -> Answer {
        Answer { status: None, end, ..Answer::new(0, Vec::new()) }
    }
}

/// Decides what a request is answered.
pub(super) fn decide(play: &Play, asked: &Asked) -> Answer {
    if let Err(why) = valid::check(&asked.body) {
        return Answer::rejected("invalid_request", why);
    }
    let played = match &play.0 {
        Source::Function(function) => {
            let line = function(asked);
            let fault = line.fault_at(asked.attempt);
            Ok(Played { line, fault })
        }
        Source::Script(_) if asked.path.is_empty() => {
            return Answer::rejected("script_line", "the header x-agent-path is missing".to_string());
        }
        Source::Script(player) => player.play(asked.key(), &AgentPath::new(&asked.path), &asked.step, asked.attempt),
    };
    match played {
        Ok(Played { line, fault }) => {
            let answer = perform(asked, &line, fault);
            Answer { latency: line.latency, retry_after: line.retry_after, ..answer }
        }
        Err(none) => Answer::rejected("script_line", none.to_string()),
    }
}

fn perform(asked: &Asked, line: &Line, fault: Option<Fault>) -> Answer {
    let model = asked.body.get("model").and_then(Value::as_str).unwrap_or_default();
    match fault {
        Some(Fault::Overloaded) => Answer::error(529, "overloaded_error", "overloaded", "Overloaded"),
        Some(Fault::ServerError | Fault::Panic) => Answer::error(500, "server_error", "internal", "Internal error"),
        Some(Fault::RateLimited) => Answer::error(429, "requests", "rate_limit_exceeded", "Rate limit reached"),
        Some(Fault::Auth) => {
            Answer::error(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided")
        }
        Some(Fault::NotFound) => {
            let message = format!("The model `{model}` does not exist");
            Answer::error(404, "invalid_request_error", "model_not_found", &message)
        }
        Some(Fault::ContextFull) => {
            let message = "This model's maximum context length is smaller than the messages";
            Answer::error(400, "invalid_request_error", "context_length_exceeded", message)
        }
        Some(Fault::Unavailable) => Answer::silent(End::Broken),
        Some(Fault::Timeout | Fault::Hang) => Answer::silent(End::Never),
        Some(Fault::Malformed) => malformed(asked.stream()),
        Some(Fault::Cut) => half(said(asked, line, model, line.turn(fault)), End::Broken),
        Some(Fault::Stall) => half(said(asked, line, model, line.turn(fault)), End::Never),
        Some(Fault::Refusal | Fault::Empty | Fault::Length) | None => said(asked, line, model, line.turn(fault)),
    }
}

fn said(asked: &Asked, line: &Line, model: &str, turn: Turn) -> Answer {
    let usage = line.usage.unwrap_or_else(|| Usage {
        input_tokens: estimate(asked.bytes.len()),
        cached_tokens: 0,
        output_tokens: estimate(turn.text.len() + turn.calls.len() * 20),
    });
    let wire = Wire { turn: &turn, usage, model, n: asked.n };
    if !asked.stream() {
        return Answer::new(200, wire.whole().to_string().into_bytes());
    }
    let with_usage = asked.body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    let mut pieces: Vec<Bytes> = wire.events(with_usage).into_iter().map(Bytes::from).collect();
    pieces.push(Bytes::from_static(b"data: [DONE]\n\n"));
    Answer { events: true, pieces, ..Answer::new(200, Vec::new()) }
}

/// The first half of an answer: of its events, or of its bytes.
fn half(answer: Answer, end: End) -> Answer {
    let pieces = match answer.pieces.as_slice() {
        [only] => vec![only.slice(..only.len() / 2)],
        many => many.iter().take(many.len() / 2).cloned().collect(),
    };
    Answer { pieces, end, ..answer }
}

fn malformed(stream: bool) -> Answer {
    let text: &[u8] = if stream { b"data: {\"choices\": [{]\n\n" } else { b"{\"choices\": [{]" };
    Answer { events: stream, ..Answer::new(200, text.to_vec()) }
}
