//! Names of agents: the rule, the normal form of a name that breaks it, and how a name that somebody wrote is matched.

use crate::id::AgentName;

/// Longest name in characters.
pub const MAX_NAME: usize = 64;

/// A name in normal form, and whether that differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Normal {
    /// The name.
    pub name: AgentName,
    /// Whether it had to be changed.
    pub changed: bool,
}

fn plain(c: char) -> bool {
    (c.is_alphabetic() && c.to_lowercase().eq([c])) || c.is_numeric()
}

/// The normal form: lower-case letters or letters without case, digits, single inner hyphens, at most 64 characters.
///
/// # Errors
/// One phrase that says why nothing can be made of it. A path separator is refused rather than replaced, so that a name
/// never looks like a path.
pub fn normal(written: &str) -> Result<Normal, &'static str> {
    if written.contains(['/', '\\']) {
        return Err("a name holds no path separator");
    }
    if written.chars().any(char::is_control) {
        return Err("a name holds no control character");
    }
    let mut name = String::new();
    for c in written.chars().flat_map(char::to_lowercase) {
        if plain(c) {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    let cut: String = name.chars().take(MAX_NAME).collect();
    let name = cut.trim_end_matches('-');
    if name.is_empty() {
        return Err("a name needs at least one letter or digit");
    }
    Ok(Normal { changed: name != written, name: AgentName::new(name) })
}

fn folded(name: &str) -> String {
    let skipped = |c: &char| matches!(c, ' ' | '-' | '_' | '"' | '\'' | '`');
    name.chars().filter(|c| !skipped(c)).flat_map(char::to_lowercase).collect()
}

/// The known name that somebody means; see [`find_among`].
pub fn find<'a>(wanted: &str, known: impl IntoIterator<Item = &'a AgentName>) -> Option<&'a AgentName> {
    find_among(wanted, known.into_iter().map(|name| (name.as_str(), name)))
}

/// What somebody means by a name: what bears it exactly, else what bears it but for case, spaces, quotes, `-` and `_`, when
/// that is only one.
pub fn find_among<'a, T>(wanted: &str, known: impl IntoIterator<Item = (&'a str, T)>) -> Option<T> {
    let small = folded(wanted);
    let mut alike = None;
    let mut several = false;
    for (name, what) in known {
        if name == wanted {
            return Some(what);
        }
        if folded(name) == small {
            several |= alike.is_some();
            alike = Some(what);
        }
    }
    alike.filter(|_| !several)
}
