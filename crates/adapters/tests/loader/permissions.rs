//! `permissions` in both files: what is read, what is refused, and the lint of rules that can never match or matter.

use crate::support::{Folder, codes, lines};
use deputize_adapters::loader::Loaded;
use deputize_core::definition::message::Level;
use deputize_core::id::AgentName;
use deputize_core::policy::{Access, Permission, Source, Use};
use std::fs;

/// A folder whose project and whose agent `a` have these rules; an empty text is no key.
fn folder(project: &str, agent: &str) -> Folder {
    let key = |rules: &str| if rules.is_empty() { String::new() } else { format!("permissions:\n{rules}") };
    let folder = Folder::new().file("deputize.yaml", key(project)).agent("a", &format!("tools: []\n{}", key(agent)));
    fs::create_dir_all(folder.path().join("docs")).unwrap();
    fs::write(folder.path().join("LICENSE"), "").unwrap();
    folder
}

fn said(loaded: &Loaded, level: Level) -> Vec<String> {
    lines(&loaded.messages, level).into_iter().filter(|l| l.contains(" permission.")).collect()
}

const OPEN: &str = "  - {operations: [read, write], paths: [/]}\n";

// covers D-08
#[test]
fn rules_of_both_files_are_read() {
    let project = "  - {operations: [write], paths: [\"/docs/**/*.md\"], mode: deny, reason: They are generated.}\n";
    let agent = "  - operations: read, write\n    paths: [/docs/]\n    mode: ask\n";
    let setup = folder(&format!("{project}{OPEN}"), &format!("{agent}{OPEN}")).setup();
    let [list] = setup.team.layers.as_slice() else { panic!("{:?}", setup.team.layers) };
    assert_eq!((&list.source, list.rules.len()), (&Source::Project, 2));
    let rule = &list.rules[0];
    assert_eq!((&rule.operations[..], rule.mode), (&[Access::Write][..], Permission::Deny));
    assert_eq!((rule.paths[0].as_str(), rule.reason.as_deref()), ("/docs/**/*.md", Some("They are generated.")));
    assert_eq!(list.rules[1].mode, Permission::Allow, "the mode of a rule that names none");
    let own = setup.team.agents[&AgentName::new("a")].permissions.clone().unwrap();
    assert_eq!((own[0].mode, own[0].operations.len()), (Permission::Ask, 2));
    assert_eq!(setup.team.workspace, std::slice::from_ref(&setup.workspace));
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_place() {
    let agent = [
        "  - {operations: [read], paths: [docs/, \"/a/../b\", \"~/x\", /fine/]}\n",
        "  - {operations: [read, delete], paths: [/x], mode: maybe}\n",
        "  - {paths: [/x]}\n",
        "  - {operations: [], paths: []}\n",
        "  - {operations: [read], paths: [/x], actions: [shell]}\n",
        "  - {actions: [shell], resources: [git]}\n",
        "  - {operations: [read], path: [/x]}\n",
        "  - all\n",
    ];
    let loaded = folder("", &agent.concat()).load();
    let errors = lines(&loaded.messages, Level::Error);
    let expected = [
        "agents/a.md:6:34 permission.path `permissions.paths`: the path `docs/` cannot be used: a path begins with `/`",
        "agents/a.md:6:41 permission.path `permissions.paths`: the path `/a/../b` cannot be used: `..` is not allowed",
        "agents/a.md:6:52 permission.path `permissions.paths`: the path `~/x` cannot be used: `~` is not expanded",
        "agents/a.md:7:53 key.type `permissions.mode` must be `allow`, `deny`, `ask` or `interrupt`, not `maybe`",
        "agents/a.md:7:25 permission.operation `permissions.operations`: there is no operation `delete`",
        "agents/a.md:8:5 permission.incomplete a rule of `permissions` has no `operations`",
        "agents/a.md:9:18 permission.incomplete `permissions.operations` is empty",
        "agents/a.md:9:29 permission.incomplete `permissions.paths` is empty",
        "agents/a.md:10:39 key.unsupported `permissions.actions` is not in this build",
        "agents/a.md:11:6 key.unsupported `permissions.actions` is not in this build",
        "agents/a.md:11:24 key.unsupported `permissions.resources` is not in this build",
        "agents/a.md:12:26 key.unknown `permissions.path` is no known key",
        "agents/a.md:12:5 permission.incomplete a rule of `permissions` has no `paths`",
        "agents/a.md:13:5 key.type `permissions` must be a map, not `all`",
    ];
    for (error, start) in errors.iter().zip(expected) {
        assert!(error.starts_with(start), "{error}\n{start}\n{errors:#?}");
    }
    assert_eq!(errors.len(), expected.len(), "{errors:#?}");
    let loaded = folder("  - {operations: [read], paths: [x]}\n", "").load();
    assert_eq!(codes(&loaded), ["permission.path"]);
}

#[test]
fn the_word_of_another_product_is_read_as_ask() {
    let folder = folder(&format!("  - {{operations: [write], paths: [/docs/], mode: interrupt}}\n{OPEN}"), "");
    assert_eq!(codes(&folder.load()), ["permission.interrupt"]);
    assert_eq!(folder.setup().team.layers.refuses(Use::Write, "docs/a").unwrap().mode, Permission::Ask);
}

// What can never match or never matter is said; what is right draws nothing.
// covers X-10
#[test]
fn rules_without_effect_are_warned_about() {
    let deny = |paths: &str| format!("  - {{operations: [read, write], paths: [{paths}], mode: deny}}\n");
    let allow = |paths: &str| format!("  - {{operations: [read, write], paths: [{paths}]}}\n");
    let read = |paths: &str| format!("  - {{operations: [read], paths: [{paths}]}}\n");
    let write = |paths: &str| format!("  - {{operations: [write], paths: [{paths}]}}\n");
    let table: &[(&str, String, &[&str])] = &[
        ("in order", deny("/docs/") + OPEN, &[]),
        ("read alone", read("/docs/"), &[]),
        ("narrow before wide", allow("/docs/new/") + &deny("/docs/") + OPEN, &[]),
        ("an existing file", deny("/LICENSE, /a.txt") + OPEN, &[]),
        ("two halves are not the whole", read("/docs/") + &allow("/docs/a/"), &[]),
        (
            "wide before narrow",
            OPEN.to_string() + &deny("/docs/"),
            &["permission.shadowed rule 2 never decides: rule 1"],
        ),
        (
            "the root first, as in another product's own example",
            "  - {operations: [write], paths: [/], mode: deny}\n".to_string() + &write("/docs/") + &read("/"),
            &["permission.shadowed rule 2 never decides: rule 1 matches all its paths before it"],
        ),
        (
            "one path of two",
            deny("\"/docs/**\"") + &allow("/docs/a.md, /src/"),
            &["permission.shadowed `/docs/a.md` of rule 2 never decides: rule 1 matches it before"],
        ),
        ("by two rules", read("/docs/") + &write("/docs/") + &deny("/docs/x/") + OPEN, &["permission.shadowed rule 3"]),
        ("only deny", deny("/docs/"), &["permission.only_deny no rule of `permissions` allows anything"]),
        ("nothing to read", write("/docs/"), &["permission.no_read no rule of `permissions` allows reading"]),
        (
            "a folder without its slash",
            deny("/docs") + OPEN,
            &["permission.exact `/docs` is a folder, and the rule matches that path alone, nothing below it"],
        ),
        ("what may become a folder", deny("/secrets") + OPEN, &["permission.exact `/secrets` matches that path alone"]),
        (
            "the built-in rules",
            write("/.git/") + OPEN,
            &["permission.no_effect rule 1 allows nothing: its paths are closed by the built-in rules"],
        ),
    ];
    for (what, rules, expected) in table {
        for (loaded, place) in
            [(folder(rules, "").load(), "deputize.yaml:"), (folder("", rules).load(), "agents/a.md:")]
        {
            let warnings = said(&loaded, Level::Warning);
            assert_eq!(warnings.len(), expected.len(), "{what}: {warnings:#?}");
            for (warning, part) in warnings.iter().zip(*expected) {
                assert!(warning.starts_with(place) && warning.contains(part), "{what}: {warning}");
            }
        }
    }
    let empty = Folder::new().file("deputize.yaml", "permissions: []\n").agent("a", "tools: []\n").load();
    assert_eq!(codes(&empty), ["permission.empty"]);
}

// covers X-10
#[test]
fn a_path_of_the_disk_never_matches() {
    let folder = folder("", "");
    let root = folder.path().canonicalize().unwrap().display().to_string();
    let rules = format!("permissions:\n  - {{operations: [read, write], paths: [{root}/docs/], mode: deny}}\n{OPEN}");
    let warnings = said(&folder.file("deputize.yaml", rules).load(), Level::Warning);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("permission.never") && warnings[0].contains("paths begin at the workspace"));
}

