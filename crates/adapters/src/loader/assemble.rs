//! From what agent files say to definitions: tools by our names, output schemas read, agents by the names that loaded.

use super::agents::{Agent, Agents};
use super::files;
use super::findings::Findings;
use super::paths;
use super::tools::{Catalog, In, resolve};
use deputize_core::definition::decode::object_schema;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::name;
use deputize_core::definition::nearest::nearest;
use deputize_core::definition::spec::{At, Choice};
use deputize_core::definition::{ToolChoice, ToolSpec};
use deputize_core::id::{AgentName, ToolName};
use deputize_core::step::EffectClass;
use std::path::Path;

/// The ceiling of a team that names none.
const CEILING: [&str; 6] = ["ls", "read_file", "glob", "grep", "write_file", "edit_file"];

/// The ceiling by our names.
pub(super) fn ceiling(
    catalog: &Catalog<'_>,
    written: Option<&[At<String>]>,
    file: &str,
    findings: &mut Findings,
) -> Vec<ToolName> {
    match written {
        Some(list) => resolve(catalog, None, list, In::Given, findings, file),
        None => CEILING.iter().filter(|t| catalog.has(t)).map(ToolName::new).collect(),
    }
}

/// Fills in the tools and the output schema of every agent.
pub(super) fn definitions(agents: &mut Agents, specs: &[ToolSpec], ceiling: &[ToolName], findings: &mut Findings) {
    let catalog = Catalog::new(specs);
    for agent in &mut agents.loaded {
        tools(agent, &catalog, specs, ceiling, findings);
        output(agent, findings);
    }
}

fn tools(agent: &mut Agent, catalog: &Catalog<'_>, specs: &[ToolSpec], ceiling: &[ToolName], findings: &mut Findings) {
    let file = agent.file.clone();
    let spec = &mut agent.spec;
    spec.definition.disallowed = resolve(catalog, None, &spec.disallowed, In::Taken, findings, &file);
    spec.definition.grant = match &spec.grant {
        None => None,
        Some(Choice::All(_)) => Some(ceiling.to_vec()),
        Some(Choice::Listed(list)) => Some(resolve(catalog, Some(ceiling), list, In::Given, findings, &file)),
    };
    let list = match &spec.tools {
        None => return,
        Some(Choice::All(_)) => {
            spec.definition.tools = ToolChoice::All;
            return;
        }
        Some(Choice::Listed(list)) => resolve(catalog, Some(ceiling), list, In::Given, findings, &file),
    };
    let reads = |t: &ToolName| specs.iter().any(|s| &s.name == t && s.effect == EffectClass::ReadOnly);
    let definition = &spec.definition;
    let kept = |t: &&ToolName| !definition.disallowed.contains(t) && (!definition.read_only || reads(t));
    let empty = list.iter().filter(kept).count() == 0;
    // A list that names agents alone asks for no tool.
    let wanted = matches!(&spec.tools, Some(Choice::Listed(l)) if !l.is_empty());
    if empty && wanted {
        let names: Vec<String> = spec.tools_written.iter().map(|t| format!("`{t}`")).collect();
        let text = format!("nothing is left of `tools`: of {} this agent could call none", names.join(", "));
        let message = Message::new(Level::Error, "tools.empty", text).file(&file);
        let hint = "name a tool that is there, or write `tools: []` for an agent without tools";
        findings.push(message.at(spec.tools_at.unwrap_or_default()).hint(hint));
    }
    spec.definition.tools = ToolChoice::Listed(list);
}

/// Reads the schema that `output: FILE` names, relative to the agent file.
fn output(agent: &mut Agent, findings: &mut Findings) {
    let (Some(At { value, at }), Some(path)) = (&agent.spec.output_path, &agent.path) else { return };
    let path = paths::join(path.parent().unwrap_or(Path::new("")), value);
    let complaint = |text: String| Message::new(Level::Error, "output.schema", text).file(&agent.file).at(*at);
    let read = files::read(&path)
        .map_err(|m| m.text)
        .and_then(|text| serde_json::from_str(&text).map_err(|e| format!("it is no JSON: {e}")));
    match read.and_then(|schema| object_schema(&schema).map(|()| schema)) {
        Ok(schema) => agent.spec.definition.output = Some(schema),
        Err(why) => findings.push(complaint(format!("`output: {value}`: {why}"))),
    }
}

/// Turns the agents that each file names into names that loaded.
pub(super) fn link(agents: &mut Agents, findings: &mut Findings) {
    let names: Vec<AgentName> = agents.loaded.iter().map(|a| a.spec.definition.name.clone()).collect();
    let offered: Vec<AgentName> =
        agents.loaded.iter().filter(|a| a.offered()).map(|a| a.spec.definition.name.clone()).collect();
    let Agents { loaded, failed } = agents;
    let failed = |wanted: &str| failed.iter().any(|f| name::find_among(wanted, [(f.as_str(), ())]).is_some());
    for agent in loaded {
        let own = agent.spec.definition.name.clone();
        let mut linked: Vec<AgentName> = match &agent.spec.agents {
            None => Vec::new(),
            Some(Choice::All(_)) => offered.iter().filter(|n| **n != own).cloned().collect(),
            Some(Choice::Listed(list)) => {
                let mut found = Vec::new();
                for wanted in list {
                    match name::find(&wanted.value, &names) {
                        Some(name) => found.push(name.clone()),
                        None if failed(&wanted.value) => {}
                        None => findings.push(unknown(&wanted.value, &names).file(&agent.file).at(wanted.at)),
                    }
                }
                found
            }
        };
        for denied in &agent.spec.agents_denied {
            if let Some(denied) = name::find(denied, &names) {
                linked.retain(|n| n != denied);
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        linked.retain(|n| seen.insert(n.clone()));
        agent.spec.definition.agents = linked;
    }
}

/// The complaint about an agent that did not load.
pub(super) fn unknown(wanted: &str, names: &[AgentName]) -> Message {
    let message = Message::new(Level::Error, "agent.unknown", format!("there is no agent `{wanted}`"));
    match nearest(wanted, names.iter().map(AgentName::as_str)) {
        Some(near) => message.hint(format!("did you mean `{near}`?")),
        None if names.is_empty() => message.hint("no agent was loaded"),
        None => {
            let some: Vec<&str> = names.iter().map(AgentName::as_str).take(12).collect();
            message.hint(format!("the agents are {}", some.join(", ")))
        }
    }
}
