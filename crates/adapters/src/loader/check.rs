//! What can be said of a whole team before it runs: who is reached and how deep, what each agent holds, what no agent can
//! ever do.

use super::agents::{Agent, Agents};
use super::findings::Findings;
use super::root::BUILTIN;
use super::setup::Listing;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::resolve::Held;
use deputize_core::definition::spec::Choice;
use deputize_core::definition::{Team, ToolChoice};
use deputize_core::id::{AgentName, ToolName};
use deputize_core::policy::{Layers, Source};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Where an agent stands in the tree: on the shortest way from the root.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    depth: u32,
    held: Held,
}

/// Walks the team from its root, breadth first, in the order in which agents are listed.
pub(super) fn stands(team: &Team) -> BTreeMap<AgentName, Stand> {
    let mut stands = BTreeMap::new();
    let mut queue = VecDeque::from([(team.root.clone(), 0, team.above_root())]);
    while let Some((name, depth, above)) = queue.pop_front() {
        let Some(agent) = team.agents.get(&name) else { continue };
        if stands.contains_key(&name) {
            continue;
        }
        let held = team.held(agent, &above);
        queue.extend(agent.agents.iter().map(|a| (a.clone(), depth + 1, held.clone())));
        stands.insert(name, Stand { depth, held });
    }
    stands
}

/// What an agent holds; one that nobody reaches is looked at as if it were the root.
fn held(team: &Team, stands: &BTreeMap<AgentName, Stand>, agent: &Agent) -> Held {
    match stands.get(&agent.spec.definition.name) {
        Some(stand) => stand.held.clone(),
        None => team.held(&agent.spec.definition, &team.above_root()),
    }
}

/// Everything that is worth saying about the tree.
pub(super) fn lint(team: &Team, agents: &Agents, stands: &BTreeMap<AgentName, Stand>, findings: &mut Findings) {
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    for agent in agents.loaded.iter().filter(|a| a.source != BUILTIN) {
        let definition = &agent.spec.definition;
        let at =
            |level, code: &str, text: String| Message::new(level, code, text).file(&agent.file).at(agent.name_at());
        match stands.get(&definition.name) {
            Some(stand) if stand.depth > team.budget.depth => {
                let text = format!(
                    "`{}` is {} levels below the root, and only {} may run",
                    agent.name(),
                    stand.depth,
                    team.budget.depth
                );
                findings.push(at(Level::Warning, "agent.too_deep", text));
            }
            None if team.agents.contains_key(&team.root) => {
                let text = format!(
                    "`{}` is never reached: no agent below the root `{}` may delegate to it",
                    agent.name(),
                    team.root
                );
                findings.push(at(Level::Warning, "agent.unreachable", text));
            }
            _ => {}
        }
        for kind in &definition.task_types {
            if let Some(first) = types.insert(kind, agent.name()) {
                let text = format!(
                    "the task type `{kind}` is that of `{first}`, too: a brief by task type alone cannot choose"
                );
                findings.push(at(Level::Warning, "task_type.shared", text));
            }
        }
        let held = held(team, stands, agent);
        let asks = definition.tools == ToolChoice::All
            || matches!(&definition.tools, ToolChoice::Listed(list) if !list.is_empty());
        if asks && held.tools.is_empty() && !team.ceiling.is_empty() {
            let text = format!(
                "`{}` names tools and may call none: whoever delegates to it may pass none of them on",
                agent.name()
            );
            findings.push(at(Level::Warning, "tools.none_left", text));
        }
        if definition.grant.is_some() && definition.agents.is_empty() {
            let text = format!("`grant` of `{}` has no effect: it delegates to nobody", agent.name());
            findings.push(at(Level::Warning, "key.no_effect", text));
        }
        defaults(agent, &held, findings);
    }
}

fn names(tools: &[ToolName]) -> String {
    match tools {
        [] => "no tool".into(),
        some => some.iter().map(ToolName::as_str).collect::<Vec<_>>().join(", "),
    }
}

/// Says what an agent gets where its file is silent, so that nothing is inherited unseen.
fn defaults(agent: &Agent, held: &Held, findings: &mut Findings) {
    let spec = &agent.spec;
    let definition = &spec.definition;
    let mut said = Vec::new();
    let mut silent = |key: &str, absent: bool, value: &str| {
        if absent {
            said.push(format!("{key} {value}"));
        }
    };
    silent("model", spec.model.is_none(), "of the delegating agent");
    silent("context", true, "isolated");
    silent("pattern", true, &definition.pattern);
    silent("composition", true, spec.composition);
    silent("memory", true, "private");
    silent("output", definition.output.is_none(), "{result: text}");
    silent("success", definition.success.is_none(), "from the brief");
    silent("budget", definition.budget == Default::default(), "budget.run");
    silent("grant", definition.grant.is_none(), &names(&held.grant));
    let message = Message::new(Level::Info, "agent.defaults", format!("`{}` has: {}", agent.name(), said.join("; ")));
    findings.push(message.file(&agent.file).at(agent.name_at()));
    if definition.tools == ToolChoice::Inherit {
        let text = format!("`{}` names no `tools` and gets {}", agent.name(), names(&held.tools));
        let message = Message::new(Level::Info, "tools.inherit", text).file(&agent.file).at(agent.name_at());
        findings.push(message.hint("`tools: [...]` gives it others, `tools: []` none"));
    }
}

/// The agents of files as `check --json` lists them, by name. A built-in root is named in a message instead.
pub(super) fn listings(
    team: &Team,
    agents: &Agents,
    stands: &BTreeMap<AgentName, Stand>,
    rules: &BTreeMap<AgentName, Layers>,
) -> Vec<Listing> {
    let written = agents.loaded.iter().filter(|a| a.source != BUILTIN);
    let mut listings: Vec<Listing> = written
        .map(|a| {
            let alone = team.layers.with(a.spec.definition.layer());
            let rules = rules.get(&a.spec.definition.name).unwrap_or(&alone).as_slice().iter();
            let written = rules.filter(|layer| layer.source != Source::Ceiling).cloned();
            listing(a, &held(team, stands, a), Layers::new(written))
        })
        .collect();
    listings.sort_by(|a, b| a.name.cmp(&b.name));
    listings
}

fn listing(agent: &Agent, held: &Held, permissions: Layers) -> Listing {
    let spec = &agent.spec;
    let definition = &spec.definition;
    let texts = |tools: &[ToolName]| tools.iter().map(|t| t.as_str().to_string()).collect();
    Listing {
        name: agent.name().to_string(),
        name_as_written: agent.written().to_string(),
        description: definition.description.clone(),
        tools: match &spec.tools {
            None => Value::Null,
            Some(Choice::All(_)) => json!("all"),
            Some(Choice::Listed(_)) => json!(spec.tools_written),
        },
        tools_resolved: texts(&held.tools),
        disallowed: spec.disallowed_written.clone(),
        grant: texts(&held.grant),
        agents: definition.agents.iter().map(|a| a.as_str().to_string()).collect(),
        model: spec.model.as_ref().map(|m| m.value.clone()),
        max_turns: definition.budget.turns,
        permissions,
        skills: spec.skills.clone(),
        body: definition.body.clone(),
        file: agent.path.as_ref().map(|_| agent.file.clone()),
        source: agent.source.clone(),
        repaired: agent.repaired,
    }
}
