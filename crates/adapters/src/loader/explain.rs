//! Every value that a run would use, and where it came from: a flag, the environment, a file and its line, or a default.
//! Owns no value: all of them are read from the finished setup, so that what is shown is what holds.

use super::config::Config;
use super::request::LoadRequest;
use super::setup::{Origin, Setup};
use deputize_core::policy::Source;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Keys with one value, and where it stands in a setup.
const SINGLE: [(&str, &str); 28] = [
    ("profile", "/team/profile"),
    ("name", "/team/name"),
    ("root", "/team/root"),
    ("workspace", "/workspace"),
    ("tools", "/team/ceiling"),
    ("budget.run.tokens", "/team/budget/run/tokens"),
    ("budget.run.time", "/team/budget/run/time"),
    ("budget.run.turns", "/team/budget/run/turns"),
    ("budget.run.model_calls", "/team/budget/run/model_calls"),
    ("budget.run.tool_calls", "/team/budget/run/tool_calls"),
    ("budget.run.children", "/team/budget/run/children"),
    ("budget.tree.tokens", "/team/budget/tree/tokens"),
    ("budget.tree.time", "/team/budget/tree/time"),
    ("budget.tree.runs", "/team/budget/tree/runs"),
    ("budget.tree.depth", "/team/budget/depth"),
    ("budget.tree.concurrency", "/team/budget/concurrency"),
    ("budget.tree.hops", "/team/budget/hops"),
    ("output_limits.tool_result", "/team/output_limits/tool_result"),
    ("output_limits.child_summary", "/team/output_limits/child_summary"),
    ("tool_timeout", "/team/tool_timeout/default"),
    ("in_doubt", "/team/in_doubt"),
    ("store.path", "/store/path"),
    ("store.sync", "/store/sync"),
    ("roles.default", "/team/models/roles/default"),
    ("roles.fast", "/team/models/roles/fast"),
    ("roles.think", "/team/models/roles/think"),
    ("roles.embedding", "/team/models/roles/embedding"),
    ("permissions of operations", "/team/permissions"),
];
/// Keys that hold one entry for each name.
const MAPS: [(&str, &str); 4] = [
    ("aliases", "/team/models/aliases"),
    ("models", "/team/models/limits"),
    ("tool_timeout", "/team/tool_timeout/by_tool"),
    ("providers", "/providers"),
];
/// Caps that only a run has: a flag sets them for the root.
const OF_ROOT: [&str; 4] = ["turns", "model_calls", "tool_calls", "children"];

/// One value and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The key as in `deputize.yaml`.
    pub key: String,
    /// Its value, durations in milliseconds; null: none is set.
    pub value: Value,
    /// `flag`, `environment`, `project`, `user` or `default`.
    pub from: &'static str,
    /// The flag or the variable.
    pub name: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// Its line.
    pub line: Option<u32>,
}

/// Where values may come from.
pub(super) struct Sources<'a> {
    pub(super) request: &'a LoadRequest,
    pub(super) project: &'a Config,
    pub(super) user: &'a Config,
}

/// Every value of a setup, in the order of the reference.
pub(super) fn settings(setup: &Setup, sources: &Sources<'_>) -> Vec<Setting> {
    let whole = serde_json::to_value(setup).unwrap_or_default();
    let at = |pointer: &str| whole.pointer(pointer).cloned().unwrap_or_default();
    let mut out: Vec<Setting> = Vec::new();
    let spec = &sources.project.spec;
    let load = spec.load.as_ref().map(|l| l.iter().map(|e| e.value.clone()).collect::<Vec<_>>());
    out.push(sources.setting("load", json!(load.unwrap_or_else(|| super::find::USUAL.map(String::from).to_vec()))));
    out.push(sources.setting("user_agents", json!(spec.user_agents)));
    let context: Vec<&str> = setup.team.project_context.iter().map(|f| f.path.as_str()).collect();
    out.push(sources.setting("project_context", json!(context)));
    let rules = setup.team.layers.as_slice().iter().find(|layer| layer.source == Source::Project);
    out.push(sources.setting("permissions", rules.map(|layer| json!(layer.rules)).unwrap_or_default()));
    out.extend(SINGLE.iter().map(|(key, pointer)| sources.setting(key, at(pointer))));
    for (above, pointer) in MAPS {
        if let Value::Object(map) = at(pointer) {
            map.into_iter().for_each(|(name, value)| flat(&format!("{above}.{name}"), value, sources, &mut out));
        }
    }
    if let Value::Object(map) = at("/team/retry") {
        map.into_iter().for_each(|(name, value)| flat(&format!("providers.{name}.retry"), value, sources, &mut out));
    }
    for setting in &mut out {
        from_environment(setting, setup);
    }
    out.extend(sources.of_root(setup));
    out.sort_by(|a, b| a.key.cmp(&b.key));
    out.dedup_by(|a, b| a.key == b.key);
    out
}

