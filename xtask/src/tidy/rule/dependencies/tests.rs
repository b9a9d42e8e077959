//! Manifests that keep to the table and manifests that do not.

use super::check;
use serde_json::{Value, json};

/// A package with its dependencies as (name, kind).
type Package<'a> = (&'a str, &'a [(&'a str, Option<&'a str>)]);

/// Metadata of packages.
fn metadata(packages: &[Package<'_>]) -> Value {
    let packages: Vec<Value> = packages
        .iter()
        .map(|(name, dependencies)| {
            let dependencies: Vec<Value> =
                dependencies.iter().map(|(name, kind)| json!({"name": name, "kind": kind})).collect();
            json!({
                "name": name,
                "manifest_path": format!("/r/crates/{name}/Cargo.toml"),
                "dependencies": dependencies,
            })
        })
        .collect();
    json!({"workspace_root": "/r", "packages": packages})
}

/// The items of the findings; the core may use `serde`.
fn items(packages: &[Package<'_>]) -> Vec<String> {
    let core: &[(&str, Option<&str>)] = &[("serde", None)];
    let mut all = packages.to_vec();
    if !all.iter().any(|(name, _)| *name == "deputize-core") {
        all.push(("deputize-core", core));
    }
    let found = check(&metadata(&all), &["serde".to_owned()]);
    found.into_iter().map(|finding| finding.item).collect()
}

#[test]
fn crates_use_what_is_below_them() {
    let good = items(&[
        ("deputize-runtime", &[("deputize-core", None), ("tokio", None)]),
        ("deputize-api", &[("deputize-core", None)]),
        ("deputize-cli", &[("deputize-api", None), ("deputize-runtime", None)]),
    ]);
    assert!(good.is_empty(), "{good:?}");
}

#[test]
fn crates_do_not_use_what_is_above_or_beside_them() {
    let bad = items(&[
        ("deputize-runtime", &[("deputize-adapters", None)]),
        ("deputize-adapters", &[("deputize-api", None)]),
        ("deputize-api", &[("deputize-runtime", Some("build"))]),
    ]);
    assert_eq!(bad, ["deputize-adapters", "deputize-api", "deputize-runtime"]);
}

#[test]
fn the_testkit_is_for_tests() {
    let both = items(&[
        ("deputize-testkit", &[]),
        ("deputize-runtime", &[("deputize-testkit", Some("dev"))]),
        ("deputize-cli", &[("deputize-testkit", None)]),
    ]);
    assert_eq!(both, ["deputize-testkit"]);
}

#[test]
fn the_core_uses_exactly_its_list() {
    let more: &[(&str, Option<&str>)] = &[("serde", None), ("rand", None), ("proptest", Some("dev"))];
    assert_eq!(items(&[("deputize-core", more)]), ["rand"]);
    assert_eq!(items(&[("deputize-core", &[])]), ["serde"]);
}

#[test]
fn a_new_crate_needs_a_line_in_the_table() {
    assert_eq!(items(&[("deputize-extra", &[])]), ["deputize-extra"]);
}

#[test]
fn findings_name_the_manifest() {
    let found = check(&metadata(&[("deputize-core", &[("rand", None)])]), &[]);
    assert_eq!(found.first().map(|finding| finding.file.as_str()), Some("crates/deputize-core/Cargo.toml"));
}