// covers X-10
#[test]
fn an_allow_that_a_list_above_always_overrules_is_warned_about() {
    let shut = format!("  - {{operations: [read, write], paths: [/docs/], mode: deny}}\n{OPEN}");
    let narrow = "  - {operations: [read, write], paths: [/src/]}\n";
    let docs = "  - {operations: [read, write], paths: [/docs/a/]}\n";
    let table = [
        (shut.as_str(), docs, true),
        (narrow, docs, true),
        (shut.as_str(), OPEN, false),
        (narrow, OPEN, false),
        (docs, "  - {operations: [read], paths: [/docs/]}\n", false),
    ];
    for (project, agent, warned) in table {
        let warnings = said(&folder(project, agent).load(), Level::Warning);
        assert_eq!(warnings.len() == 1, warned, "{project}{agent}{warnings:?}");
        assert!(
            !warned || warnings[0].contains("rule 1 allows nothing: its paths are closed by the project"),
            "{warnings:?}"
        );
    }
}

#[test]
fn a_deny_that_holds_anyway_is_no_warning() {
    let rules = "  - {operations: [read], paths: [/docs/]}\n  - {operations: [read, write], paths: [/], mode: deny}\n";
    let loaded = folder(rules, "").load();
    assert_eq!(codes(&loaded), Vec::<&str>::new());
    assert!(said(&loaded, Level::Info)[0].contains("permission.default rule 2 changes nothing"));
}

