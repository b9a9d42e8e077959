//! Rules on paths: the lists of a team, what holds for each agent, and the lint of rules that can never match or never
//! matter. What a rule means is the core's; this file only holds rules against each other and against the workspace.

use super::agents::Agents;
use super::config::Config;
use super::findings::Findings;
use super::root::BUILTIN;
use deputize_core::definition::Team;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use deputize_core::definition::spec::At;
use deputize_core::id::AgentName;
use deputize_core::policy::{self, Access, Glob, Layer, Layers, Permission, Rule, Source};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// The lists of a team: the ceiling of a foreign folder, and what its configuration says.
pub(super) fn layers(ceiling: Option<Layer>, config: &Config) -> Layers {
    let rules = config.spec.permissions.as_ref().map(|list| list.value.iter().map(|rule| rule.value.clone()).collect());
    Layers::new(ceiling.into_iter().chain(rules.map(|rules| Layer { source: Source::Project, rules })))
}

/// The lists that hold for each agent on the shortest way from the root, the built-in one left out.
fn effective(team: &Team) -> BTreeMap<AgentName, Layers> {
    let mut held: BTreeMap<AgentName, Layers> = BTreeMap::new();
    let mut queue = VecDeque::from([(team.root.clone(), team.layers.clone())]);
    while let Some((name, above)) = queue.pop_front() {
        let Some(agent) = team.agents.get(&name) else { continue };
        if held.contains_key(&name) {
            continue;
        }
        let own = above.with(agent.layer());
        queue.extend(agent.agents.iter().map(|child| (child.clone(), own.clone())));
        held.insert(name, own);
    }
    held
}

/// Says what is odd about the rules of the project and of every agent, and gives the lists that hold for each agent.
pub(super) fn lint(
    team: &Team,
    agents: &Agents,
    config: &Config,
    workspace: Option<&Path>,
    findings: &mut Findings,
) -> BTreeMap<AgentName, Layers> {
    let held = effective(team);
    let mut say = |list: &List<'_>, file: &str| findings.extend(file, list.messages());
    let builtin = [policy::builtin()];
    if let Some(At { value, at }) = &config.spec.permissions {
        say(&List { rules: value, at: *at, above: builtin.to_vec(), workspace }, &config.file);
    }
    for agent in agents.loaded.iter().filter(|a| a.source != BUILTIN) {
        let Some(At { value, at }) = &agent.spec.permissions else { continue };
        let definition = &agent.spec.definition;
        let own = definition.layer();
        let lists = held.get(&definition.name).unwrap_or(&team.layers);
        let above = lists.as_slice().iter().filter(|layer| Some(*layer) != own.as_ref());
        let above = builtin.into_iter().chain(above).collect();
        say(&List { rules: value, at: *at, above, workspace }, &agent.file);
    }
    held
}

/// One list under the lists above it.
struct List<'a> {
    rules: &'a [At<Rule>],
    at: Place,
    above: Vec<&'a Layer>,
    workspace: Option<&'a Path>,
}

fn warning(code: &str, at: Place, text: String, hint: &str) -> Message {
    let message = Message::new(Level::Warning, code, text).at(at);
    if hint.is_empty() { message } else { message.hint(hint) }
}

/// What a rule speaks of, one by one.
fn pairs(rule: &Rule) -> impl Iterator<Item = (Access, &Glob)> {
    rule.operations.iter().flat_map(|access| rule.paths.iter().map(|glob| (*access, glob)))
}

/// Whether a rule decides on all that a pattern matches, unless one before it does.
fn decides(rule: &Rule, access: Access, glob: &Glob) -> bool {
    rule.operations.contains(&access) && rule.paths.iter().any(|own| own.covers(glob))
}

/// Whether a rule allows something that a pattern matches.
fn opens(rule: &Rule, access: Access, glob: &Glob) -> bool {
    rule.mode == Permission::Allow && rule.operations.contains(&access) && rule.paths.iter().any(|own| own.meets(glob))
}

/// Whether a list refuses all that a pattern matches.
fn shuts(layer: &Layer, access: Access, glob: &Glob) -> bool {
    let first = layer
        .rules
        .iter()
        .find(|rule| opens(rule, access, glob) || (rule.mode != Permission::Allow && decides(rule, access, glob)));
    first.is_none_or(|rule| rule.mode == Permission::Deny)
}

