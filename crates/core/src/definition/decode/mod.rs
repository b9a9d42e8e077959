//! The accumulating decoder: a spanned tree into a spec, and every complaint about it at once. Which keys exist it takes
//! from the table of keys; this file owns how keys are looked up, its children what their values mean.

mod agent;
pub mod amount;
mod budget;
mod json;
mod list;
mod permissions;
mod provider;
mod read;
mod skill;
mod success;
mod team;

pub use agent::{agent, entry_parts};
pub use budget::NOT_POSITIVE;
pub use provider::{UrlFault, check_url};
pub use skill::skill;
pub use success::object_schema;
pub use team::{Whose, team};

use super::keys::{self, File, Key, Match, Support};
use super::message::{Level, Message};
use super::node::{Entry, Kind, Node, Place};
use std::collections::{BTreeMap, BTreeSet};

/// What decoding gave: the spec, of which nothing may be used when a message is an error, and every message.
#[derive(Clone, Debug)]
pub struct Decoded<T> {
    /// The spec.
    pub spec: T,
    /// Messages without a file name, in the order found.
    pub messages: Vec<Message>,
    /// The paths of all keys that the decoder asked for; equal to the table's, as a test says.
    pub asked: BTreeSet<String>,
}

/// Keys that files of other products leave empty, and whose absence widens nothing. Every other key that is there and says
/// nothing is an error: its author meant something by it.
const HARMLESS: [&str; 4] = ["model", "color", "effort", "version"];

/// Messages of a file after which no nearest key is looked for.
const MAX_GUESSES: usize = 200;

/// Collects messages while values are read.
struct Decoder {
    file: File,
    messages: Vec<Message>,
    asked: BTreeSet<String>,
}

/// A value under a key, with the path that messages name.
#[derive(Clone)]
struct Field<'n> {
    /// Path with the names that stand in the file.
    path: String,
    /// Where the key stands; for an item of a list, the item.
    key_at: Place,
    node: &'n Node,
}

impl<'n> Field<'n> {
    /// An item of this list, under the same path.
    fn item(&self, node: &'n Node) -> Field<'n> {
        Field { path: self.path.clone(), key_at: node.at, node }
    }
    /// Where the value stands; where the key stands when there is no value.
    fn at(&self) -> Place {
        if self.node.kind == Kind::Null { self.key_at } else { self.node.at }
    }
}

/// The entries of one map under the names of the table.
struct Fields<'n> {
    /// Path in the table.
    table: String,
    /// Path in the file.
    path: String,
    found: BTreeMap<&'static str, Field<'n>>,
    /// Keys that are there and whose values could not be read.
    unreadable: BTreeSet<&'static str>,
}

impl Decoder {
    fn new(file: File) -> Decoder {
        Decoder { file, messages: Vec::new(), asked: BTreeSet::new() }
    }

    fn finish<T>(self, spec: T) -> Decoded<T> {
        Decoded { spec, messages: self.messages, asked: self.asked }
    }

    fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    fn error(&mut self, code: &str, at: Place, text: impl Into<String>) {
        self.push(Message::new(Level::Error, code, text).at(at));
    }

    fn warn(&mut self, code: &str, at: Place, text: impl Into<String>) {
        self.push(Message::new(Level::Warning, code, text).at(at));
    }

    /// "`path` must be WHAT, not a list".
    fn expected(&mut self, field: &Field<'_>, what: &str) {
        let found = match &field.node.kind {
            Kind::Unreadable => return,
            Kind::Null => "empty".to_string(),
            // Not its beginning: half a key is not known as one, so nobody would hide it.
            Kind::Scalar { text, .. } if text.len() > 240 => format!("a text of {} characters", text.chars().count()),
            Kind::Scalar { text, .. } => format!("`{text}`"),
            Kind::List(_) => "a list".to_string(),
            Kind::Map(_) => "a map".to_string(),
        };
        self.error("key.type", field.at(), format!("`{}` must be {what}, not {found}", field.path));
    }

    /// A value that this build does not have, though its key is known; names what exists.
    fn unsupported(&mut self, field: &Field<'_>, value: &str, exists: &str) {
        let text = format!("`{}: {value}` is not in this build; it has {exists}", field.path);
        self.error("key.unsupported", field.at(), text);
    }

