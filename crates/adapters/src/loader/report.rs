//! What is said and done about a foreign folder: one without a `deputize.yaml` runs under the ceiling `workspace`.

use super::agents::Agents;
use super::findings::Findings;
use super::request::LoadRequest;
use super::tools::{Catalog, Meaning};
use deputize_core::budget::Budgets;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::{Operation, Permission, Profile};
use deputize_core::policy::{Access, Glob, Layer, Layers, Rule, Source, Use};
use std::collections::{BTreeMap, BTreeSet};

/// What the flag `--allow` may lift in this build.
const WRITE: &str = "write";

/// What the policy says to operations, and in a foreign folder its rules on paths, after `--allow`.
pub(super) fn permissions(
    request: &LoadRequest,
    foreign: bool,
    findings: &mut Findings,
) -> (BTreeMap<Operation, Permission>, Option<Layer>) {
    let mut write = false;
    for allowed in &request.overrides.allow {
        if allowed == WRITE {
            write = true;
            continue;
        }
        let text = format!("`--allow {allowed}` is not in this build; it has `--allow write`");
        findings.push(Message::new(Level::Error, "flag.unsupported", text));
    }
    if !foreign {
        if write {
            let text =
                "`--allow write` has no effect: this folder has a deputize.yaml, whose `tools` say what agents may do";
            findings.push(Message::new(Level::Warning, "flag.no_effect", text));
        }
        return (BTreeMap::new(), None);
    }
    let rule = |access, mode, reason: Option<&str>| {
        let (operations, paths, reason) = (vec![access], vec![Glob::everything()], reason.map(str::to_string));
        Rule { operations, paths, mode, reason }
    };
    let (writing, why) = match write {
        true => (Permission::Allow, None),
        false => (Permission::Ask, Some("this folder has no deputize.yaml; `--allow write` allows it")),
    };
    let rules = vec![rule(Access::Read, Permission::Allow, None), rule(Access::Write, writing, why)];
    let operations = BTreeMap::from([(Operation::Shell, Permission::Deny), (Operation::Net, Permission::Deny)]);
    (operations, Some(Layer { source: Source::Ceiling, rules }))
}

/// Says who fills briefs, since that is a choice that was made.
pub(super) fn profile(profile: Profile, foreign: bool, findings: &mut Findings) {
    let (word, means) = match profile {
        Profile::Strict => ("strict", "the model and the definitions write every text of a brief"),
        Profile::Assisted => ("assisted", "texts that a brief lacks are derived from the definitions"),
    };
    let why = if foreign { "the folder has no deputize.yaml" } else { "by the configuration or its default" };
    findings.info("profile.chosen", format!("profile {word} ({why}): {means}"));
}

/// Says what of a foreign folder was mapped, what is denied, and what the run may cost at most.
pub(super) fn foreign(
    agents: &Agents,
    catalog: &Catalog<'_>,
    layers: &Layers,
    budgets: &Budgets,
    findings: &mut Findings,
) {
    let (mut mapped, mut denied) = (BTreeMap::new(), BTreeSet::new());
    for written in agents.loaded.iter().flat_map(|a| &a.spec.tools_written) {
        let name = written.split('(').next().unwrap_or_default().trim();
        match catalog.meaning(name) {
            Meaning::Tools(ours) if ours.iter().all(|t| catalog.has(t)) => {
                if ours.iter().any(|t| t != name) {
                    mapped.insert(name.to_string(), ours.join(" + "));
                }
            }
            Meaning::Tools(_) | Meaning::Connector => {
                denied.insert(name.to_string());
            }
            Meaning::NoCounterpart | Meaning::Delegate | Meaning::Unknown(_) => {}
        }
    }
    if !mapped.is_empty() {
        let pairs: Vec<String> = mapped.iter().map(|(from, to)| format!("{from} is {to}")).collect();
        findings.info("foreign.mapped", format!("tools by their names here: {}", pairs.join(", ")));
    }
    let write = match layers.refuses(Use::Write, "") {
        None => "writes inside the workspace are allowed by the flag",
        _ => "writes ask, and this build cannot ask, so they are denied (`--allow write` allows them)",
    };
    let names: Vec<String> = denied.into_iter().collect();
    let named = if names.is_empty() { String::new() } else { format!(" (named and not given: {})", names.join(", ")) };
    let text = format!(
        "ceiling `workspace`: reads inside the workspace are allowed; {write}; shell and network are denied{named}"
    );
    findings.info("foreign.ceiling", text);
    let tokens = budgets.tree.tokens.unwrap_or_default();
    let text = format!(
        "cap: {tokens} tokens for the whole tree (`--budget-tokens` changes it); no cap in money, since this build knows no prices"
    );
    findings.info("foreign.cap", text);
}
