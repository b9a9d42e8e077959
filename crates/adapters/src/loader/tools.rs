//! Names of tools in files: our own, and those of other products, in one table.

use super::config::Config;
use super::findings::Findings;
use super::tool_names::FOREIGN;
use deputize_core::definition::decode::entry_parts;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::nearest::nearest;
use deputize_core::definition::spec::At;
use deputize_core::definition::{DELEGATE, ToolSpec};
use deputize_core::id::ToolName;
use std::collections::BTreeSet;

/// Our names of tools that a build may lack.
const ELSEWHERE: [&str; 4] = ["shell", "fetch", "web_search", "ask_user"];

fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// What an entry of a list of tools means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// These tools of ours.
    Tools(Vec<String>),
    /// Known, and nothing here does it.
    NoCounterpart,
    /// A tool of a connector.
    Connector,
    /// The tool `delegate`, which comes with `agents`.
    Delegate,
    /// Not known; the nearest name, if any is near.
    Unknown(Option<String>),
}

/// The tools that this build can perform, and what names mean.
pub(super) struct Catalog<'a> {
    specs: &'a [ToolSpec],
}

impl<'a> Catalog<'a> {
    pub(super) fn new(specs: &'a [ToolSpec]) -> Catalog<'a> {
        Catalog { specs }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.specs.iter().any(|s| s.name.as_str() == name)
    }

    /// The tools of ours that a pattern means, by their names here or elsewhere.
    fn matching(&self, pattern: &str) -> Vec<String> {
        let own = self.specs.iter().map(|s| s.name.as_str()).chain(ELSEWHERE);
        let elsewhere =
            FOREIGN.iter().filter(|(name, _)| fits(pattern, name)).flat_map(|(_, ours)| ours.iter().copied());
        own.filter(|name| fits(pattern, name)).chain(elsewhere).map(str::to_string).collect()
    }

    fn names(&self) -> Vec<String> {
        self.specs.iter().map(|s| s.name.as_str().to_string()).collect()
    }

    /// What a name without brackets means: exactly, else without case, `-` and `_`.
    pub(super) fn meaning(&self, name: &str) -> Meaning {
        let own = || self.specs.iter().map(|s| s.name.as_str()).chain(ELSEWHERE);
        if let Some(name) = own().find(|o| *o == name) {
            return Meaning::Tools(vec![name.to_string()]);
        }
        let of = |ours: &[&str]| match ours {
            [] => Meaning::NoCounterpart,
            some => Meaning::Tools(some.iter().map(ToString::to_string).collect()),
        };
        if let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
            return of(ours);
        }
        let small = folded(name);
        if small == DELEGATE || small == "runsubagent" {
            return Meaning::Delegate;
        }
        if let Some(name) = own().find(|o| folded(o) == small) {
            return Meaning::Tools(vec![name.to_string()]);
        }
        if let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| folded(foreign) == small) {
            return of(ours);
        }
        match name.rsplit_once('/') {
            // Copilot groups its own tools (`search/codebase`) and those of connectors (`github/*`) alike.
            Some((_, last)) if matches!(self.meaning(last), Meaning::Tools(_) | Meaning::NoCounterpart) => {
                self.meaning(last)
            }
            Some(_) => Meaning::Connector,
            None if name.starts_with("mcp_") => Meaning::Connector,
            None => Meaning::Unknown(nearest(name, own().chain(FOREIGN.iter().map(|f| f.0))).map(str::to_string)),
        }
    }
}

/// Whether a name fits a pattern in which `*` stands for any letters.
fn fits(pattern: &str, name: &str) -> bool {
    let (mut pieces, mut rest) = (pattern.split('*'), name);
    let Some(after) = pieces.next().and_then(|first| rest.strip_prefix(first)) else { return false };
    rest = after;
    for piece in pieces {
        match rest.find(piece).and_then(|at| rest.get(at + piece.len()..)) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    rest.is_empty() || pattern.ends_with('*') || pattern.rsplit('*').next().is_some_and(|end| name.ends_with(end))
}

/// Which list an entry stands in: what is missing there widens or narrows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum In {
    /// What an agent may call, pass on, or the ceiling.
    Given,
    /// What is taken away.
    Taken,
}

