//! Every key of `deputize.yaml` and of agent files: one table. What the decoder accepts and suggests, the generated
//! reference and `check` all derive from it.

/// Rows of the table, one key a line: support, path, type, default, example, meaning.
macro_rules! keys {
    ($file:ident: $($support:ident $path:literal, $kind:literal, $default:literal, $example:literal, $doc:literal;)*) => {
        pub(super) const KEYS: &[super::Key] = &[$(super::Key {
            file: super::File::$file,
            path: $path,
            kind: $kind,
            default: $default,
            example: $example,
            support: super::Support::$support,
            doc: $doc,
        },)*];
    };
}

mod agent;
mod foreign;
mod reference;
mod schema;
mod skill;
mod team;

pub use foreign::{Dialect, FOREIGN, ForeignKey, Treatment, foreign};
pub use reference::markdown;
pub use schema::schema;

/// Which file a key stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum File {
    /// `deputize.yaml`.
    Team,
    /// The front matter of an agent file.
    Agent,
    /// The front matter of a skill's `SKILL.md`.
    Skill,
}

/// What this build does with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It is used.
    Here,
    /// Its capability is missing: any value but the default is an error, since ignoring it could widen something.
    Later,
    /// The same for a key that other products' files use and that only ever adds: a warning, and it is left out.
    LeftOut,
    /// Read, without effect: a warning.
    NoEffect,
}

/// One key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Where it stands.
    pub file: File,
    /// Its path; a part in capitals stands for any name (`providers.NAME.kind`).
    pub path: &'static str,
    /// Its type in words.
    pub kind: &'static str,
    /// Its default in words.
    pub default: &'static str,
    /// A whole front matter or file that shows it, but for the keys that are always required.
    pub example: &'static str,
    /// What this build does with it.
    pub support: Support,
    /// One sentence.
    pub doc: &'static str,
}

impl Key {
    /// The last part of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit_once('.').map_or(self.path, |(_, last)| last)
    }
    /// The path of the map that holds it; empty at the top.
    pub fn parent(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(parent, _)| parent)
    }
}

/// The keys that the person's own configuration may hold.
pub const USER: [&str; 6] = ["providers", "roles", "aliases", "prices", "budget", "store"];

/// A key under another name that is read all the same, with a warning.
const ALIASES: &[(File, &str, &str)] = &[(File::Agent, "allowed-tools", "tools")];

/// Every key of one file, in the order of the reference.
pub fn all(file: File) -> &'static [Key] {
    match file {
        File::Team => team::KEYS,
        File::Agent => agent::KEYS,
        File::Skill => skill::KEYS,
    }
}

/// The keys of the map at a path, with its free names as in the table (`providers.NAME`).
pub fn children(file: File, path: &str) -> impl Iterator<Item = &'static Key> {
    all(file).iter().filter(move |key| key.parent() == path)
}

/// How a written key relates to the table.
#[derive(Clone, Copy, Debug)]
pub enum Match {
    /// It is that key.
    Exact(&'static Key),
    /// It is that key in another spelling.
    Spelling(&'static Key),
    /// It is no key; the nearest one, if any is near.
    Unknown(Option<&'static str>),
}

/// Letters only, small: `max-turns`, `max_turns` and `maxTurns` are one.
fn folded(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Finds a written key among those of the map at a path; none when it is no key.
pub fn known(file: File, path: &str, written: &str) -> Option<Match> {
    if let Some(key) = children(file, path).find(|k| k.name() == written) {
        return Some(Match::Exact(key));
    }
    let small = folded(written);
    let alias = |(f, from, _): &&(File, &str, &str)| *f == file && path.is_empty() && folded(from) == small;
    let target = ALIASES.iter().find(alias).map_or(small.clone(), |(_, _, to)| folded(to));
    children(file, path).find(|k| folded(k.name()) == target).map(Match::Spelling)
}

/// Finds a written key among those of the map at a path, or the one that is nearest.
pub fn find(file: File, path: &str, written: &str) -> Match {
    let nearest = || super::nearest::nearest(written, children(file, path).map(Key::name));
    known(file, path, written).unwrap_or_else(|| Match::Unknown(nearest()))
}

#[cfg(test)]
mod tests;
