//! Front matter: where it ends, and how one that is no YAML is read all the same when there is only one way to read it.
//!
//! Strict YAML comes first. When it fails, the text is cut into fields at the known keys in the first column, and each
//! field that fails by itself is repaired alone: a text that lacks its quotes, a bare `*`, tabs as indentation. A field
//! that may be read in two ways stays an error, since a guess could drop a description or widen the tools.

use crate::yaml::{self, Parsed};
use deputize_core::definition::keys::{self, Dialect, File, Match};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::{Entry, Kind, Node, Place};
use std::collections::BTreeMap;

/// A text file cut at its fences.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Split {
    /// It does not begin with `---`.
    None,
    /// A `---` is its first line that is not blank, but not its first line.
    Late,
    /// The front matter never closes.
    Open,
    /// Front matter and body. The front matter begins on line 2.
    Front { yaml: String, body: String },
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == "---"
}

/// Cuts a text whose line ends are `\n`.
pub(super) fn split(text: &str) -> Split {
    let Some((_, rest)) = text.split_once('\n').filter(|(first, _)| is_fence(first)) else {
        return match text.lines().find(|l| !l.trim().is_empty()) {
            Some(line) if is_fence(line) && text.lines().next().is_some_and(is_fence) => Split::Open,
            Some(line) if is_fence(line) => Split::Late,
            _ => Split::None,
        };
    };
    let mut yaml = String::new();
    let mut lines = rest.split_inclusive('\n');
    for line in lines.by_ref() {
        if is_fence(line) {
            let body: String = lines.collect();
            return Split::Front { yaml, body: body.trim().to_string() };
        }
        yaml.push_str(line);
    }
    Split::Open
}

/// A front matter that was read.
pub(super) struct Read {
    /// The tree; a value that could not be read is [`Kind::Unreadable`].
    pub(super) node: Node,
    /// What had to be repaired, as warnings.
    pub(super) repairs: Vec<Message>,
    /// What is wrong. With one of them the tree serves only to find what else is wrong.
    pub(super) errors: Vec<Message>,
}

/// Most keys of a text that is read in pieces; each is parsed by itself.
const MAX_FIELDS: usize = 500;
/// Longest text that is repaired, in lines: each is looked at for a key that it may be.
const MAX_REPAIRED: usize = 2_000;

/// Lines of the file before the front matter.
const BEFORE: u32 = 1;

/// Which keys a text may hold: those of a kind of file, and those of another product's form of it.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) file: File,
    pub(super) dialect: Option<Dialect>,
}

impl Form {
    /// The key of the table that a word means.
    fn key(self, word: &str) -> Option<&'static str> {
        match keys::known(self.file, "", word) {
            Some(Match::Exact(key) | Match::Spelling(key)) => Some(key.name()),
            Some(Match::Unknown(_)) | None => self.dialect.and_then(|d| keys::foreign(d, word)).map(|f| f.key),
        }
    }
    /// Whether a word is nearly a key.
    fn near(self, word: &str) -> bool {
        self.key(word).is_none() && matches!(keys::find(self.file, "", word), Match::Unknown(Some(_)))
    }
}

fn is_syntax(fault: &Message) -> bool {
    matches!(fault.code.as_str(), "yaml.syntax" | "yaml.tab")
}

/// Reads a front matter, strictly first.
pub(super) fn read(yaml: &str, form: Form) -> Read {
    let Parsed { node, faults } = yaml::parse_all(yaml, BEFORE);
    match node {
        Some(node) => Read { node, repairs: Vec::new(), errors: faults },
        None => in_pieces(yaml, BEFORE, form, faults),
    }
}

