//! YAML text into the core's spanned tree. Owns all contact with the YAML parser; knows no keys and no types of values.
//!
//! The tree is built from the parser's events, so that scalars keep their text, duplicate keys keep both their places,
//! and a hostile text is refused before it costs memory or stack.

use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::{Entry, Kind, Node, Place};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use std::collections::BTreeMap;

/// Deepest nesting. Real files need five; the decoder and the destructor of a tree recurse, so there must be a bound.
const MAX_DEPTH: usize = 64;
/// Nodes that all aliases of a text together may stand for. Shared settings need dozens; a bomb needs millions.
const MAX_ALIASED: usize = 10_000;
/// Values of one text. Files of real use have hundreds; half a million keys would keep the search for similar names busy.
const MAX_NODES: usize = 20_000;

/// What became of a text: the tree as far as there is one, and everything that is wrong.
#[derive(Debug)]
pub struct Parsed {
    /// The tree; what could not be read in it is [`Kind::Unreadable`]. None when the text is no YAML at all.
    pub node: Option<Node>,
    /// Every fault, without a file name. With one of them the tree serves only to find further faults.
    pub faults: Vec<Message>,
}

/// Reads one YAML document. `before` is the number of lines of the file before this text; all places count from the
/// beginning of the file.
///
/// # Errors
/// Everything that is no YAML, or that is beyond a bound; without a file name.
pub fn parse(text: &str, before: u32) -> Result<Node, Vec<Message>> {
    let Parsed { node, faults } = parse_all(text, before);
    match node {
        Some(node) if faults.is_empty() => Ok(node),
        _ => Err(faults),
    }
}

/// Reads one YAML document and goes on behind faults that leave the rest readable: duplicate keys, foreign tags, aliases
/// that stand for too much.
pub fn parse_all(text: &str, before: u32) -> Parsed {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let unix = text.replace("\r\n", "\n");
    let mut builder = Builder { before, ..Builder::default() };
    let mut parser = Parser::new_from_str(&unix);
    while let Some(event) = parser.next_event() {
        let step = match event {
            Ok((event, span)) => builder.take(event, span),
            Err(e) => Err(builder.syntax(&unix, &e)),
        };
        if let Err(fault) = step {
            // A second document does no harm to the first.
            let node = builder.root.take().filter(|_| fault.code == "yaml.documents");
            builder.faults.push(fault);
            return Parsed { node, faults: builder.faults };
        }
    }
    let empty = Node { kind: Kind::Null, at: Place { line: before + 1, column: 1 } };
    Parsed { node: Some(builder.root.unwrap_or(empty)), faults: builder.faults }
}

/// A list or map that is not closed yet.
struct Open {
    at: Place,
    anchor: usize,
    inside: Inside,
}

enum Inside {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, seen: BTreeMap<String, Place>, key: Option<(String, Place)> },
}

#[derive(Default)]
struct Builder {
    before: u32,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Node>,
    aliased: usize,
    /// Whether the aliases have gone beyond their bound; said once.
    bomb: bool,
    documents: usize,
    nodes: usize,
    root: Option<Node>,
    faults: Vec<Message>,
}

