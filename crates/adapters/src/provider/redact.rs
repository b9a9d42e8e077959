//! The one place where texts from the network lose their secrets: providers' error messages quote keys, HTTP libraries
//! quote whole addresses. Every error text of a provider goes through [`redact`] before it leaves this module's family.

use super::secret::Secret;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The longest text that comes out, in characters: enough for a cause, too little for a conversation.
pub const LONGEST: usize = 600;
const MARK: &str = "[hidden]";
/// Shorter "keys" (`x`, `no`) are placeholders of local servers; hiding them would garble every text.
const SHORTEST_SECRET: usize = 4;

/// Texts that look like a credential. A group named `keep` stays, the rest of the match is hidden.
const SHAPES: [&str; 6] = [
    r"(?P<keep>://)[^/\s:@]+:[^/\s@]+@",
    r#"(?i)(?P<keep>\b[a-z_-]*(?:api[_-]?key|authorization|access[_-]?token|auth[_-]?token|secret|password|passwd)["']?\s*[:=]\s*["']?)(?:bearer\s+|basic\s+)?[^\s"',;&}\]\[)]+"#,
    r"(?i)(?P<keep>\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=*-]{6,}",
    r"\b(?:sk|pk|rk|gsk|xai|nvapi|hf|r8)[-_][A-Za-z0-9_*.-]{6,}",
    r"\b(?:AIza[A-Za-z0-9_-]{10,}|AKIA[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{10,}|xox[a-z]-[A-Za-z0-9-]{6,})",
    r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?",
];

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| SHAPES.iter().filter_map(|s| Regex::new(s).ok()).collect());

/// The text without the given secrets and without anything that looks like one, on one line, without control characters,
/// at most [`LONGEST`] characters long.
pub fn redact(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_string();
    for secret in secrets.iter().map(Secret::expose).filter(|s| s.len() >= SHORTEST_SECRET) {
        text = text.replace(secret, MARK);
    }
    for pattern in PATTERNS.iter() {
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

#[cfg(test)]
mod tests;