/// The members of a value, each with its key. What may be a credential is named only.
fn flat(key: &str, value: Value, sources: &Sources<'_>, out: &mut Vec<Setting>) {
    let last = key.rsplit('.').next().unwrap_or_default();
    match value {
        Value::Object(map) if last == "headers" => {
            let names: Vec<&String> = map.keys().collect();
            out.push(sources.setting(key, json!(names)));
        }
        Value::Object(map) if last != "body" && !map.is_empty() => {
            for (name, value) in map.into_iter().filter(|(name, _)| name != "base_url_from") {
                flat(&format!("{key}.{name}"), value, sources, out);
            }
        }
        value => out.push(sources.setting(key, value)),
    }
}

/// The address of a provider may be the environment's.
fn from_environment(setting: &mut Setting, setup: &Setup) {
    let Some(provider) = setting.key.strip_prefix("providers.").and_then(|k| k.strip_suffix(".base_url")) else {
        return;
    };
    let Some(provider) = setup.providers.get(provider).filter(|p| p.base_url_from == Origin::Env) else { return };
    let variable = provider.kind.facts().and_then(|facts| facts.url_variable);
    let name = variable.map(str::to_string);
    *setting = Setting { from: "environment", name, file: None, line: None, ..setting.clone() };
}

impl Sources<'_> {
    fn setting(&self, key: &str, value: Value) -> Setting {
        let plain = Setting { key: key.to_string(), value, from: "default", name: None, file: None, line: None };
        if let Some(flag) = self.flag(key) {
            return Setting { from: "flag", name: Some(flag), ..plain };
        }
        for (config, from) in [(self.project, "project"), (self.user, "user")] {
            if let Some(at) = config.places.get(key) {
                return Setting { from, file: Some(config.file.clone()), line: Some(at.line), ..plain };
            }
        }
        plain
    }

    /// The flag that gave a value.
    fn flag(&self, key: &str) -> Option<String> {
        let overrides = &self.request.overrides;
        let named = |flag: &str, given: bool| given.then(|| flag.to_string());
        match key.split_once('.') {
            Some(("roles", role)) => {
                let one = overrides.roles.iter().any(|(r, _)| r == role);
                named("--role", one)
            }
            Some(("budget", cap)) => {
                let cap = cap.strip_prefix("tree.")?;
                let given = overrides.budgets.iter().find(|(k, _)| k.replace('-', "_") == cap)?;
                Some(format!("--budget-{}", given.0.replace('_', "-")))
            }
            Some(("providers", rest)) => named("--script", rest == "scripted.script" && overrides.script.is_some()),
            Some(_) => None,
            None => match key {
                "root" => named("--agent", self.request.agent.is_some()),
                "workspace" => named("--workspace", self.request.workspace.is_some()),
                "permissions of operations" => {
                    named("--allow", !overrides.allow.is_empty() && self.project.file.is_empty())
                }
                _ => None,
            },
        }
    }

    /// What flags say of the root alone, and the model that replaces all.
    fn of_root(&self, setup: &Setup) -> Vec<Setting> {
        let overrides = &self.request.overrides;
        let mut out = Vec::new();
        let root = setup.team.agents.get(&setup.team.root);
        let caps = serde_json::to_value(root.map(|r| r.budget)).unwrap_or_else(|_| Value::Object(Map::new()));
        for (key, _) in &overrides.budgets {
            let cap = key.replace('-', "_");
            if OF_ROOT.contains(&cap.as_str()) {
                let value = caps.get(&cap).cloned().unwrap_or_default();
                let name = Some(format!("--budget-{}", key.replace('_', "-")));
                let key = format!("budget of the root.{cap}");
                out.push(Setting { key, value, from: "flag", name, file: None, line: None });
            }
        }
        if let Some(model) = &setup.team.models.forced {
            let flag = if overrides.model.is_some() { "--model" } else { "--script" };
            let (key, value) = ("every model".to_string(), json!(model.to_string()));
            out.push(Setting { key, value, from: "flag", name: Some(flag.into()), file: None, line: None });
        }
        out
    }
}
