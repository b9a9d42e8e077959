//! What is kept of a turn's parts, so that signatures go back with the parts they came with. Text and calls stand in the turn
//! already; a block says only what is beside them: a thought as it came, the signature of a piece of the text, the id and
//! the signature of a call.

use deputize_core::message::SentCall;
use serde_json::{Map, Value, json};

const SIGNATURE: &str = "thoughtSignature";
/// What stands where a signature belongs and none was given, so that a conversation that another model began is taken. It
/// is the text that Google documents for this purpose.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The blocks of an answer on its way.
#[derive(Default)]
pub(super) struct Kept {
    blocks: Vec<Value>,
    signed: bool,
}

impl Kept {
    /// A thought came. Pieces of one are joined, as long as nothing is signed.
    pub(super) fn thought(&mut self, part: Value) {
        self.signed |= part.get(SIGNATURE).is_some();
        let last = self.blocks.last_mut().filter(|last| is_bare(last) && is_bare(&part));
        match (last.and_then(|last| last.get_mut("text")), part.get("text")) {
            (Some(Value::String(text)), Some(Value::String(more))) => text.push_str(more),
            _ => self.blocks.push(part),
        }
    }

    /// The piece of the text between these bytes came with this part.
    pub(super) fn text(&mut self, from: usize, upto: usize, part: &Value) {
        if part.get(SIGNATURE).is_some() {
            self.push(json!({"text": [from, upto]}), None, part);
        }
    }

    /// The call with this number came with this part. Each has its block, for the order.
    pub(super) fn call(&mut self, number: usize, id: Option<&Value>, part: &Value) {
        self.push(json!({ "call": number }), id, part);
    }

    fn push(&mut self, mut block: Value, id: Option<&Value>, part: &Value) {
        let signature = part.get(SIGNATURE);
        self.signed |= signature.is_some();
        if let Some(map) = block.as_object_mut() {
            map.extend(id.map(|id| ("id".to_string(), id.clone())));
            map.extend(signature.map(|signature| (SIGNATURE.to_string(), signature.clone())));
        }
        self.blocks.push(block);
    }

    /// The blocks, if anything was signed: nothing else is asked back.
    pub(super) fn blocks(self) -> Option<Vec<Value>> {
        self.signed.then_some(self.blocks)
    }
}

/// Whether a thought has nothing but its text.
fn is_bare(part: &Value) -> bool {
    let known = |key: &String| key == "text" || key == "thought";
    part.get("thought").is_some() && part.as_object().is_some_and(|part| part.keys().all(known))
}

/// The parts of a turn. A model that insists on signatures gets the mark for none where a turn has no blocks.
pub(super) fn of(text: &str, calls: &[SentCall], blocks: &[Value], signs: bool) -> Vec<Value> {
    let mut turn = Turn { text, cut: 0, calls, parts: Vec::new() };
    for (at, block) in blocks.iter().enumerate() {
        if let Some(number) = block.get("call").and_then(Value::as_u64) {
            // Text that is signed further on stays behind the call; the rest is before it.
            let later = blocks.iter().skip(at).find_map(span).map_or(text.len(), |(from, _)| from);
            turn.text(later, None);
            turn.calls_before(number);
            turn.call(Some(block));
        } else if let Some((from, upto)) = span(block) {
            turn.text(from, None);
            turn.text(upto, block.get(SIGNATURE));
        } else if block.get("thought").is_some() {
            turn.parts.push(block.clone());
        }
    }
    turn.text(text.len(), None);
    let mark = json!({ SIGNATURE: NO_SIGNATURE });
    if blocks.is_empty() && signs {
        turn.call(Some(&mark));
    }
    turn.calls_before(u64::MAX);
    turn.parts
}

/// The bytes of the text that a block signs.
fn span(block: &Value) -> Option<(usize, usize)> {
    let [from, upto] = block.get("text")?.as_array()?.as_slice() else { return None };
    let place = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some((place(from)?, place(upto)?))
}

/// A turn on its way to parts.
struct Turn<'a> {
    text: &'a str,
    /// So much of the text is in parts.
    cut: usize,
    /// Calls that are not yet in parts.
    calls: &'a [SentCall],
    parts: Vec<Value>,
}

impl Turn<'_> {
    /// The text up to here. A text that was changed since it was signed has no such place: then its signature is left out.
    fn text(&mut self, upto: usize, signature: Option<&Value>) {
        let Some(piece) = self.text.get(self.cut..upto).filter(|piece| !piece.is_empty() || signature.is_some()) else {
            return;
        };
        self.cut = upto;
        let mut part = Map::from_iter([("text".to_string(), json!(piece))]);
        part.extend(signature.map(|signature| (SIGNATURE.to_string(), signature.clone())));
        self.parts.push(Value::Object(part));
    }

    /// Calls up to the one with this number, which no block speaks of.
    fn calls_before(&mut self, number: u64) {
        let sent = || self.parts.iter().filter(|part| part.get("functionCall").is_some()).count() as u64;
        let more = number.saturating_sub(sent());
        for _ in 0..more.min(self.calls.len() as u64) {
            self.call(None);
        }
    }

    /// The next call, with the id and the signature that its block has.
    fn call(&mut self, block: Option<&Value>) {
        let Some((call, rest)) = self.calls.split_first() else { return };
        self.calls = rest;
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        let id = block.and_then(|block| block.get("id")).cloned().unwrap_or_else(|| json!(call.id));
        let called = json!({"id": id, "name": call.name, "args": arguments});
        let mut part = Map::from_iter([("functionCall".to_string(), called)]);
        let signature = block.and_then(|block| block.get(SIGNATURE));
        part.extend(signature.map(|signature| (SIGNATURE.to_string(), signature.clone())));
        self.parts.push(Value::Object(part));
    }
}
