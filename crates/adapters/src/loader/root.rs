//! Which agent a run starts with, by five rules, and the two built-in agents that step in when no file is one.

use super::agents::{self, Agent, Agents};
use super::assemble::unknown;
use super::findings::Findings;
use super::project::Project;
use super::request::Purpose;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::name;
use deputize_core::definition::spec::At;
use deputize_core::definition::{ToolChoice, spec::Choice};
use deputize_core::id::AgentName;
use std::path::Path;

const SUPERVISOR: &str = include_str!("builtin/root.md");
const GENERAL: &str = include_str!("builtin/general.md");
/// The origin of a built-in agent.
pub(super) const BUILTIN: &str = "builtin";

/// Who asks for a root, in order of precedence.
pub(super) struct Wishes<'a> {
    pub(super) flag: Option<&'a str>,
    pub(super) project: &'a Project,
    pub(super) config: Option<&'a At<String>>,
    pub(super) config_file: &'a str,
    pub(super) purpose: Purpose,
}

/// Chooses the root; adds a built-in agent when it must. Says which rule chose.
pub(super) fn choose(wishes: &Wishes<'_>, agents: &mut Agents, findings: &mut Findings) -> Option<AgentName> {
    let names: Vec<AgentName> = agents.loaded.iter().map(|a| a.spec.definition.name.clone()).collect();
    let (name, why) = match asked(wishes, agents, &names, findings) {
        Asked::Found(name, why) => (name, why),
        Asked::Missing => return None,
        Asked::Nobody => {
            // Concluding from the files that happened to load would say something false about the team.
            let complete = agents.complete();
            let (name, why) = match only_lead(agents) {
                Some(name) => (name, "it is the only agent with `agents` that no other agent lists".to_string()),
                None => built_in(agents, &names)?,
            };
            if !complete {
                return Some(name);
            }
            (name, why)
        }
    };
    findings.info("root.chosen", format!("the root is `{name}`: {why}"));
    Some(name)
}

enum Asked {
    Found(AgentName, String),
    Missing,
    Nobody,
}

fn asked(wishes: &Wishes<'_>, agents: &Agents, names: &[AgentName], findings: &mut Findings) -> Asked {
    if let Some(flag) = wishes.flag {
        return match name::find(flag, names) {
            Some(name) => Asked::Found(name.clone(), "the flag `--agent` names it".into()),
            None => {
                if !agents.has_failed(flag) {
                    findings.push(unknown(flag, names));
                }
                Asked::Missing
            }
        };
    }
    if let Some(file) = &wishes.project.file {
        let of = |a: &&Agent| a.path.as_ref() == Some(file);
        return match agents.loaded.iter().find(of) {
            Some(agent) => Asked::Found(agent.spec.definition.name.clone(), "its file was named".into()),
            None => {
                no_agent(&findings.shown(file), wishes.purpose, findings);
                Asked::Missing
            }
        };
    }
    let Some(At { value, at }) = wishes.config else { return Asked::Nobody };
    match name::find(value, names) {
        Some(name) => Asked::Found(name.clone(), "`root` of the configuration names it".into()),
        None => {
            if !agents.has_failed(value) {
                let message = unknown(value, names).file(wishes.config_file).at(*at);
                findings.push(Message { code: "root.unknown".into(), ..message });
            }
            Asked::Missing
        }
    }
}

/// A file that was skipped or shadowed: no error by itself, and one for a run that should start with it.
fn no_agent(file: &str, purpose: Purpose, findings: &mut Findings) {
    if !findings.is_bad(file) {
        let level = if purpose == Purpose::Run { Level::Error } else { Level::Warning };
        let text = "this file gives no agent, so no run can start with it";
        findings.push(Message::new(level, "root.unknown", text).file(file));
    }
}

/// The only agent with `agents` whom no other agent lists.
fn only_lead(agents: &Agents) -> Option<AgentName> {
    let definitions = || agents.loaded.iter().map(|a| &a.spec.definition);
    let listed = |name: &AgentName| definitions().any(|d| &d.name != name && d.agents.contains(name));
    let mut leads = definitions().filter(|d| !d.agents.is_empty() && !listed(&d.name));
    match (leads.next(), leads.next()) {
        (Some(only), None) => Some(only.name.clone()),
        _ => None,
    }
}

fn built_in(agents: &mut Agents, names: &[AgentName]) -> Option<(AgentName, String)> {
    let (text, why) = match names.len() {
        0 => (GENERAL, "there is no agent file, so the built-in single agent works alone".to_string()),
        n => (SUPERVISOR, format!("the built-in supervisor, over all {n} agents")),
    };
    // The texts are ours and a test reads them; whatever they said would not be about the person's files.
    let mut quiet = Findings::new(Path::new("/"));
    let from = agents::From { file: BUILTIN, path: Path::new(BUILTIN), dialect: None };
    let mut agent = agents::parse(&from, text, &mut quiet, &mut Vec::new())?;
    agent.source = BUILTIN.into();
    let definition = &mut agent.spec.definition;
    while names.contains(&definition.name) {
        definition.name = AgentName::new(format!("{}-2", definition.name));
    }
    if matches!(agent.spec.agents, Some(Choice::All(_))) {
        let offered = |name: &&AgentName| agents.loaded.iter().any(|a| a.offered() && a.name() == name.as_str());
        definition.agents = names.iter().filter(offered).cloned().collect();
    }
    if matches!(agent.spec.tools, Some(Choice::All(_))) {
        definition.tools = ToolChoice::All;
    }
    let name = definition.name.clone();
    agents.loaded.push(agent);
    Some((name, why))
}