/// Reads a text that is no YAML as a whole: every known key by itself. `faults` are those of the whole.
pub(super) fn in_pieces(yaml: &str, before: u32, form: Form, faults: Vec<Message>) -> Read {
    let at = Place { line: before + 1, column: 1 };
    let unreadable = |errors| Read { node: Node { kind: Kind::Unreadable, at }, repairs: Vec::new(), errors };
    // What is too much as a whole is not tried in pieces.
    let fields = match faults.iter().any(|f| f.code == "yaml.nodes") {
        true => None,
        false => fields(yaml, before, form).filter(|fields| fields.len() <= MAX_FIELDS),
    };
    let Some(fields) = fields else { return unreadable(faults) };
    let mut read = Read { node: Node { kind: Kind::Map(Vec::new()), at }, repairs: Vec::new(), errors: Vec::new() };
    let mut entries = Vec::<Entry>::new();
    let mut first_of = BTreeMap::<String, Place>::new();
    for (index, field) in fields.iter().enumerate() {
        let later = fields.get(index + 1..).unwrap_or_default();
        for entry in field.read(form, later, &mut read) {
            match first_of.get(&entry.key) {
                Some(first) => read.errors.push(yaml::duplicate(&entry.key, *first, entry.at)),
                None => {
                    first_of.insert(entry.key.clone(), entry.at);
                    entries.push(entry);
                }
            }
        }
    }
    if read.errors.is_empty() && read.repairs.is_empty() {
        read.errors = faults;
    }
    read.node.kind = Kind::Map(entries);
    read
}

/// A known key in the first column and every line up to the next one.
struct Field<'t> {
    key: &'t str,
    /// Lines of the file before it.
    before: u32,
    lines: Vec<&'t str>,
}

/// The key of a line such as `key: value` or `key:`.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let good = !key.is_empty() && key.chars().all(word) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    good.then_some(key)
}

/// Whether a line begins with a known key. In small letters only: `Context:` is a word of an example, `context:` a key.
fn known(line: &str, form: Form) -> Option<&str> {
    key_of(line).filter(|k| k.starts_with(|c: char| c.is_ascii_lowercase()) && form.key(k).is_some())
}

/// Cuts at known keys; none when something that is no key at all stands before the first.
fn fields(yaml: &str, before: u32, form: Form) -> Option<Vec<Field<'_>>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    let mut any_known = false;
    for (line, before) in yaml.lines().zip(before..) {
        let key = known(line, form);
        any_known |= key.is_some();
        // Before the first known key nothing can be part of a value that matters, and a configuration holds no long
        // texts, so any key begins a field there.
        match (key.or_else(|| key_of(line).filter(|_| !any_known || form.file == File::Team)), fields.last_mut()) {
            (Some(key), _) => fields.push(Field { key, before, lines: vec![line] }),
            (None, Some(field)) => field.lines.push(line),
            (None, None) if line.trim().is_empty() || line.starts_with('#') => {}
            (None, None) => return None,
        }
    }
    Some(fields)
}