/// Resolves a list to our names, each once, in the order of the list; says what cannot be had.
pub(super) fn resolve(
    catalog: &Catalog<'_>,
    ceiling: Option<&[ToolName]>,
    list: &[At<String>],
    place: In,
    findings: &mut Findings,
    file: &str,
) -> Vec<ToolName> {
    let mut seen = BTreeSet::new();
    let mut tools = Vec::new();
    for entry in list {
        let mut say = |level, code: &str, text: String| {
            findings.push(Message::new(level, code, text).file(file).at(entry.at));
        };
        let (name, inside) = entry_parts(&entry.value);
        let restricted = !inside.is_empty() && inside != "*";
        let meant = match catalog.meaning(name) {
            // What a pattern takes away is everything that it matches here.
            Meaning::Unknown(_) if place == In::Taken && name.contains('*') => catalog.matching(name),
            Meaning::Tools(_) if restricted && place == In::Given => {
                let text =
                    format!("`{}`: a tool limited by brackets is not in this build, so it is not given", entry.value);
                say(Level::Warning, "tool.unavailable", text);
                continue;
            }
            Meaning::Tools(names) => names,
            other => {
                let (level, code, text) = missing(&other, &entry.value);
                say(level, code, text);
                continue;
            }
        };
        if meant.is_empty() {
            say(Level::Info, "tool.no_counterpart", format!("`{}` matches no tool here", entry.value));
        }
        for name in meant {
            let outside = ceiling.is_some_and(|c| c.iter().all(|t| t.as_str() != name));
            if place == In::Given && !catalog.has(&name) {
                let is = if name == entry.value { String::new() } else { format!("is {name}, which ") };
                say(Level::Warning, "tool.unavailable", format!("`{}` {is}is not in this build", entry.value));
            } else if place == In::Given && outside {
                let text = format!("`{}` is beyond the ceiling of the team (`tools` of `deputize.yaml`)", entry.value);
                say(Level::Warning, "tool.ceiling", text);
            } else if seen.insert(name.clone()) {
                tools.push(ToolName::new(name));
            }
        }
    }
    tools
}

fn missing(meaning: &Meaning, written: &str) -> (Level, &'static str, String) {
    match meaning {
        Meaning::NoCounterpart => {
            (Level::Info, "tool.no_counterpart", format!("`{written}` has no counterpart here and is left out"))
        }
        Meaning::Connector => (
            Level::Warning,
            "tool.unavailable",
            format!("`{written}` is a connector's tool; connectors are not in this build"),
        ),
        Meaning::Delegate => (
            Level::Warning,
            "tool.unknown",
            format!("`{written}` comes with `agents: [...]` and is not listed as a tool"),
        ),
        Meaning::Unknown(Some(near)) => {
            (Level::Warning, "tool.unknown", format!("there is no tool `{written}`; the nearest is `{near}`"))
        }
        Meaning::Unknown(None) | Meaning::Tools(_) => {
            (Level::Warning, "tool.unknown", format!("there is no tool `{written}`"))
        }
    }
}

/// Complains about time limits of tools that are none: a limit that never holds is worse than none.
pub(super) fn timed(catalog: &Catalog<'_>, config: &Config, findings: &mut Findings) {
    let Some(timeouts) = &config.spec.tool_timeout else { return };
    for tool in timeouts.by_tool.keys().map(ToolName::as_str) {
        if catalog.has(tool) || ELSEWHERE.contains(&tool) {
            continue;
        }
        let text = format!("`tool_timeout`: there is no tool `{tool}`");
        let at = config.places.get(&format!("tool_timeout.{tool}")).copied().unwrap_or_default();
        let message = Message::new(Level::Error, "tool.unknown", text).file(&config.file).at(at);
        findings.push(match catalog.meaning(tool) {
            Meaning::Tools(ours) => message.hint(format!("write {}", quoted(&ours))),
            Meaning::Unknown(Some(near)) => message.hint(format!("did you mean `{near}`?")),
            _ => message.hint(format!("the tools are {}", quoted(&catalog.names()))),
        });
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}