// What holds for an agent is what `check` shows: the project's, those above it, its own.
// covers X-09
#[test]
fn fault_34_the_rules_that_hold_are_listed() {
    let own = format!("tools: []\npermissions:\n{OPEN}");
    let folder = Folder::new()
        .file("deputize.yaml", format!("root: lead\npermissions:\n{OPEN}"))
        .agent("lead", &format!("agents: [mid]\n{own}"))
        .agent("mid", "agents: [leaf]\ntools: []\n")
        .agent("leaf", &own);
    let loaded = folder.load();
    let listed = |name: &str| {
        let agent = loaded.agents.iter().find(|agent| agent.name == name).unwrap();
        let sources = agent.permissions.as_slice().iter().map(|layer| layer.source.to_string());
        sources.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(listed("lead"), "the project, agent lead");
    assert_eq!(listed("mid"), "the project, agent lead");
    assert_eq!(listed("leaf"), "the project, agent lead, agent leaf");
    let json = serde_json::to_value(&loaded.agents[0]).unwrap();
    assert_eq!(json["permissions"][0]["source"], "project");
}

/// The examples of the guide: each names its file in its first line.
#[test]
fn every_example_of_the_guide_is_read() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/permissions.md");
    let text = fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).map(|b| b.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        let folder = match block.lines().next().unwrap() {
            "# deputize.yaml" => folder(block.split_once("permissions:\n").unwrap().1, ""),
            "# agents/writer.md" => folder("", block.split_once("permissions:\n").unwrap().1),
            other => panic!("{other}"),
        };
        assert_eq!(codes(&folder.load()), Vec::<&str>::new(), "{block}");
    }
    // The outcomes that its table claims for its first example.
    let rules = text.split("permissions:\n").nth(1).unwrap().split("```").next().unwrap();
    let layers = folder(rules, "").setup().team.layers;
    let mut rows = 0;
    for row in text.lines().filter_map(|line| line.strip_prefix("| `").filter(|line| line.contains("` | `/"))) {
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let usage = if cells[0] == "write" { Use::Write } else { Use::Read };
        let rule = layers.as_slice()[0].decide(usage.access(), cells[1]).rule;
        let word = if layers.refuses(usage, cells[1]).is_none() { "allowed" } else { "denied" };
        let by = rule.map_or("no rule".to_string(), |at| format!("rule {}", at + 1));
        assert_eq!((word, by.as_str()), (cells[2], cells[3]), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 7);
}
