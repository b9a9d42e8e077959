//! Judges all dependencies by `deny.toml`: licences, banned crates, sources, wildcards. Needs nothing but cargo.

use super::licence;
use crate::fault::{Fault, Result};
use crate::say;
use crate::shop::Shop;
use serde::Deserialize;
use serde_json::Value;

const FILE: &str = "deny.toml";

/// The part of `deny.toml` that this module reads; cargo-deny reads the same file.
#[derive(Debug, Deserialize)]
struct Rules {
    graph: Graph,
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Debug, Deserialize)]
struct Graph {
    targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Debug, Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Sources {
    allow_registry: Vec<String>,
}

/// Prints what is wrong with the dependencies; whether nothing is.
pub(crate) fn run(shop: &Shop) -> Result<bool> {
    let rules: Rules = toml::from_str(&shop.read(FILE)?).map_err(|cause| Fault::new(format!("{FILE}: {cause}")))?;
    let metadata = metadata(shop, &rules.graph.targets)?;
    let complaints = judge(&metadata, &rules);
    for complaint in &complaints {
        say::line(complaint);
    }
    let count = packages(&metadata).len();
    say::line(format_args!("dependencies: {count} packages, {} complaints", complaints.len()));
    Ok(complaints.is_empty())
}

/// The dependencies of all supported targets; without a network, of this machine's.
fn metadata(shop: &Shop, targets: &[String]) -> Result<Value> {
    let words: Vec<&str> = targets.iter().flat_map(|target| ["--filter-platform", target.as_str()]).collect();
    shop.metadata(&words).or_else(|fault| {
        say::line(format_args!("{fault}"));
        say::line("dependencies: judging this machine's packages only");
        shop.metadata(&["--filter-platform", &host(shop)?])
    })
}

fn host(shop: &Shop) -> Result<String> {
    let output = shop.cargo(&["-vV"]).output().map_err(|cause| Fault::new(format!("cargo does not start: {cause}")))?;
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .find_map(|line| line.strip_prefix("host: ").map(str::to_owned))
        .ok_or_else(|| Fault::new("cargo does not say which machine this is"))
}

fn judge(metadata: &Value, rules: &Rules) -> Vec<String> {
    let mut complaints = Vec::new();
    for package in packages(metadata) {
        let named = format!("{} {}", text(package, "name"), text(package, "version"));
        let all = [licence_complaint(package, rules), ban_complaint(package, rules), source_complaint(package, rules)];
        complaints.extend(all.into_iter().flatten().map(|why| format!("{named}: {why}")));
        complaints.extend(wildcards(package).map(|name| format!("{named}: any version of `{name}` will do")));
    }
    complaints
}

fn licence_complaint(package: &Value, rules: &Rules) -> Option<String> {
    let licence = text(package, "license");
    if licence.is_empty() {
        return Some("it names no licence".to_owned());
    }
    let met = licence::is_met(licence, &rules.licenses.allow);
    (!met).then(|| format!("licence `{licence}` is not accepted by {FILE}"))
}

fn ban_complaint(package: &Value, rules: &Rules) -> Option<String> {
    let name = text(package, "name");
    let ban = rules.bans.deny.iter().find(|ban| ban.name == name)?;
    Some(format!("banned: {}", ban.reason))
}

/// A package of this repository has no source; every other one comes from an accepted registry.
fn source_complaint(package: &Value, rules: &Rules) -> Option<String> {
    let source = text(package, "source");
    let registry = source.strip_prefix("registry+").unwrap_or(source);
    let accepted = source.is_empty() || rules.sources.allow_registry.iter().any(|known| known == registry);
    (!accepted).then(|| format!("source `{source}` is not accepted by {FILE}"))
}

/// Our own manifests may not ask for any version; paths inside the repository have none.
fn wildcards(package: &Value) -> impl Iterator<Item = &str> {
    let ours = text(package, "source").is_empty();
    package
        .get("dependencies")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(move |dependency| ours && text(dependency, "req") == "*" && dependency.get("path").is_none())
        .map(|dependency| text(dependency, "name"))
}

fn packages(metadata: &Value) -> &[Value] {
    metadata.get("packages").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
