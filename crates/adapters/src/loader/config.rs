//! `deputize.yaml` and the person's own configuration: read, decoded, and merged in the order of precedence.

use super::files;
use super::findings::Findings;
use super::front::{self, Form};
use super::request::LoadRequest;
use crate::yaml::{self, Parsed};
use deputize_core::budget::Budgets;
use deputize_core::definition::decode::{self, NOT_POSITIVE, Whose, amount};
use deputize_core::definition::keys::File;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::nearest::nearest;
use deputize_core::definition::node::{Kind, Node, Place};
use deputize_core::definition::spec::{BudgetSpec, TeamSpec};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A configuration and the file it came from.
#[derive(Default)]
pub(super) struct Config {
    pub(super) spec: TeamSpec,
    /// Its file in messages; empty when there is none.
    pub(super) file: String,
    /// The folder that its paths are relative to.
    pub(super) folder: PathBuf,
    /// Whether it has errors, so that nothing can be concluded from what it seems to lack.
    pub(super) bad: bool,
    /// Whether parts of it could not be read at all.
    pub(super) holes: bool,
    /// Where each of its keys stands, by path.
    pub(super) places: BTreeMap<String, Place>,
}

impl Config {
    /// Every key with its file and place.
    pub(super) fn located(&self) -> BTreeMap<String, (String, Place)> {
        self.places.iter().map(|(path, at)| (path.clone(), (self.file.clone(), *at))).collect()
    }
}

/// Adds the places of all keys of a map, and of the maps in it.
fn places(node: &Node, above: &str, out: &mut BTreeMap<String, Place>) {
    let Kind::Map(entries) = &node.kind else { return };
    for entry in entries {
        let path = if above.is_empty() { entry.key.clone() } else { format!("{above}.{}", entry.key) };
        places(&entry.value, &path, out);
        out.insert(path, entry.at);
    }
}

/// Reads one configuration; what is wrong is in the findings.
pub(super) fn read(path: &Path, whose: Whose, findings: &mut Findings) -> Config {
    let folder = path.parent().unwrap_or(path).to_path_buf();
    let Some((file, text)) = files::read_for(findings, path) else {
        return Config { folder, file: findings.shown(path), bad: true, holes: true, ..Config::default() };
    };
    let Parsed { node, faults } = yaml::parse_all(&text, 0);
    let holes = !faults.is_empty();
    let (node, faults) = match node {
        Some(node) => (node, faults),
        // Read key by key, so that one fault does not hide the others; a run never starts with what is found here.
        None => {
            let read = front::in_pieces(&text, 0, Form { file: File::Team, dialect: None }, faults);
            (read.node, read.errors)
        }
    };
    let decoded = decode::team(&node, whose);
    let messages: Vec<Message> = faults.into_iter().chain(decoded.messages).collect();
    let bad = messages.iter().any(|m| m.level == Level::Error);
    findings.extend(&file, messages);
    let mut config = Config { spec: decoded.spec, file, folder, bad, holes, places: BTreeMap::new() };
    places(&node, "", &mut config.places);
    config
}

/// The person's own configuration, if there is one.
pub(super) fn user(request: &LoadRequest, findings: &mut Findings) -> Config {
    match &request.user_config {
        Some(path) if path.symlink_metadata().is_ok() => read(path, Whose::User, findings),
        _ => Config::default(),
    }
}

/// Caps of a tree in a folder that nobody has configured.
const FOREIGN_TOKENS: u64 = 500_000;

fn apply(budgets: &mut Budgets, spec: &BudgetSpec) {
    budgets.run = spec.run.or(budgets.run);
    budgets.tree = spec.tree.or(budgets.tree);
    budgets.depth = spec.depth.unwrap_or(budgets.depth);
    budgets.concurrency = spec.concurrency.unwrap_or(budgets.concurrency);
    budgets.hops = spec.hops.unwrap_or(budgets.hops);
}

/// Budgets: default, person, project, flags. Caps that only a run has come back as caps of the root.
pub(super) fn budgets(
    request: &LoadRequest,
    user: &BudgetSpec,
    project: &BudgetSpec,
    foreign: bool,
    findings: &mut Findings,
) -> (Budgets, BudgetSpec) {
    let mut budgets = Budgets::default();
    if foreign {
        budgets.tree.tokens = Some(FOREIGN_TOKENS);
    }
    apply(&mut budgets, user);
    apply(&mut budgets, project);
    let flags = flags(&request.overrides.budgets, findings);
    apply(&mut budgets, &BudgetSpec { run: Default::default(), ..flags });
    (budgets, flags)
}

/// The keys of `--budget-KEY`.
pub const FLAG_KEYS: [&str; 10] =
    ["tokens", "time", "runs", "depth", "concurrency", "hops", "turns", "model_calls", "tool_calls", "children"];

fn flags(given: &[(String, String)], findings: &mut Findings) -> BudgetSpec {
    let mut spec = BudgetSpec::default();
    for (written, value) in given {
        let key = written.replace('-', "_");
        let flag = format!("--budget-{written}");
        let result = match key.as_str() {
            "tokens" => amount::count(value).map(|n| spec.tree.tokens = Some(n)),
            "time" => amount::duration(value).map(|n| spec.tree.time = Some(n)),
            "runs" => amount::count(value).map(|n| spec.tree.runs = Some(n)),
            "depth" => amount::whole(value).map(|n| spec.depth = Some(n)),
            "concurrency" => amount::whole(value).map(|n| spec.concurrency = Some(n)),
            "hops" => amount::whole(value).map(|n| spec.hops = Some(n)),
            "turns" => amount::count(value).map(|n| spec.run.turns = Some(n)),
            "model_calls" => amount::count(value).map(|n| spec.run.model_calls = Some(n)),
            "tool_calls" => amount::count(value).map(|n| spec.run.tool_calls = Some(n)),
            "children" => amount::count(value).map(|n| spec.run.children = Some(n)),
            "cost" => {
                let text = format!("`{flag}` is not in this build: it knows no prices");
                findings.error("key.unsupported", text);
                continue;
            }
            _ => {
                let message = Message::new(Level::Error, "flag.unknown", format!("there is no cap for `{flag}`"));
                let near = nearest(&key, FLAG_KEYS).map_or(FLAG_KEYS.join(", "), str::to_string);
                findings.push(message.hint(format!("known: {near}")));
                continue;
            }
        };
        if let Err(bad) = result {
            let code = if bad == amount::Bad::NotPositive { NOT_POSITIVE } else { "flag.value" };
            let what = if key == "time" {
                "a duration such as `90s` or `15m`"
            } else {
                "a number above 0 such as `30` or `200k`"
            };
            findings.error(code, format!("`{flag} {value}`: this must be {what}"));
        }
    }
    spec
}
