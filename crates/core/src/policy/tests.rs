//! Lists and how they are combined, by table.

use super::{Access, Glob, Layer, Layers, Permission, Rule, Shown, Source, Use, strictest};
use crate::id::AgentName;
use Permission::{Allow, Ask, Deny};

fn rule(operations: &[Access], mode: Permission, paths: &[&str]) -> Rule {
    let paths = paths.iter().map(|path| Glob::parse(path).unwrap()).collect();
    Rule { operations: operations.to_vec(), paths, mode, reason: None }
}

const READ: &[Access] = &[Access::Read];
const WRITE: &[Access] = &[Access::Write];
const BOTH: &[Access] = &[Access::Read, Access::Write];

fn project(rules: Vec<Rule>) -> Layer {
    Layer { source: Source::Project, rules }
}

fn agent(name: &str, rules: Vec<Rule>) -> Layer {
    Layer { source: Source::Agent(AgentName::new(name)), rules }
}

// The defects that were measured in another product (dot files, the folder itself, the root, letter case), as rules here.
// covers D-08, X-09, X-10
#[test]
fn defects_measured_elsewhere_are_none_here() {
    let secrets = project(vec![rule(BOTH, Deny, &["/secrets/**"]), rule(BOTH, Allow, &["/"])]);
    let m6 = project(vec![rule(WRITE, Deny, &["/"]), rule(WRITE, Allow, &["/docs/"]), rule(READ, Allow, &["/"])]);
    let only = project(vec![rule(BOTH, Allow, &["/docs/"])]);
    let table = [
        ("M4", &secrets, Access::Read, "secrets/.env", Deny),
        ("M4", &secrets, Access::Write, "secrets/.env", Deny),
        ("M5", &secrets, Access::Read, "secrets", Deny),
        ("M5", &secrets, Access::Read, "secret", Allow),
        ("M6", &m6, Access::Write, "x.txt", Deny),
        ("M6", &m6, Access::Write, "", Deny),
        ("M6", &m6, Access::Write, "docs/a", Deny),
        ("M6", &m6, Access::Read, "x.txt", Allow),
        ("M10", &secrets, Access::Read, "SECRETS/a", Deny),
        ("M10", &secrets, Access::Write, "\u{17f}ecrets/a", Deny),
        ("allow keeps letter case", &only, Access::Read, "docs/a", Allow),
        ("allow keeps letter case", &only, Access::Read, "DOCS/a", Deny),
        ("nothing matches", &only, Access::Write, "src/a", Deny),
    ];
    for (what, layer, access, path, mode) in table {
        assert_eq!(layer.decide(access, path).mode, mode, "{what}: {access:?} {path:?}");
    }
}

#[test]
fn the_first_rule_that_matches_decides() {
    let list =
        project(vec![rule(WRITE, Allow, &["/docs/new/"]), rule(BOTH, Deny, &["/docs/"]), rule(BOTH, Allow, &["/"])]);
    let table = [
        (Access::Write, "docs/new/a", Allow, Some(0)),
        (Access::Read, "docs/new/a", Deny, Some(1)),
        (Access::Write, "docs/a", Deny, Some(1)),
        (Access::Write, "a", Allow, Some(2)),
    ];
    for (access, path, mode, rule) in table {
        let got = list.decide(access, path);
        assert_eq!((got.mode, got.rule), (mode, rule), "{access:?} {path}");
    }
    assert_eq!(project(Vec::new()).decide(Access::Read, "a").mode, Deny);
}

// The strictest of both, whatever the order; a list that is not there says nothing.
// covers X-09
#[test]
fn lists_are_combined_by_the_strictest() {
    let words = [Allow, Ask, Deny];
    for operation in [Access::Read, Access::Write] {
        let usage = if operation == Access::Read { Use::Read } else { Use::Write };
        for (parent, child) in words.iter().flat_map(|p| words.iter().map(move |c| (*p, *c))) {
            let outer = project(vec![rule(&[operation], parent, &["/a"])]);
            let inner = agent("x", vec![rule(&[operation], child, &["/"])]);
            let layers = Layers::new([outer]).with(Some(inner));
            let got = layers.refuses(usage, "a").map_or(Allow, |d| d.mode);
            assert_eq!(got, parent.max(child), "{operation:?}: {parent:?} and {child:?}");
        }
    }
    assert!(Layers::default().refuses(Use::Write, "a").is_none());
}

