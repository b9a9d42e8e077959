//! Front matter: where it ends, and how one that is no YAML is read all the same when there is only one way to read it.
//!
//! Strict YAML comes first. When it fails, the text is cut into fields at the known keys in the first column, and each
//! field that fails by itself is repaired alone: a text that lacks its quotes, a bare `*`, tabs as indentation. A field
//! that may be read in two ways stays an error, since a guess could drop a description or widen the tools.

use crate::yaml;
use deputize_core::definition::keys::{self, File, Match};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::{Entry, Kind, Node, Place};

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
    pub(super) node: Node,
    /// What had to be repaired, as warnings.
    pub(super) repairs: Vec<Message>,
}

/// Lines of the file before the front matter.
const BEFORE: u32 = 1;

/// Reads a front matter, strictly first.
///
/// # Errors
/// What is wrong, with its places.
pub(super) fn read(yaml: &str) -> Result<Read, Vec<Message>> {
    let faults = match yaml::parse(yaml, BEFORE) {
        Ok(node) => return Ok(Read { node, repairs: Vec::new() }),
        Err(faults) => faults,
    };
    let broken = |m: &Message| matches!(m.code.as_str(), "yaml.syntax" | "yaml.tab");
    if !faults.iter().all(broken) {
        return Err(faults);
    }
    let Some(fields) = fields(yaml) else { return Err(faults) };
    let (mut entries, mut repairs, mut errors) = (Vec::<Entry>::new(), Vec::new(), Vec::new());
    for field in fields {
        match field.read() {
            Ok((more, repair)) => {
                repairs.extend(repair);
                for entry in more {
                    match entries.iter().find(|e| e.key == entry.key) {
                        Some(first) => errors.push(yaml::duplicate(&entry.key, first.at, entry.at)),
                        None => entries.push(entry),
                    }
                }
            }
            Err(mut more) => errors.append(&mut more),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if repairs.is_empty() {
        return Err(faults);
    }
    Ok(Read { node: Node { kind: Kind::Map(entries), at: Place { line: BEFORE + 1, column: 1 } }, repairs })
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
fn known(line: &str) -> Option<&str> {
    let key = key_of(line).filter(|k| k.starts_with(|c: char| c.is_ascii_lowercase()))?;
    match keys::find(File::Agent, "", key) {
        Match::Exact(_) | Match::Spelling(_) => Some(key),
        Match::Unknown(_) => None,
    }
}

/// Cuts at known keys; none when something stands before the first.
fn fields(yaml: &str) -> Option<Vec<Field<'_>>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    for (line, before) in yaml.lines().zip(BEFORE..) {
        match (known(line), fields.last_mut()) {
            (Some(key), _) => fields.push(Field { key, before, lines: vec![line] }),
            (None, Some(field)) => field.lines.push(line),
            (None, None) if line.trim().is_empty() || line.starts_with('#') => {}
            (None, None) => return None,
        }
    }
    Some(fields)
}

/// Entries of a field, and the warning when it had to be repaired.
type Entries = (Vec<Entry>, Option<Message>);

impl Field<'_> {
    fn read(&self) -> Result<Entries, Vec<Message>> {
        let faults = match self.parse(&self.lines.join("\n")) {
            Ok(entries) => return Ok((entries, None)),
            Err(faults) => faults,
        };
        if let Some(entries) = self.without_tabs() {
            return Ok((entries, Some(self.warning("its tabs were read as spaces", "indent with spaces"))));
        }
        match self.plain_text() {
            Some(text) => {
                let said = "its value was read as plain text";
                Ok((vec![self.entry(text)], Some(self.warning(said, "put the value in quotes, or write it below `|`"))))
            }
            None => Err(faults.into_iter().map(|f| self.explained(f)).collect()),
        }
    }

    fn parse(&self, text: &str) -> Result<Vec<Entry>, Vec<Message>> {
        match yaml::parse(text, self.before)?.kind {
            Kind::Map(entries) => Ok(entries),
            _ => Err(Vec::new()),
        }
    }

    fn without_tabs(&self) -> Option<Vec<Entry>> {
        let indent = |line: &&str| line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect::<String>();
        if !self.lines.iter().any(|l| indent(l).contains('\t')) {
            return None;
        }
        let spaced =
            |line: &&str| format!("{}{}", indent(line).replace('\t', "  "), line.trim_start_matches([' ', '\t']));
        self.parse(&self.lines.iter().map(spaced).collect::<Vec<_>>().join("\n")).ok()
    }

    /// The value as its author sees it; none when it could be meant in another way.
    fn plain_text(&self) -> Option<String> {
        let (first, more) = self.lines.split_first()?;
        let value = first.split_once(':')?.1.trim();
        match keys::find(File::Agent, "", self.key) {
            Match::Exact(key) | Match::Spelling(key) => match key.name() {
                "description" | "identity" | "initialPrompt" => {}
                "tools" if is_star_list(value) && more.iter().all(|l| l.trim().is_empty()) => {
                    return Some(value.into());
                }
                _ => return None,
            },
            Match::Unknown(_) => return None,
        }
        if more.iter().any(|line| may_be_key(line)) {
            return None;
        }
        let header = value.starts_with(['|', '>']) && value.len() <= 3;
        let head = if header { "" } else { value };
        let text = std::iter::once(head).chain(more.iter().map(|l| l.trim_end())).collect::<Vec<_>>().join("\n");
        let text = unquoted(text.trim()).replace("\\n", "\n");
        (!text.trim().is_empty()).then_some(text)
    }

    fn entry(&self, text: String) -> Entry {
        let first = self.lines.first().copied().unwrap_or_default();
        let column = first
            .split_once(':')
            .map_or(1, |(key, rest)| key.chars().count() + 2 + rest.chars().take_while(|c| c.is_whitespace()).count());
        let at = Place { line: self.before + 1, column: u32::try_from(column).unwrap_or(1) };
        let value = Node { kind: Kind::Scalar { text, quoted: true }, at };
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

/// A line inside a text that could be a key of its own: a known one that is indented, or one that is nearly known.
fn may_be_key(line: &str) -> bool {
    let near = |key: &str| matches!(keys::find(File::Agent, "", key), Match::Unknown(Some(_)));
    let small = |key: &&str| key.starts_with(|c: char| c.is_ascii_lowercase());
    known(line.trim_start()).is_some() || key_of(line).filter(small).is_some_and(near)
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
