//! Names of tools in files: our own, and those of other products, in one table.

use super::findings::Findings;
use deputize_core::definition::decode::entry_parts;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::nearest::nearest;
use deputize_core::definition::spec::At;
use deputize_core::definition::{DELEGATE, ToolSpec};
use deputize_core::id::ToolName;
use std::collections::BTreeSet;

/// Our names of tools that a build may lack.
const ELSEWHERE: [&str; 4] = ["shell", "fetch", "web_search", "ask_user"];

/// Every foreign name and what it is here; nothing when it has no counterpart. A name that other products use more
/// broadly than we can split gets the narrower meaning.
const FOREIGN: &[(&str, &[&str])] = &[
    // Claude Code
    ("Read", &["read_file"]),
    ("Write", &["write_file"]),
    ("Edit", &["edit_file"]),
    ("MultiEdit", &["edit_file"]),
    ("LS", &["ls"]),
    ("Glob", &["glob"]),
    ("Grep", &["grep"]),
    ("Bash", &["shell"]),
    ("WebFetch", &["fetch"]),
    ("WebSearch", &["web_search"]),
    ("AskUserQuestion", &["ask_user"]),
    ("TodoWrite", &[]),
    ("TodoRead", &[]),
    ("NotebookEdit", &[]),
    ("NotebookRead", &[]),
    ("BashOutput", &[]),
    ("KillBash", &[]),
    ("KillShell", &[]),
    ("ExitPlanMode", &[]),
    ("EnterPlanMode", &[]),
    ("SlashCommand", &[]),
    ("Skill", &[]),
    ("TaskOutput", &[]),
    ("TaskStop", &[]),
    ("TaskCreate", &[]),
    ("TaskGet", &[]),
    ("TaskList", &[]),
    ("TaskUpdate", &[]),
    ("SendMessage", &[]),
    ("ToolSearch", &[]),
    ("LSP", &[]),
    ("ListMcpResourcesTool", &[]),
    ("ReadMcpResourceTool", &[]),
    // Copilot and VS Code
    ("search", &["grep", "glob"]),
    ("execute", &["shell"]),
    ("web", &["fetch", "web_search"]),
    ("todo", &[]),
    ("codebase", &["grep", "glob"]),
    ("editFiles", &["edit_file"]),
    ("createFile", &["write_file"]),
    ("readFile", &["read_file"]),
    ("listDirectory", &["ls"]),
    ("fileSearch", &["glob"]),
    ("textSearch", &["grep"]),
    ("runCommands", &["shell"]),
    ("runInTerminal", &["shell"]),
    ("powershell", &["shell"]),
    ("problems", &[]),
    ("usages", &[]),
    ("changes", &[]),
    ("runTests", &[]),
    // Gemini CLI
    ("read_many_files", &["read_file"]),
    ("replace", &["edit_file"]),
    ("list_directory", &["ls"]),
    ("search_file_content", &["grep"]),
    ("grep_search", &["grep"]),
    ("run_shell_command", &["shell"]),
    ("web_fetch", &["fetch"]),
    ("google_web_search", &["web_search"]),
    ("save_memory", &[]),
    ("write_todos", &[]),
    // opencode
    ("list", &["ls"]),
    ("patch", &["edit_file"]),
    ("question", &["ask_user"]),
];

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
        if small == DELEGATE {
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