#[test]
fn among_equals_the_outermost_list_is_named() {
    let layers = Layers::new([project(vec![rule(READ, Deny, &["/s/"])]), agent("x", vec![rule(READ, Deny, &["/"])])]);
    let (code, why) =
        layers.refuses(Use::Read, "s/a").unwrap().refusal(Access::Read, Shown { path: "`s/a`", linked: false });
    assert_eq!(why, "`s/a` may not be read: rule 1 of the project denies it (`/s/`)");
    assert_eq!(code.as_str(), "permission.denied");
    assert_eq!(layers.with(Some(project(vec![rule(READ, Deny, &["/s/"])]))), layers, "the same list twice is once");
}

#[test]
fn a_folder_is_listed_as_far_as_something_below_it_is_allowed() {
    let docs = project(vec![rule(READ, Allow, &["/docs/a/", "/src/*.rs"])]);
    let hole = project(vec![rule(READ, Allow, &["/s/open/"]), rule(READ, Deny, &["/s/"]), rule(READ, Allow, &["/"])]);
    let shut = project(vec![rule(READ, Deny, &["/s/"]), rule(READ, Allow, &["/"])]);
    let table = [
        (&docs, "", true),
        (&docs, "docs", true),
        (&docs, "docs/a/b", true),
        (&docs, "docs/b", false),
        (&docs, "src", true),
        (&docs, "DOCS", false),
        (&hole, "s", true),
        (&hole, "s/open", true),
        (&hole, "s/shut", false),
        (&shut, "s", false),
        (&shut, "S", false),
        (&shut, "", true),
    ];
    for (layer, folder, open) in table {
        assert_eq!(layer.refuses(Use::List, folder).is_none(), open, "{folder:?}");
    }
    assert!(docs.refuses(Use::Read, "docs").is_some(), "reading is not listing");
}

#[test]
fn a_sentence_names_the_rule_and_never_where_a_link_leads() {
    let said = |layer: Layer, access: Access, linked: bool| {
        let shown = Shown { path: "`x`", linked };
        let usage = if access == Access::Read { Use::Read } else { Use::Write };
        let why = layer.refuses(usage, "s/x").unwrap().refusal(access, shown).1;
        assert!(why.chars().count() < 300, "{why}");
        why
    };
    let reasoned = Rule { reason: Some("keys are kept there".into()), ..rule(READ, Deny, &["/s/"]) };
    assert_eq!(
        said(agent("a", vec![reasoned.clone()]), Access::Read, false),
        "`x` may not be read: rule 1 of agent a denies it (`/s/`): keys are kept there"
    );
    assert_eq!(
        said(agent("a", vec![reasoned]), Access::Read, true),
        "`x` may not be read: it leads to a place where rule 1 of agent a denies it: keys are kept there"
    );
    let docs = project(vec![rule(WRITE, Allow, &["/docs/", "/a", "/b", "/c", "/d"])]);
    assert_eq!(
        said(docs.clone(), Access::Write, false),
        "`x` may not be written: no rule of the project allows it, it allows `/docs/`, `/a`, `/b`, `/c`, and more"
    );
    assert!(!said(docs, Access::Write, true).contains("docs"));
    assert_eq!(
        said(project(vec![rule(WRITE, Ask, &["/s/"])]), Access::Write, false),
        "`x` may only be written if a person approves, and nobody can be asked: rule 1 of the project asks (`/s/`); to \
         allow it, put a rule with `mode: allow` before that one in deputize.yaml"
    );
}

#[test]
fn lists_in_a_log_are_plain() {
    let layers = Layers::new([agent("a", vec![rule(BOTH, Deny, &["/s/"])])]);
    let written = serde_json::to_string(&layers).unwrap();
    assert_eq!(
        written,
        r#"[{"source":{"agent":"a"},"rules":[{"operations":["read","write"],"paths":["/s/"],"mode":"deny"}]}]"#
    );
    assert_eq!(serde_json::from_str::<Layers>(&written).unwrap(), layers);
    assert!(strictest(std::iter::empty()).is_none());
}
