//! Packages that the rules accept and packages that they do not.

use super::{Rules, judge};
use serde_json::{Value, json};

const REGISTRY: &str = "registry+https://example.org/index";

/// The complaints about one package, given as changes to a good one.
fn complaints(changes: Value) -> Vec<String> {
    let rules: Rules = toml::from_str(
        "graph.targets = []\nlicenses.allow = ['MIT']\nsources.allow-registry = ['https://example.org/index']\n\
         bans.deny = [{ crate = 'openssl-sys', reason = 'one TLS stack' }]\n",
    )
    .unwrap();
    let mut package = json!({"name": "a", "version": "1.0.0", "license": "MIT", "source": REGISTRY});
    for (key, value) in changes.as_object().unwrap() {
        package[key] = value.clone();
    }
    judge(&json!({"packages": [package]}), &rules)
}

#[test]
fn a_good_package_draws_none() {
    assert!(complaints(json!({})).is_empty());
}

#[test]
fn licences_are_judged() {
    assert_eq!(complaints(json!({"license": "GPL-3.0"})).len(), 1);
    assert_eq!(complaints(json!({"license": null})), ["a 1.0.0: it names no licence"]);
}

#[test]
fn bans_are_judged_with_their_reason() {
    assert_eq!(complaints(json!({"name": "openssl-sys"})), ["openssl-sys 1.0.0: banned: one TLS stack"]);
}

#[test]
fn sources_are_judged() {
    assert_eq!(complaints(json!({"source": "git+https://example.org/a"})).len(), 1);
    assert_eq!(complaints(json!({"source": "registry+https://example.com/index"})).len(), 1);
    assert!(complaints(json!({"source": null})).is_empty());
}

#[test]
fn our_manifests_have_no_wildcards() {
    let any = json!([{"name": "b", "req": "*"}, {"name": "c", "req": "*", "path": "/c"}, {"name": "d", "req": "^1"}]);
    let ours = complaints(json!({"source": null, "dependencies": any}));
    assert_eq!(ours, ["a 1.0.0: any version of `b` will do"]);
    assert!(complaints(json!({"dependencies": any})).is_empty());
}

#[test]
fn the_file_in_the_repository_can_be_read() {
    let text = include_str!("../../../../deny.toml");
    let rules: Rules = toml::from_str(text).unwrap();
    assert!(rules.licenses.allow.iter().any(|name| name == "MIT"));
}