impl List<'_> {
    fn messages(&self) -> Vec<Message> {
        let mut messages: Vec<Message> = self.whole().into_iter().collect();
        for (index, At { value, at }) in self.rules.iter().enumerate() {
            let earlier = self.rules.get(..index).unwrap_or_default();
            let later = self.rules.get(index + 1..).unwrap_or_default();
            let shadowed = shadowed(index, value, *at, earlier);
            let dead = !shadowed.is_empty();
            messages.extend(shadowed);
            messages.extend(value.paths.iter().filter_map(|glob| self.place(glob, *at)));
            if !dead {
                messages.extend(self.overruled(index, value, *at));
                messages.extend(self.default(index, value, *at, later));
            }
        }
        messages
    }

    /// Whether the list allows anything at all.
    fn whole(&self) -> Option<Message> {
        let allows = |access: Access| {
            let allows =
                |rule: &At<Rule>| rule.value.mode == Permission::Allow && rule.value.operations.contains(&access);
            self.rules.iter().any(allows)
        };
        let hint = "what no rule matches is denied: end the list with `{operations: [read, write], paths: [/]}` to leave \
                    the rest open";
        if self.rules.is_empty() {
            let text = "`permissions: []` allows nothing: no file may be read or written".to_string();
            return Some(warning("permission.empty", self.at, text, "leave the key out to keep what holds anyway"));
        }
        match (allows(Access::Read), allows(Access::Write)) {
            (false, false) => {
                let text = "no rule of `permissions` allows anything: no file may be read or written".to_string();
                Some(warning("permission.only_deny", self.at, text, hint))
            }
            (false, true) => {
                let text = "no rule of `permissions` allows reading: no file may be read, edited, listed or searched";
                Some(warning("permission.no_read", self.at, text.into(), hint))
            }
            _ => None,
        }
    }

    /// A path that is not what it looks like in this workspace.
    fn place(&self, glob: &Glob, at: Place) -> Option<Message> {
        let workspace = self.workspace?;
        let root = workspace.to_string_lossy();
        if root.len() > 1 && (glob.as_str().starts_with(&format!("{root}/")) || glob.as_str() == root) {
            let below = glob.as_str().get(root.len()..).filter(|below| !below.is_empty()).unwrap_or("/");
            let text = format!("`{glob}` never matches: paths begin at the workspace, which is `/`");
            return Some(warning("permission.never", at, text, &format!("write `{below}`")));
        }
        let exact = glob.exactly()?;
        let found = std::fs::metadata(workspace.join(&exact));
        let folder = match &found {
            Ok(found) => found.is_dir(),
            Err(_) => !exact.rsplit('/').next().unwrap_or_default().contains('.'),
        };
        let is = if found.is_ok() { "is a folder, and the rule matches" } else { "matches" };
        let text = format!("`{glob}` {is} that path alone, nothing below it");
        folder
            .then(|| warning("permission.exact", at, text, &format!("write `{glob}/` for the folder and all below it")))
    }

    /// An `allow` that a list above always overrules.
    fn overruled(&self, index: usize, rule: &Rule, at: Place) -> Option<Message> {
        if rule.mode != Permission::Allow {
            return None;
        }
        let shut = |layer: &&&Layer| pairs(rule).all(|(access, glob)| shuts(layer, access, glob));
        let layer = self.above.iter().find(shut)?;
        let text = format!(
            "rule {} allows nothing: its paths are closed by {}, and the strictest list wins",
            index + 1,
            layer.source
        );
        Some(warning("permission.no_effect", at, text, ""))
    }

    /// A `deny` behind which nothing is allowed says what holds anyway.
    fn default(&self, index: usize, rule: &Rule, at: Place, later: &[At<Rule>]) -> Option<Message> {
        let opened = |(access, glob)| later.iter().any(|other| opens(&other.value, access, glob));
        if rule.mode != Permission::Deny || pairs(rule).any(opened) || self.whole().is_some() {
            return None;
        }
        let text = format!("rule {} changes nothing: what no rule of a list allows is denied anyway", index + 1);
        Some(Message::new(Level::Info, "permission.default", text).at(at))
    }
}

/// A rule, or some of its paths, that rules before it decide on.
fn shadowed(index: usize, rule: &Rule, at: Place, earlier: &[At<Rule>]) -> Vec<Message> {
    let by = |access: Access, glob: &Glob| earlier.iter().position(|other| decides(&other.value, access, glob));
    let path = |glob: &Glob| {
        let first: Option<Vec<usize>> = rule.operations.iter().map(|access| by(*access, glob)).collect();
        first?.first().copied()
    };
    let dead: Vec<(&Glob, usize)> = rule.paths.iter().filter_map(|glob| Some((glob, path(glob)?))).collect();
    let hint = "the first rule that matches decides: put the narrower rule first";
    let number = index + 1;
    let of = |text: String| warning("permission.shadowed", at, text, hint);
    match dead.first() {
        None => Vec::new(),
        Some((_, first)) if dead.len() == rule.paths.len() => {
            vec![of(format!("rule {number} never decides: rule {} matches all its paths before it", first + 1))]
        }
        Some(_) => {
            let one = |(glob, first): &(&Glob, usize)| {
                of(format!("`{glob}` of rule {number} never decides: rule {} matches it before", first + 1))
            };
            dead.iter().map(one).collect()
        }
    }
}
