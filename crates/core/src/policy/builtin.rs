//! The rules that hold for every agent and that nothing lifts: what steers the team is not written, secrets are not read.

use super::{Access, Glob, Layer, Permission, Rule, Source};
use std::sync::LazyLock;

const READ: &[Access] = &[Access::Read];
const WRITE: &[Access] = &[Access::Write];
const BOTH: &[Access] = &[Access::Read, Access::Write];

/// The list in order: operations, mode, paths, why.
const RULES: &[(&[Access], Permission, &[&str], &str)] = &[
    (READ, Permission::Deny, &["/**/.env/"], "environment files hold secrets"),
    (READ, Permission::Allow, &["/**/.env.example"], "an example holds no secrets"),
    (READ, Permission::Deny, &["/**/.env.*/"], "environment files hold secrets"),
    (
        READ,
        Permission::Deny,
        &["/**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk,xmss}/", "/**/*.{pem,key,ppk,p8,p12,pfx,jks,keystore}/"],
        "private keys are secrets",
    ),
    (WRITE, Permission::Deny, &["/**/.git/"], "git keeps its own data there, and a changed hook would be run"),
    (
        WRITE,
        Permission::Deny,
        &["/agents/**/*.md/", "/**/.{claude,github,gemini,opencode}/agents/"],
        "agent files say what agents may do, so no agent changes them",
    ),
    (WRITE, Permission::Deny, &["/**/deputize.yaml/", "/**/.mcp.json/"], CONFIGURES),
    (BOTH, Permission::Allow, &["/"], "the rest of the workspace is open"),
];

const CONFIGURES: &str = "it configures the team, so no agent changes it";

static LAYER: LazyLock<Layer> = LazyLock::new(|| Layer {
    source: Source::Builtin,
    rules: RULES.iter().map(|(operations, mode, paths, reason)| rule(operations, *mode, paths, reason)).collect(),
});

fn rule(operations: &[Access], mode: Permission, paths: &[&str], reason: &str) -> Rule {
    // A pattern that is none would be a fault of this table, which a test excludes; it must not open anything.
    let glob = |path: &&str| Glob::parse(path).unwrap_or_else(|_| Glob::everything());
    let (operations, paths) = (operations.to_vec(), paths.iter().map(glob).collect());
    Rule { operations, paths, mode, reason: Some(reason.to_string()) }
}

/// The built-in rules.
pub fn builtin() -> &'static Layer {
    &LAYER
}

/// The built-in rules, and besides that nothing writes these paths of the workspace, nor anything below them.
pub fn builtin_protecting<'a>(paths: impl IntoIterator<Item = &'a str>) -> Layer {
    let mut layer = builtin().clone();
    let paths: Vec<Glob> = paths.into_iter().map(Glob::literal).collect();
    if !paths.is_empty() {
        let reason = Some(CONFIGURES.to_string());
        layer.rules.insert(0, Rule { operations: WRITE.to_vec(), paths, mode: Permission::Deny, reason });
    }
    layer
}

#[cfg(test)]
mod tests;
