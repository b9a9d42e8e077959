//! `check`: what a run would load, what is wrong with it, and what it could use at most. Starts nothing.

use crate::ambient::Ambient;
use crate::args::{CheckArgs, TeamFlags};
use crate::exit::Exit;
use crate::out::{Out, one_line};
use crate::prepare;
use crate::wire;
use deputize_adapters::loader::{self, Listing, Loaded, Purpose, Setting};
use deputize_api::{CheckDoc, SCHEMA, text};
use deputize_core::definition::message::{Level, Message};
use std::fmt::Write as _;
use std::path::PathBuf;

/// Characters of a description in the list of agents.
const DESCRIPTION: usize = 72;

/// Characters of a key or value of the configuration.
const SETTING: usize = 200;

/// Checks every path on its own.
pub(crate) fn execute(args: CheckArgs, ambient: &Ambient, out: &Out) -> Exit {
    let CheckArgs { paths, team, explain_config } = args;
    let targets: Vec<Option<PathBuf>> =
        if paths.is_empty() { vec![None] } else { paths.into_iter().map(Some).collect() };
    let loaded: Vec<Loaded> = targets.into_iter().map(|target| load(ambient, &team, target)).collect();
    let errors = loaded.iter().flat_map(|l| &l.messages).any(|m| m.level == Level::Error);
    let explained = |one: &Loaded| if explain_config { settings(&one.settings) } else { String::new() };
    let shown: String = loaded.iter().map(|one| explained(one) + &report(one)).collect();
    if out.json() {
        out.document(&document(loaded, explain_config));
    } else {
        out.result(&shown);
    }
    if errors { Exit::Refused } else { Exit::Good }
}

/// Loads one target; what only shows when a provider is made is said, too.
fn load(ambient: &Ambient, flags: &TeamFlags, target: Option<PathBuf>) -> Loaded {
    let mut loaded = prepare::load(ambient, flags, target, Purpose::Check);
    let Some(setup) = &loaded.setup else { return loaded };
    let faults = wire::provider_faults(setup, ambient);
    if !faults.is_empty() {
        loaded.setup = None;
    }
    for (name, fault) in faults {
        let message = Message::new(Level::Error, "provider.invalid", format!("provider `{name}`: {fault}"));
        loaded.messages.push(match loaded.places.get(&format!("providers.{name}")) {
            Some((file, at)) => message.file(file).at(*at),
            None => message,
        });
    }
    loaded
}

fn document(loaded: Vec<Loaded>, explain: bool) -> CheckDoc<Listing, Message, Setting> {
    let (mut agents, mut messages, mut settings) = (Vec::new(), Vec::new(), Vec::new());
    for one in loaded {
        agents.extend(one.agents);
        messages.extend(one.messages);
        settings.extend(one.settings);
    }
    messages.sort_by(|a: &Message, b| (&a.file, a.line, &a.code).cmp(&(&b.file, b.line, &b.code)));
    CheckDoc { schema: SCHEMA, agents, messages, config: explain.then_some(settings) }
}

/// `key = value   # where from`, a line each.
fn settings(settings: &[Setting]) -> String {
    let line = |s: &Setting| {
        let place = s.file.as_ref().map(|file| format!("{file}:{}", s.line.unwrap_or(1)));
        let from = match (s.from, &s.name, place) {
            (from, Some(name), _) => format!("{from} {name}"),
            (_, None, Some(place)) => place,
            (from, None, None) => from.to_string(),
        };
        format!(
            "{} = {}  # {}\n",
            one_line(&s.key, SETTING),
            one_line(&s.value.to_string(), SETTING),
            one_line(&from, SETTING)
        )
    };
    settings.iter().map(line).collect()
}

fn report(loaded: &Loaded) -> String {
    let mut out: String = loaded.messages.iter().map(|m| loader::render(m, &loaded.sources)).collect();
    if let Some(setup) = &loaded.setup {
        let foreign = if setup.foreign { ", no deputize.yaml: under the ceiling `workspace`" } else { "" };
        let _ = writeln!(out, "team {}: the root is {}{foreign}", setup.team.name, setup.team.root);
        loaded.agents.iter().for_each(|agent| agent_lines(&mut out, agent));
        let _ = writeln!(out, "{}", worst_case(setup.team.budget));
    }
    let count = |level: Level| loaded.messages.iter().filter(|m| m.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    let verdict = if errors == 0 { "no errors".to_string() } else { many(errors, "error") };
    let _ = writeln!(out, "{verdict}, {}", many(warnings, "warning"));
    out
}

fn agent_lines(out: &mut String, agent: &Listing) {
    let place = agent.file.as_deref().unwrap_or("built in");
    let _ = writeln!(out, "  {}  {}  ({place})", agent.name, one_line(&agent.description, DESCRIPTION));
    let list = |names: &[String]| if names.is_empty() { "none".to_string() } else { names.join(", ") };
    let _ = writeln!(out, "    tools: {}", list(&agent.tools_resolved));
    if !agent.permissions.is_empty() {
        let lists: Vec<String> = agent.permissions.as_slice().iter().map(|layer| layer.source.to_string()).collect();
        let _ = writeln!(out, "    rules on paths: of {}; the strictest wins", lists.join(", of "));
    }
    if !agent.agents.is_empty() {
        let _ = writeln!(out, "    agents: {}", list(&agent.agents));
    }
}

/// What a run of this team can use at most.
fn worst_case(budget: deputize_core::budget::Budgets) -> String {
    let tree = budget.tree;
    let tokens = tree.tokens.map_or("no cap".to_string(), text::count);
    let runs = tree.runs.map_or("no cap".to_string(), |n| n.to_string());
    format!(
        "at most {tokens} tokens, {runs} runs, depth {}, {} at a time; plus what is under way when a cap trips",
        budget.depth, budget.concurrency
    )
}

fn many(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
