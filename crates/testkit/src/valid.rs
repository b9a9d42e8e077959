//! What a strict server asks of a request: each call answered exactly once, in order and right behind its turn; no empty
//! text; ids that are unique; the task first.

use deputize_core::message::{Message, Request};
use std::collections::{BTreeSet, VecDeque};

/// Checks a request.
///
/// # Errors
/// The first rule that it breaks.
pub fn request(request: &Request) -> Result<(), String> {
    if !matches!(request.messages.first(), Some(Message::User { .. })) {
        return Err("it does not begin with the task".into());
    }
    if matches!(request.messages.last(), Some(Message::Assistant { .. })) {
        return Err("it ends with an answer".into());
    }
    let mut waiting: VecDeque<&str> = VecDeque::new();
    let mut ids = BTreeSet::new();
    for (at, message) in request.messages.iter().enumerate() {
        let text = match message {
            Message::Tool { call, text, .. } => {
                if waiting.pop_front() != Some(call) {
                    return Err(format!("message {at}: the result of {call} is not the one that is due"));
                }
                text
            }
            Message::User { .. } | Message::Assistant { .. } if !waiting.is_empty() => {
                return Err(format!("message {at}: calls without a result: {waiting:?}"));
            }
            Message::User { text } => text,
            Message::Assistant { calls, .. } if !calls.is_empty() => {
                if let Some(twice) = calls.iter().find(|c| !ids.insert(c.id.as_str())) {
                    return Err(format!("message {at}: the id {} stands there twice", twice.id));
                }
                waiting = calls.iter().map(|c| c.id.as_str()).collect();
                continue;
            }
            Message::Assistant { text, .. } => text,
        };
        if text.trim().is_empty() {
            return Err(format!("message {at} is empty"));
        }
    }
    if waiting.is_empty() { Ok(()) } else { Err(format!("calls without a result: {waiting:?}")) }
}
