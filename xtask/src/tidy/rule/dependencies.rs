//! Which crate may depend on which, read from `cargo metadata`; and the closed list of what the core may use.

use super::super::finding::Finding;
use serde_json::Value;

const RULE: &str = "dependencies";
const CORE: &str = "deputize-core";
const RUNTIME: &str = "deputize-runtime";
const ADAPTERS: &str = "deputize-adapters";
const API: &str = "deputize-api";
const SERVER: &str = "deputize-server";
const FACADE: &str = "deputize";
const TESTKIT: &str = "deputize-testkit";

/// What each crate may use of ours when it is built for people. Development dependencies are free.
const MAY_USE: &[(&str, &[&str])] = &[
    (CORE, &[]),
    (RUNTIME, &[CORE]),
    (ADAPTERS, &[CORE, RUNTIME]),
    (API, &[CORE]),
    (SERVER, &[CORE, RUNTIME, API]),
    (FACADE, &[CORE, RUNTIME, ADAPTERS]),
    ("deputize-cli", &[CORE, RUNTIME, ADAPTERS, API, SERVER, FACADE]),
    (TESTKIT, &[CORE, RUNTIME, ADAPTERS, API]),
    ("deputize-bench", &[CORE, RUNTIME, ADAPTERS]),
    ("xtask", &[]),
];

/// One dependency as a manifest declares it.
struct Dependency<'a> {
    package: &'a str,
    manifest: String,
    name: &'a str,
    development: bool,
}

/// Holds every declared dependency against the table and the core's list.
pub(crate) fn check(metadata: &Value, core_list: &[String]) -> Vec<Finding> {
    let packages = array(metadata, "packages");
    let ours: Vec<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let root = text(metadata, "workspace_root");
    let all: Vec<Dependency<'_>> = packages
        .iter()
        .flat_map(|package| declared(package, root))
        .filter(|dependency| !dependency.development)
        .collect();
    let mut found: Vec<Finding> =
        all.iter().filter(|dependency| ours.contains(&dependency.name)).filter_map(crate_boundary).collect();
    found.extend(core_boundary(&all, core_list));
    found.extend(ours.iter().filter_map(|name| unknown(name)));
    found
}

fn declared<'a>(package: &'a Value, root: &str) -> Vec<Dependency<'a>> {
    let path = text(package, "manifest_path");
    let manifest = path.strip_prefix(root).unwrap_or(path).trim_start_matches('/');
    array(package, "dependencies")
        .iter()
        .map(|dependency| Dependency {
            package: text(package, "name"),
            manifest: manifest.to_owned(),
            name: text(dependency, "name"),
            development: text(dependency, "kind") == "dev",
        })
        .collect()
}

fn crate_boundary(dependency: &Dependency<'_>) -> Option<Finding> {
    let Dependency { package, name, .. } = dependency;
    if *name == TESTKIT {
        let text = format!("`{package}` may use `{name}` in [dev-dependencies] only");
        return Some(finding(&dependency.manifest, name, text));
    }
    let allowed = MAY_USE.iter().find(|(user, _)| user == package)?.1;
    if allowed.contains(name) {
        return None;
    }
    let text = format!("`{package}` may not depend on `{name}`");
    Some(finding(&dependency.manifest, name, text))
}

fn core_boundary(all: &[Dependency<'_>], list: &[String]) -> Vec<Finding> {
    let used: Vec<&Dependency<'_>> = all.iter().filter(|item| item.package == CORE).collect();
    let new = used.iter().filter(|item| !list.iter().any(|name| name == item.name)).map(|item| {
        let text = format!("the core may not use `{}`: [core] in tidy.toml does not list it", item.name);
        finding(&item.manifest, item.name, text)
    });
    let gone = list.iter().filter(|name| !used.iter().any(|item| item.name == **name)).map(|name| {
        let text = format!("[core] lists `{name}`, which the core no longer uses");
        finding("tidy.toml", name, text)
    });
    new.chain(gone).collect()
}

fn unknown(name: &str) -> Option<Finding> {
    if MAY_USE.iter().any(|(known, _)| *known == name) {
        return None;
    }
    let text = format!("`{name}` is a new crate: say in the table of rule/dependencies.rs what it may use");
    Some(finding("Cargo.toml", name, text))
}

fn finding(file: &str, item: &str, text: String) -> Finding {
    Finding { file: file.to_owned(), line: 1, rule: RULE, item: item.to_owned(), measure: None, text }
}

fn array<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
