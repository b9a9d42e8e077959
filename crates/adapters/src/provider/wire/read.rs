//! JSON from servers: read even where they break its rules in known ways, and a plain sentence where it cannot be read.

use deputize_core::code;
use deputize_core::message::Arguments;
use deputize_core::step::Failure;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How much of what came is shown, in characters.
const SHOWN: usize = 200;
/// The greatest count that is believed: beyond it JSON's numbers are not exact, and no call has so many tokens.
const MOST: u64 = 1 << 53;

/// Reads what a provider sent.
pub(in crate::provider) fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, Failure> {
    let error = match serde_json::from_slice(json) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    match mended(&String::from_utf8_lossy(json)) {
        Some(mended) => serde_json::from_str(&mended).map_err(|e| unreadable(json, Some(&e))),
        None => Err(unreadable(json, Some(&error))),
    }
}

/// The arguments of a call that came as text.
pub(in crate::provider) fn arguments(text: &str) -> Arguments {
    match Arguments::from_text(text) {
        Arguments::Malformed(text) => mended(&text).map_or(Arguments::Malformed(text), |t| Arguments::from_text(&t)),
        good => good,
    }
}

/// An answer with a good status that is none: an empty body, a page of a gateway, JSON of another kind.
pub(super) fn unreadable(body: &[u8], error: Option<&serde_json::Error>) -> Failure {
    let text = String::from_utf8_lossy(body);
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    let cut = if line.chars().nth(SHOWN).is_some() { "…" } else { "" };
    let shown: String = line.chars().take(SHOWN).collect();
    let why = if line.is_empty() {
        "the provider's answer cannot be read: it is empty".to_string()
    } else {
        let error = error.map(|e| format!(" ({e})")).unwrap_or_default();
        format!("the provider's answer cannot be read{error}: it says `{shown}{cut}`")
    };
    Failure::passing(code::MODEL_MALFORMED, why, None)
}

/// A count of tokens, however it is written; none for what no count can be.
pub(in crate::provider) fn count(value: Option<&Value>) -> Option<u64> {
    let number = match value? {
        Value::Number(number) => number.as_u64().map(Ok).or_else(|| number.as_f64().map(Err))?,
        Value::String(text) => {
            let text = text.trim();
            text.parse::<u64>().map(Ok).or_else(|_| text.parse::<f64>().map(Err)).ok()?
        }
        _ => return None,
    };
    let whole = match number {
        Ok(whole) => whole,
        Err(part) if (0.0..=MOST as f64).contains(&part) => part.ceil() as u64,
        Err(_) => return None,
    };
    (whole <= MOST).then_some(whole)
}

/// The text with U+FFFD for every half of a surrogate pair that stands alone; none when there is none. Servers that cut a
/// text between two pieces in UTF-16 send such halves, and JSON's readers refuse the whole text for them.
fn mended(json: &str) -> Option<String> {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    let mut changed = false;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (taken, written) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (12, None),
            (Some(0xD800..=0xDFFF), _) => (6, Some("\\ufffd")),
            // An escaped backslash is one escape, so that what follows it is not taken for one.
            _ => (escape.chars().take(2).map(char::len_utf8).sum(), None),
        };
        let (piece, tail) = escape.split_at_checked(taken).unwrap_or((escape, ""));
        changed |= written.is_some();
        out.push_str(written.unwrap_or(piece));
        rest = tail;
    }
    out.push_str(rest);
    changed.then_some(out)
}

/// The code unit of an escape `\uXXXX` at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