impl Field<'_> {
    /// The entries of this field; one that cannot be read is there as unreadable. What is said goes into `read`.
    fn read(&self, form: Form, later: &[Field<'_>], read: &mut Read) -> Vec<Entry> {
        let whole = yaml::parse_all(&self.lines.join("\n"), self.before);
        if let Some(Kind::Map(entries)) = whole.node.map(|n| n.kind) {
            read.errors.extend(whole.faults.into_iter().map(|f| self.explained(f)));
            return entries;
        }
        let repairable = form.file != File::Team && whole.faults.iter().all(is_syntax);
        if let Some(entries) = self.without_tabs().filter(|_| repairable) {
            read.repairs.push(self.warning("its tabs were read as spaces", "indent with spaces"));
            return entries;
        }
        if let Some(text) = self.plain_text(form, later).filter(|_| repairable) {
            let hint = "put the value in quotes, or write it below `|`";
            read.repairs.push(self.warning("its value was read as plain text", hint));
            return vec![self.entry(Kind::Scalar { text, quoted: true })];
        }
        read.errors.extend(whole.faults.into_iter().map(|f| self.explained(f)));
        vec![self.entry(Kind::Unreadable)]
    }

    fn without_tabs(&self) -> Option<Vec<Entry>> {
        let indent = |line: &&str| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>();
        if !self.lines.iter().any(|l| indent(l).contains('\t')) {
            return None;
        }
        let spaced =
            |line: &&str| format!("{}{}", indent(line).replace('\t', "  "), line.trim_start_matches([' ', '\t']));
        match yaml::parse(&self.lines.iter().map(spaced).collect::<Vec<_>>().join("\n"), self.before).ok()?.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value as its author sees it; none when it could be meant in another way.
    fn plain_text(&self, form: Form, later: &[Field<'_>]) -> Option<String> {
        let (first, more) = self.lines.split_first()?;
        let value = first.split_once(':')?.1.trim();
        match form.key(self.key)? {
            "description" | "identity" | "initialPrompt" | "argument-hint" => {}
            "tools" if is_star_list(value) && more.iter().all(|l| l.trim().is_empty()) => {
                return Some(value.into());
            }
            _ => return None,
        }
        if more.len() > MAX_REPAIRED
            || more.iter().any(|line| may_be_key(line, form))
            || reaches_into(value, more, later)
        {
            return None;
        }
        let header = value.starts_with(['|', '>']) && value.len() <= 3;
        let head = if header { "" } else { value };
        let text = std::iter::once(head).chain(more.iter().map(|l| l.trim_end())).collect::<Vec<_>>().join("\n");
        let text = unquoted(text.trim()).replace("\\n", "\n");
        (!text.trim().is_empty()).then_some(text)
    }

    fn entry(&self, kind: Kind) -> Entry {
        let first = self.lines.first().copied().unwrap_or_default();
        let column = first
            .split_once(':')
            .map_or(1, |(key, rest)| key.chars().count() + 2 + rest.chars().take_while(|c| c.is_whitespace()).count());
        let at = Place { line: self.before + 1, column: u32::try_from(column).unwrap_or(1) };
        let value = Node { kind, at };
        Entry { key: self.key.to_string(), at: Place { column: 1, ..at }, value }
    }

    fn warning(&self, said: &str, hint: &str) -> Message {
        let text = format!("`{}` is not valid YAML; {said}", self.key);
        let at = Place { line: self.before + 1, column: 1 };
        Message::new(Level::Warning, "frontmatter.repaired", text).at(at).hint(hint)
    }

    /// A fault of this field. One that the parser found behind its end stands at its end: that is the line to look at.
    fn explained(&self, fault: Message) -> Message {
        let text = format!("`{}` cannot be read: {}", self.key, fault.text);
        let filled = self.lines.iter().rposition(|l| !l.trim().is_empty()).unwrap_or_default();
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let last = self.before.saturating_add(number(filled + 1));
        if fault.line.is_none_or(|line| line <= last) {
            return Message { text, ..fault };
        }
        let end = self.lines.get(filled).map_or(0, |l| l.trim_end().chars().count());
        Message { text, ..fault }.at(Place { line: last, column: number(end + 1) })
    }
}

/// `*`, perhaps among names: not YAML, and clear.
fn is_star_list(value: &str) -> bool {
    value.starts_with('*') && value.chars().all(|c| c.is_ascii_alphanumeric() || "*_-, ".contains(c))
}

/// Whether a text that opens a quote and does not close it may close it in a later field, which then would be no field but
/// part of the text: a key in it could be read that nobody set.
fn reaches_into(value: &str, more: &[&str], later: &[Field<'_>]) -> bool {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return false };
    let odd =
        |lines: &mut dyn Iterator<Item = &str>| lines.flat_map(str::chars).filter(|c| *c == quote).count() % 2 == 1;
    let open = odd(&mut std::iter::once(value).chain(more.iter().copied()));
    open && odd(&mut later.iter().flat_map(|f| f.lines.iter().copied()))
}

/// A line inside a text that could be a key of its own: a known one that is indented, or one that is nearly known.
fn may_be_key(line: &str, form: Form) -> bool {
    let small = |key: &&str| key.starts_with(|c: char| c.is_ascii_lowercase());
    known(line.trim_start(), form).is_some() || key_of(line).filter(small).is_some_and(|key| form.near(key))
}

/// Without the quotes around the whole.
fn unquoted(text: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.strip_suffix(quote).unwrap_or(inner);
        }
    }
    text
}

#[cfg(test)]
mod tests;