impl Builder {
    fn place(&self, span: &Span) -> Place {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let line = number(span.start.line()).saturating_add(self.before);
        Place { line, column: number(span.start.col()).saturating_add(1) }
    }

    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Message> {
        let at = self.place(&span);
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => self.document(at),
            Event::Scalar(text, style, anchor, tag) => {
                let kind = scalar(&text, style, tag.as_deref()).unwrap_or_else(|tag| {
                    self.faults.push(foreign_tag(&tag, at));
                    Kind::Unreadable
                });
                self.close(Node { kind, at }, anchor)
            }
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::SequenceStart(anchor, tag) => {
                let inside = Inside::List(Vec::new());
                self.begin(Open { at, anchor, inside }, tag.as_deref())
            }
            Event::MappingStart(anchor, tag) => {
                let inside = Inside::Map { entries: Vec::new(), seen: BTreeMap::new(), key: None };
                self.begin(Open { at, anchor, inside }, tag.as_deref())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open { at, anchor, inside: Inside::List(items) }) => {
                    self.close(Node { kind: Kind::List(items), at }, anchor)
                }
                Some(Open { at, anchor, inside: Inside::Map { entries, .. } }) => {
                    self.close(Node { kind: Kind::Map(entries), at }, anchor)
                }
                None => Ok(()),
            },
        }
    }

    fn document(&mut self, at: Place) -> Result<(), Message> {
        self.documents += 1;
        if self.documents > 1 {
            let text = "a second YAML document begins here; only one is read from a file";
            return Err(error("yaml.documents", text, at).hint("remove the `---` line, or make it a file of its own"));
        }
        Ok(())
    }

    fn begin(&mut self, open: Open, tag: Option<&Tag>) -> Result<(), Message> {
        if let Some(tag) = tag.filter(|t| !is_core(t)) {
            self.faults.push(foreign_tag(&tag.to_string(), open.at));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(error("yaml.depth", format!("nested deeper than {MAX_DEPTH} levels"), open.at));
        }
        if let Some(Open { inside: Inside::Map { key: None, .. }, .. }) = self.open.last() {
            return Err(error("yaml.key", "a list or map cannot be a key", open.at));
        }
        self.open.push(open);
        Ok(())
    }

    /// A node is complete: it becomes a key, a value, an item or the whole.
    fn close(&mut self, node: Node, anchor: usize) -> Result<(), Message> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(error("yaml.nodes", format!("more than {MAX_NODES} values in one text"), node.at));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut parent.inside {
            Inside::List(items) => items.push(node),
            Inside::Map { entries, seen, key } => match key.take() {
                None => *key = Some(key_text(node)?),
                Some((key, at)) => match seen.get(&key) {
                    Some(first) => self.faults.push(duplicate(&key, *first, at)),
                    None => {
                        seen.insert(key.clone(), at);
                        entries.push(Entry { key, at, value: node });
                    }
                },
            },
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, at: Place) -> Result<(), Message> {
        let kind = match self.stood_for(anchor, at) {
            Ok(kind) => kind,
            Err(fault) => {
                self.faults.extend(fault);
                Kind::Unreadable
            }
        };
        self.close(Node { kind, at }, 0)
    }

    /// What an alias stands for; else the fault, unless it was said before.
    fn stood_for(&mut self, anchor: usize, at: Place) -> Result<Kind, Option<Message>> {
        let Some(node) = self.anchors.get(&anchor) else {
            let text = "this alias stands inside the very value that it stands for";
            return Err(Some(error("yaml.alias", text, at)));
        };
        let room = MAX_ALIASED.saturating_sub(self.aliased);
        let Some((size, depth)) = measure(node, room).filter(|_| !self.bomb) else {
            let text = format!("the aliases stand for more than {MAX_ALIASED} values");
            let first = !std::mem::replace(&mut self.bomb, true);
            return Err(first.then(|| error("yaml.alias", text, at).hint("write the values out")));
        };
        if self.open.len() + depth > MAX_DEPTH {
            return Err(Some(error("yaml.depth", format!("nested deeper than {MAX_DEPTH} levels"), at)));
        }
        self.aliased += size;
        Ok(node.kind.clone())
    }

    fn syntax(&self, text: &str, e: &ScanError) -> Message {
        let mark = *e.marker();
        let at = self.place(&Span::empty(mark));
        let lines = || text.lines().enumerate().skip(mark.line().saturating_sub(2)).take(2);
        let tab = lines().find(|(_, line)| line.trim_start_matches(' ').starts_with('\t'));
        if let Some((index, line)) = tab {
            let line_number = u32::try_from(index + 1).unwrap_or(u32::MAX).saturating_add(self.before);
            let column = u32::try_from(line.chars().take_while(|c| *c == ' ').count() + 1).unwrap_or(1);
            let text = "a tab is used as indentation; YAML allows spaces only";
            let at = Place { line: line_number, column };
            return error("yaml.tab", text, at).hint("replace the tab by spaces");
        }
        if e.info().contains("recursion limit") {
            return error("yaml.depth", "nested too deep", at);
        }
        let message = error("yaml.syntax", format!("not valid YAML: {}", e.info()), at);
        match hint(e.info()) {
            Some(h) => message.hint(h),
            None => message,
        }
    }
}

fn hint(info: &str) -> Option<&'static str> {
    if info.contains("mapping values are not allowed") || info.contains("simple key") {
        return Some("a text that holds `: ` or ` #` must stand in quotes");
    }
    if info.contains("alias") || info.contains("anchor") {
        return Some("a text that begins with `*` or `&` must stand in quotes");
    }
    None
}

fn error(code: &str, text: impl Into<String>, at: Place) -> Message {
    Message::new(Level::Error, code, text).at(at)
}

fn foreign_tag(tag: &str, at: Place) -> Message {
    error("yaml.tag", format!("the tag `{tag}` has no meaning here"), at)
}

/// The complaint about a key that stands twice.
pub(crate) fn duplicate(key: &str, first: Place, second: Place) -> Message {
    let text = format!("the key `{key}` stands here for the second time; the first is on line {}", first.line);
    error("yaml.duplicate_key", text, second).hint("keep one of the two")
}

fn key_text(node: Node) -> Result<(String, Place), Message> {
    match node.kind {
        Kind::Scalar { text, .. } => Ok((text, node.at)),
        Kind::Null | Kind::Unreadable => Ok((String::new(), node.at)),
        Kind::List(_) | Kind::Map(_) => Err(error("yaml.key", "a list or map cannot be a key", node.at)),
    }
}

/// Whether a tag is one of YAML 1.2's own; all that it may do here is to make a text of a scalar.
fn is_core(tag: &Tag) -> bool {
    tag.is_yaml_core_schema() && ["str", "int", "float", "bool", "null", "map", "seq"].contains(&tag.suffix.as_str())
}

/// The kind of a scalar, or the tag that is not understood.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Kind, String> {
    let mut quoted = style != ScalarStyle::Plain;
    if let Some(tag) = tag {
        if !is_core(tag) {
            return Err(tag.to_string());
        }
        quoted |= tag.suffix == "str";
    }
    if !quoted && matches!(text, "" | "~" | "null" | "Null" | "NULL") {
        return Ok(Kind::Null);
    }
    Ok(Kind::Scalar { text: text.to_string(), quoted })
}

/// Number of values and depth of a tree; none when it has more than `room` values.
fn measure(node: &Node, room: usize) -> Option<(usize, usize)> {
    let children: Vec<&Node> = match &node.kind {
        Kind::Null | Kind::Unreadable | Kind::Scalar { .. } => Vec::new(),
        Kind::List(items) => items.iter().collect(),
        Kind::Map(entries) => entries.iter().map(|e| &e.value).collect(),
    };
    let (mut size, mut depth) = (1, 0);
    for child in children {
        let (s, d) = measure(child, room.checked_sub(size)?)?;
        size += s;
        depth = depth.max(d + 1);
    }
    (size <= room).then_some((size, depth))
}

#[cfg(test)]
mod tests;