    /// The map at the top of a file.
    fn top<'n>(&mut self, node: &'n Node) -> Fields<'n> {
        let field = Field { path: String::new(), key_at: node.at, node };
        match node.kind {
            Kind::Null | Kind::Unreadable => Fields::empty("", ""),
            Kind::Map(_) => self.fields(&field, ""),
            _ => {
                self.error("file.shape", node.at, "this must be a map of keys to values (`key: value`)");
                Fields::empty("", "")
            }
        }
    }

    /// The entries of the map in a field, whose path in the table is `table`. Complains about all that is no key.
    fn fields<'n>(&mut self, field: &Field<'n>, table: &str) -> Fields<'n> {
        let mut fields = Fields::empty(table, &field.path);
        let Kind::Map(entries) = &field.node.kind else {
            self.expected(field, "a map");
            return fields;
        };
        for entry in entries {
            let path = join(&field.path, &entry.key);
            // A text of ten thousand slips is no text with slips: the nearest key of each would cost minutes.
            let matched = match self.messages.len() < MAX_GUESSES {
                true => keys::find(self.file, table, &entry.key),
                false => keys::known(self.file, table, &entry.key).unwrap_or(Match::Unknown(None)),
            };
            match matched {
                Match::Exact(key) => self.accept(&mut fields, key, entry),
                Match::Spelling(key) => {
                    let proper = join(&field.path, key.name());
                    self.warn("key.spelling", entry.at, format!("`{path}` is read as `{proper}`"));
                    self.accept(&mut fields, key, entry);
                }
                Match::Unknown(nearest) => self.stranger(&path, nearest, entry, table),
            }
        }
        fields
    }

    fn accept<'n>(&mut self, fields: &mut Fields<'n>, key: &'static Key, entry: &'n Entry) {
        let path = join(&fields.path, key.name());
        if let Some(first) = fields.found.get(key.name()) {
            let line = first.key_at.line;
            let text = format!("`{}` says `{path}` for the second time; the first is on line {line}", entry.key);
            return self.push(Message::new(Level::Error, "key.twice", text).at(entry.at).hint("keep one of the two"));
        }
        if self.file == File::Agent && HARMLESS.contains(&key.path) && entry.value.kind == Kind::Null {
            return self.warn("key.empty", entry.at, format!("`{path}` is empty and is read as if it were not there"));
        }
        if entry.value.kind == Kind::Unreadable {
            fields.unreadable.insert(key.name());
            return;
        }
        match key.support {
            Support::Here => {}
            Support::Later if is_default(&entry.value, key) => {}
            Support::Later => {
                let text = format!("`{path}` is not in this build, and leaving it out could widen something");
                let hint = "remove the key, or use a build that has it";
                return self.push(Message::new(Level::Error, "key.unsupported", text).at(entry.at).hint(hint));
            }
            Support::LeftOut if is_default(&entry.value, key) => {}
            Support::LeftOut => {
                self.warn("key.unsupported", entry.at, format!("`{path}` is not in this build and is left out"));
            }
            Support::NoEffect => self.no_effect(&path, entry),
        }
        fields.found.insert(key.name(), Field { path, key_at: entry.at, node: &entry.value });
    }

    fn no_effect(&mut self, path: &str, entry: &Entry) {
        let text = match (path, &entry.value.kind) {
            ("isolation", Kind::Scalar { text, .. }) if text == "worktree" => {
                "`isolation: worktree` has no effect: the agent shares the workspace with its parent".to_string()
            }
            ("hooks", _) => "`hooks` has no effect: files of agents never run anything".to_string(),
            _ => format!("`{path}` has no effect here"),
        };
        self.warn("key.no_effect", entry.at, text);
    }

    /// A key that is not in the table. In an agent file it may be another product's, so it is a warning; below a key of
    /// our own, and in `deputize.yaml`, it can only be a slip, and ignoring it could widen something.
    fn stranger(&mut self, path: &str, nearest: Option<&str>, entry: &Entry, table: &str) {
        let (at, lenient) = (entry.at, self.file != File::Team && table.is_empty());
        let level = if lenient { Level::Warning } else { Level::Error };
        if table == "providers.NAME" && entry.key.to_lowercase().contains("key") {
            let text = format!("`{path}`: a key itself never stands in a file");
            return self.push(
                Message::new(Level::Error, "secret.in_file", text).at(at).hint("`api_key_env: NAME_OF_A_VARIABLE`"),
            );
        }
        let ignored = if lenient { " and is ignored" } else { "" };
        let message = Message::new(level, "key.unknown", format!("`{path}` is no known key{ignored}")).at(at);
        self.push(match nearest {
            Some(near) => message.hint(format!("did you mean `{near}`?")),
            None => message,
        });
    }
}

impl<'n> Fields<'n> {
    fn empty(table: &str, path: &str) -> Fields<'n> {
        let (table, path) = (table.to_string(), path.to_string());
        Fields { table, path, found: BTreeMap::new(), unreadable: BTreeSet::new() }
    }

    /// Whether a key is missing: neither read nor there and unreadable.
    fn lacks(&self, key: &str) -> bool {
        !self.found.contains_key(key) && !self.unreadable.contains(key)
    }

    /// The field of a key, if the file has it.
    fn take(&mut self, decoder: &mut Decoder, key: &'static str) -> Option<Field<'n>> {
        decoder.asked.insert(join(&self.table, key));
        self.found.remove(key)
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }
}

/// Whether a value says no more than leaving the key out.
fn is_default(node: &Node, key: &Key) -> bool {
    match &node.kind {
        Kind::Null => true,
        Kind::Unreadable => false,
        Kind::List(items) => items.is_empty(),
        Kind::Map(entries) => entries.is_empty(),
        Kind::Scalar { text, .. } => key.default.trim_matches('`') == text,
    }
}
