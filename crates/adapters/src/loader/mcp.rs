//! `.mcp.json`: read and checked. No server is started, no variable is expanded, and no value of a variable, of an `env` or
//! of a header is ever shown.

use super::files;
use super::findings::Findings;
use crate::yaml;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::{Entry, Kind, Node, Place};
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = ".mcp.json";
const WRAPPER: &str = "mcpServers";
/// Kinds of servers; without a `type` it is the first.
const TYPES: [&str; 4] = ["stdio", "http", "sse", "streamable-http"];
/// Words in the name of a variable or header whose value is a credential.
const SECRET_WORDS: [&str; 6] = ["key", "token", "secret", "password", "authorization", "credential"];
/// How credentials of well-known services begin.
const SECRET_STARTS: [&str; 9] = ["sk-", "ghp_", "gho_", "github_pat_", "xoxb-", "xoxp-", "AKIA", "AIza", "glpat-"];

/// Looks at the servers of a project.
pub(super) fn check(project: &Path, env: &BTreeMap<String, String>, findings: &mut Findings) {
    let path = project.join(FILE);
    if path.symlink_metadata().is_err() {
        return;
    }
    let Some((file, text)) = files::read_for(findings, &path) else { return };
    if let Err(e) = serde_json::from_str::<serde::de::IgnoredAny>(&text) {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let at = Place { line: number(e.line()).max(1), column: number(e.column()).max(1) };
        let category = if e.is_eof() { "it ends too early" } else { "here something else must stand" };
        let message = Message::new(Level::Error, "mcp.syntax", format!("this is no JSON: {category}"));
        return findings.push(message.file(file).at(at));
    }
    // JSON is YAML, but for tabs between values; inside of texts it has none.
    let tree = match yaml::parse(&text.replace('\t', " "), 0) {
        Ok(tree) => tree,
        Err(faults) => return findings.extend(&file, faults),
    };
    let mut check = Check { env, messages: Vec::new(), found: Vec::new() };
    check.all(&tree);
    let Check { messages, found, .. } = check;
    findings.extend(&file, messages);
    if !found.is_empty() {
        let text = format!("servers of {FILE}, none of which this build starts: {}", found.join(", "));
        findings.push(Message::new(Level::Info, "mcp.found", text).file(file));
    }
}

struct Check<'a> {
    env: &'a BTreeMap<String, String>,
    messages: Vec<Message>,
    found: Vec<String>,
}

fn members(node: &Node) -> Option<&[Entry]> {
    match &node.kind {
        Kind::Map(entries) => Some(entries),
        _ => None,
    }
}

fn member<'n>(entries: &'n [Entry], key: &str) -> Option<&'n Entry> {
    entries.iter().find(|e| e.key == key)
}

fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar { text, quoted: true } => Some(text),
        _ => None,
    }
}

