//! Secrets: the type that holds one, and the one place where texts lose them. Owns what counts as a secret in a text: the
//! ones that are known, and what has the shape of a key. Does not own where texts are cleaned (`guarded` at the ports).

use regex::{Captures, Regex};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// What stands in a text where a secret stood.
pub const HIDDEN: &str = "[hidden secret]";
/// What stands in an error where a secret stood.
const MARK: &str = "[hidden]";
/// The longest error that comes out of [`line`], in characters: enough for a cause, too little for a conversation.
pub const LONGEST: usize = 600;
/// Shorter "keys" (`x`, `no`) are placeholders of local servers; hiding them would garble every text.
const SHORTEST: usize = 4;
/// In content, which is worked with, only what nobody writes by chance is taken for a known secret.
const SHORTEST_IN_CONTENT: usize = 8;
/// How often a content pattern of a key must mix: a key has digits and letters.
const KEY_BODY: usize = 16;

/// A key or password. Has no `Display`, no `Serialize`, and a `Debug` that hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a credential; white space around it (the line break of a file, say) is taken off.
    pub fn new(text: impl AsRef<str>) -> Secret {
        Secret(Arc::from(text.as_ref().trim()))
    }
    /// The credential itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Shapes of credentials in errors, where too much may go. A group named `keep` stays, the rest of the match is hidden.
const IN_ERRORS: [&str; 6] = [
    r"(?P<keep>://)[^/\s:@]+:[^/\s@]+@",
    r#"(?i)(?P<keep>\b[a-z_-]*(?:api[_-]?key|authorization|access[_-]?token|auth[_-]?token|secret|password|passwd)["']?\s*[:=]\s*["']?)(?:bearer\s+|basic\s+)?[^\s"',;&}\]\[)]+"#,
    r"(?i)(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=*-]{6,}",
    r"(?:\b|_)(?:sk|pk|rk|gsk|xai|nvapi|hf|r8)[-_][A-Za-z0-9_*.-]{6,}",
    r"(?:\b|_)(?:AIza[A-Za-z0-9_-]{10,}|AKIA[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{10,}|xox[a-z]-[A-Za-z0-9-]{6,})",
    r"(?:\b|_)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?",
];

/// Shapes of credentials in content. Agents work with what they read, so only the forms that vendors give their keys
/// count, never `password = x` of a source file.
const IN_CONTENT: [&str; 4] = [
    r"(?:\b|_)(?:sk|pk|rk|gsk|xai|nvapi|hf|r8)[-_](?:[a-z]{2,8}[0-9]{0,2}[-_])*(?P<body>[A-Za-z0-9_-]{16,})",
    r"(?:\b|_)(?:AIza[A-Za-z0-9_-]{35}|(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{36,}|glpat-[A-Za-z0-9_-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{20,}|npm_[A-Za-z0-9]{36})",
    r"(?:\b|_)eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
];

fn compiled(shapes: &[&str]) -> Vec<Regex> {
    shapes.iter().filter_map(|shape| Regex::new(shape).ok()).collect()
}

static ERRORS: LazyLock<Vec<Regex>> = LazyLock::new(|| compiled(&IN_ERRORS));
static CONTENT: LazyLock<Vec<Regex>> = LazyLock::new(|| compiled(&IN_CONTENT));

/// The text of an error without the given secrets and without anything that looks like one, on one line, without control
/// characters, at most [`LONGEST`] characters long.
pub fn line(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_string();
    for secret in secrets.iter().map(Secret::expose).filter(|s| s.len() >= SHORTEST) {
        text = text.replace(secret, MARK);
    }
    for pattern in ERRORS.iter() {
        let hide = |found: &Captures<'_>| format!("{}{MARK}", found.name("keep").map_or("", |kept| kept.as_str()));
        text = pattern.replace_all(&text, hide).into_owned();
    }
    shorten(&text)
}

fn shorten(text: &str) -> String {
    let plain = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let line = plain.collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST - 1).collect();
    format!("{cut}…")
}

/// Takes secrets out of content: those that are known, and what has the shape of a vendor's key.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Arc<[Secret]>,
}

impl Redactor {
    /// One that knows these secrets; those of under eight bytes are left alone, since they stand in any text.
    pub fn new(secrets: impl IntoIterator<Item = Secret>) -> Redactor {
        let mut known: Vec<Secret> = secrets.into_iter().filter(|s| s.expose().len() >= SHORTEST_IN_CONTENT).collect();
        // The longest first: one may be the beginning of another.
        known.sort_by_key(|s| std::cmp::Reverse(s.expose().len()));
        Redactor { known: known.into() }
    }
    /// The text with [`HIDDEN`] in the place of each secret.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.known.iter().map(Secret::expose) {
            if text.contains(secret) {
                text = Cow::Owned(text.replace(secret, HIDDEN));
            }
        }
        for pattern in CONTENT.iter() {
            let replaced = match pattern.replace_all(&text, hide) {
                Cow::Owned(new) if new != *text => new,
                _ => continue,
            };
            text = Cow::Owned(replaced);
        }
        text
    }
    /// Cleans a text in place.
    pub fn clean(&self, text: &mut String) {
        if let Cow::Owned(new) = self.text(text) {
            *text = new;
        }
    }
    /// Cleans every text of a JSON value, keys included.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.clean(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(map) if map.keys().any(|key| matches!(self.text(key), Cow::Owned(_))) => {
                let old = std::mem::take(map);
                map.extend(old.into_iter().map(|(key, item)| (self.text(&key).into_owned(), item)));
                map.values_mut().for_each(|item| self.value(item));
            }
            Value::Object(map) => map.values_mut().for_each(|item| self.value(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    /// Whether a text holds a secret.
    pub fn finds(&self, text: &str) -> bool {
        matches!(self.text(text), Cow::Owned(_))
    }
    /// Whether a JSON value holds a secret.
    pub fn finds_in(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.finds(text),
            Value::Array(items) => items.iter().any(|item| self.finds_in(item)),
            Value::Object(map) => map.iter().any(|(key, item)| self.finds(key) || self.finds_in(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

/// A prefix such as `sk-` begins ordinary words too (`sk-learn-something-longer`): a key's body mixes digits and letters.
fn hide(found: &Captures<'_>) -> String {
    let whole = found.get(0).map_or("", |m| m.as_str());
    let Some(body) = found.name("body") else { return HIDDEN.to_string() };
    let has = |of: fn(&char) -> bool| body.as_str().chars().filter(of).count();
    let (digits, letters) = (has(char::is_ascii_digit), has(char::is_ascii_alphabetic));
    if body.len() >= KEY_BODY && digits >= 2 && letters >= 2 { HIDDEN.to_string() } else { whole.to_string() }
}

#[cfg(test)]
mod tests;
