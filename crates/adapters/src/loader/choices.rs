//! What can be said of the lists of agents that agents choose from, by their descriptions alone: too many, too long, too
//! much alike.

use super::agents::{Agent, Agents};
use super::config::Config;
use super::findings::Findings;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::{LISTED_DESCRIPTION, Team};
use std::collections::{BTreeMap, BTreeSet};

/// More agents in one list than a model chooses well from; the default cap on children.
const MANY: usize = 20;
/// Characters of all descriptions of one list, as it shows them, beyond which it is worth a look: some 4,000 tokens that
/// every request of the agent carries.
const LONG: usize = 16_000;
/// How much of the words of two descriptions together must be in both to call them alike, in percent.
const ALIKE: usize = 60;
/// Fewer different words say too little to be compared.
const FEW: usize = 4;
/// The same when all of them are the same.
const SAME: usize = 2;
/// Agents of one list that are compared with each other. With more of them `agent.many` is the thing to look at.
const COMPARED: usize = 100;
/// The default depth; what lies deeper costs more in briefs and summaries than it gives.
const DEEP: u32 = 3;

/// Looks at the list of every agent that has one.
pub(super) fn lint(team: &Team, agents: &Agents, findings: &mut Findings) {
    let by_name: BTreeMap<&str, &Agent> = agents.loaded.iter().map(|a| (a.name(), a)).collect();
    let mut said = BTreeSet::new();
    let mut cut = BTreeSet::new();
    for parent in agents.loaded.iter().filter(|a| !a.spec.definition.agents.is_empty()) {
        let listed: Vec<&Agent> =
            parent.spec.definition.agents.iter().filter_map(|n| by_name.get(n.as_str()).copied()).collect();
        if team.agents.contains_key(&parent.spec.definition.name) {
            sizes(parent, &listed, findings);
        }
        cut.extend(
            listed.iter().map(|a| a.name()).filter(|n| by_name.get(n).is_some_and(|a| length(a) > LISTED_DESCRIPTION)),
        );
        alike(parent, &listed, &mut said, findings);
    }
    for name in cut {
        let Some(agent) = by_name.get(name) else { continue };
        let text = format!(
            "the description of `{name}` has {} characters; lists of agents show the first {LISTED_DESCRIPTION}",
            length(agent)
        );
        findings.push(about(agent, Level::Info, "description.cut", text));
    }
}

fn about(agent: &Agent, level: Level, code: &str, text: String) -> Message {
    let message = Message::new(level, code, text);
    match agent.path {
        Some(_) => message.file(&agent.file).at(agent.name_at()),
        None => message,
    }
}

fn length(agent: &Agent) -> usize {
    agent.spec.definition.description.trim().chars().count()
}

fn sizes(parent: &Agent, listed: &[&Agent], findings: &mut Findings) {
    let count = listed.len();
    if count > MANY {
        let text = format!("`{}` chooses among {count} agents; beyond {MANY} models choose badly", parent.name());
        findings.push(about(parent, Level::Warning, "agent.many", text));
    }
    let long: usize = listed.iter().map(|a| length(a).min(LISTED_DESCRIPTION)).sum();
    if long > LONG {
        let text = format!(
            "the list that `{}` chooses from has {long} characters of descriptions, and each of its requests carries them",
            parent.name()
        );
        findings.push(
            about(parent, Level::Warning, "agent.list_long", text).hint("say in one sentence what each agent is for"),
        );
    }
}

/// The different words of a text: small letters and digits.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.map(str::to_lowercase).collect()
}

fn alike<'a>(parent: &Agent, listed: &[&'a Agent], said: &mut BTreeSet<(&'a str, &'a str)>, findings: &mut Findings) {
    let compared: Vec<(&Agent, BTreeSet<String>)> =
        listed.iter().take(COMPARED).map(|a| (*a, words(&a.spec.definition.description))).collect();
    for (index, (second, theirs)) in compared.iter().enumerate() {
        let earlier = compared.iter().take(index).filter(|(_, ours)| similar(ours, theirs));
        let pair = |first: &'a str| (first.min(second.name()), first.max(second.name()));
        let firsts: Vec<&str> =
            earlier.map(|(first, _)| first.name()).filter(|first| said.insert(pair(first))).collect();
        // One message an agent: a folder of a hundred variations of one text would else be said in five thousand.
        let Some((first, more)) = firsts.split_first() else { continue };
        let more = if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
        let text = format!(
            "`{first}`{more} and `{}`, among which `{}` chooses, are described with nearly the same words",
            second.name(),
            parent.name()
        );
        let message = about(second, Level::Warning, "agent.overlap", text);
        findings.push(message.hint("say in each description what the other one is not for"));
    }
}

/// Whether two descriptions share most of their words, and have enough of them to tell.
fn similar(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> bool {
    let both = ours.intersection(theirs).count();
    let all = ours.len() + theirs.len() - both;
    let least = if ours == theirs { SAME } else { FEW };
    ours.len().min(theirs.len()) >= least && both * 100 >= all * ALIKE
}

/// Depth beyond the default is said.
pub(super) fn deep(team: &Team, config: &Config, findings: &mut Findings) {
    if team.budget.depth <= DEEP {
        return;
    }
    let text = format!(
        "{} levels may run below the root; each level beyond {DEEP} adds briefs and summaries",
        team.budget.depth
    );
    let message = Message::new(Level::Warning, "budget.deep", text);
    findings.push(match config.places.get("budget.tree.depth") {
        Some(at) => message.file(&config.file).at(*at),
        None => message,
    });
}