impl Check<'_> {
    fn say(&mut self, level: Level, code: &str, at: Place, text: String) {
        self.messages.push(Message::new(level, code, text).at(at));
    }

    fn all(&mut self, tree: &Node) {
        let Some(top) = members(tree) else {
            return self.say(Level::Error, "mcp.server", tree.at, format!("this must be a map with `{WRAPPER}`"));
        };
        let servers = match member(top, WRAPPER) {
            Some(wrapper) => match members(&wrapper.value) {
                Some(servers) => servers,
                None => {
                    let text = format!("`{WRAPPER}` must be a map of names to servers");
                    return self.say(Level::Error, "mcp.server", wrapper.at, text);
                }
            },
            None => {
                let server =
                    |e: &Entry| members(&e.value).is_some_and(|m| member(m, "command").or(member(m, "url")).is_some());
                if !top.iter().any(server) {
                    let text = format!("there is no `{WRAPPER}`, so no server is named");
                    return self.say(Level::Warning, "mcp.wrapper", tree.at, text);
                }
                let text = format!("the servers stand at the top; other products want them below `{WRAPPER}`");
                self.say(Level::Warning, "mcp.wrapper", tree.at, text);
                top
            }
        };
        servers.iter().for_each(|s| self.server(s));
    }

    fn server(&mut self, server: &Entry) {
        let name = &server.key;
        let before = self.messages.iter().filter(|m| m.level == Level::Error).count();
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(good) {
            let text = format!(
                "`{name}`: a server's name is letters, digits, `-` and `_`, since it is part of its tools' names"
            );
            self.say(Level::Error, "mcp.server", server.at, text);
        }
        let Some(entries) = members(&server.value) else {
            return self.say(Level::Error, "mcp.server", server.at, format!("the server `{name}` must be a map"));
        };
        let kind = self.kind(name, entries);
        let (needed, other) = if kind == "stdio" { ("command", "url") } else { ("url", "command") };
        match member(entries, needed) {
            Some(entry) if text(&entry.value).is_some_and(|t| !t.trim().is_empty()) => {}
            found => {
                let at = found.map_or(server.at, |e| e.at);
                let text = format!("the server `{name}` of type {kind} needs `{needed}`, a text");
                self.say(Level::Error, "mcp.server", at, text);
            }
        }
        if let Some(entry) = member(entries, other) {
            let text = format!("`{other}` of the server `{name}` has no effect: its type is {kind}");
            self.say(Level::Warning, "key.no_effect", entry.at, text);
        }
        entries.iter().for_each(|e| self.value(name, e));
        if self.messages.iter().filter(|m| m.level == Level::Error).count() == before {
            self.found.push(format!("{name} ({kind})"));
        }
    }

    /// The type as written; else by what the server has.
    fn kind(&mut self, name: &str, entries: &[Entry]) -> &'static str {
        let Some(entry) = member(entries, "type") else {
            return if member(entries, "command").is_none() && member(entries, "url").is_some() {
                "http"
            } else {
                "stdio"
            };
        };
        match TYPES.iter().find(|t| Some(**t) == text(&entry.value)) {
            Some(kind) => kind,
            None => {
                let text = format!("the type of the server `{name}` must be one of {}", TYPES.join(", "));
                self.say(Level::Error, "mcp.server", entry.at, text);
                "stdio"
            }
        }
    }

    fn value(&mut self, server: &str, entry: &Entry) {
        let shape =
            |ok: bool, what: &str| (!ok).then(|| format!("`{}` of the server `{server}` must be {what}", entry.key));
        let wrong = match entry.key.as_str() {
            "type" => None,
            "command" | "url" | "cwd" => shape(text(&entry.value).is_some(), "a text"),
            "args" => shape(
                matches!(&entry.value.kind, Kind::List(l) if l.iter().all(|n| text(n).is_some())),
                "a list of texts",
            ),
            "env" | "headers" => {
                let texts = members(&entry.value).is_some_and(|m| m.iter().all(|e| text(&e.value).is_some()));
                shape(texts, "a map of texts")
            }
            _ => {
                let text = format!("`{}` of the server `{server}` is not known and is ignored", entry.key);
                return self.say(Level::Warning, "key.unknown", entry.at, text);
            }
        };
        if let Some(wrong) = wrong {
            return self.say(Level::Error, "mcp.server", entry.at, wrong);
        }
        match &entry.value.kind {
            Kind::List(items) => items.iter().for_each(|i| self.words(server, &entry.key, i)),
            Kind::Map(entries) => entries.iter().for_each(|e| self.words(server, &e.key, &e.value)),
            _ => self.words(server, &entry.key, &entry.value),
        }
    }

    /// One text: its variables, and whether it is a credential. It is never shown.
    fn words(&mut self, server: &str, key: &str, node: &Node) {
        let Some(written) = text(node) else { return };
        let small = key.to_lowercase();
        let named = SECRET_WORDS.iter().any(|w| small.contains(w));
        let literal = !written.contains("${") && written.len() >= 8;
        let shaped =
            written.split_whitespace().any(|w| SECRET_STARTS.iter().any(|s| w.len() >= 16 && w.starts_with(s)));
        if shaped || (named && literal) {
            let text = format!("`{key}` of the server `{server}` looks like a credential: this file is shared");
            let message = Message::new(Level::Warning, "secret.in_mcp", text).at(node.at);
            self.messages.push(message.hint("name a variable instead: `${MY_TOKEN}`"));
        }
        let mut rest = written;
        while let Some((_, after)) = rest.split_once("${") {
            let Some((inside, behind)) = after.split_once('}') else {
                let text = format!("`{key}` of the server `{server}`: a `${{` is never closed");
                return self.say(Level::Error, "mcp.expansion", node.at, text);
            };
            self.variable(server, key, inside, node.at);
            rest = behind;
        }
    }

    fn variable(&mut self, server: &str, key: &str, inside: &str, at: Place) {
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(n, d)| (n, Some(d)));
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(word) || name.starts_with(|c: char| c.is_ascii_digit()) {
            let text = format!(
                "`{key}` of the server `{server}`: between `${{` and `}}` stands the name of a variable, or `NAME:-default`"
            );
            return self.say(Level::Error, "mcp.expansion", at, text);
        }
        if default.is_none() && !self.env.contains_key(name) {
            let text = format!("`{key}` of the server `{server}` needs the variable `{name}`, which is not set");
            self.say(Level::Warning, "mcp.unset", at, text);
        }
    }
}
