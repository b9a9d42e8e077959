//! Foreign folders: the ceiling `workspace`, what is mapped, what is denied, what it may cost.

use crate::support::{Folder, has, lines};
use deputize_core::code::APPROVAL_UNAVAILABLE;
use deputize_core::definition::message::Level;
use deputize_core::definition::{Operation, Permission, Profile, ToolChoice};
use deputize_core::id::AgentName;
use deputize_core::policy::{Access, Shown, Use};

fn said(folder: &Folder, code: &str) -> String {
    folder.load().messages.iter().find(|m| m.code == code).map(|m| m.text.clone()).unwrap_or_default()
}

#[test]
fn a_foreign_folder_runs_under_the_ceiling_workspace() {
    let folder = Folder::new().file(
        ".claude/agents/a.md",
        "---\nname: a\ndescription: d\ntools: Read, Write, Bash, WebFetch, mcp__x__y, TodoWrite\n---\nB",
    );
    let setup = folder.setup();
    assert!(setup.foreign);
    assert_eq!(setup.team.profile, Profile::Assisted);
    assert_eq!(setup.team.budget.tree.tokens, Some(500_000));
    let permissions = [Operation::Shell, Operation::Net].map(|o| setup.team.permissions.get(&o).copied().unwrap());
    assert_eq!(permissions, [Permission::Deny, Permission::Deny]);
    let layers = &setup.team.layers;
    assert!(layers.refuses(Use::Read, "a").is_none());
    let (code, why) =
        layers.refuses(Use::Write, "a").unwrap().refusal(Access::Write, Shown { path: "`a`", linked: false });
    assert_eq!(code, APPROVAL_UNAVAILABLE);
    assert!(
        why.contains("rule 2 of the ceiling `workspace` asks") && why.contains("`--allow write` allows it"),
        "{why}"
    );
    assert!(said(&folder, "foreign.mapped").contains("Read is read_file, Write is write_file"));
    let ceiling = said(&folder, "foreign.ceiling");
    assert!(ceiling.contains("writes ask") && ceiling.contains("Bash, WebFetch, mcp__x__y"), "{ceiling}");
    let cap = said(&folder, "foreign.cap");
    assert!(cap.contains("500000 tokens") && cap.contains("no cap in money"), "{cap}");
    assert!(said(&folder, "profile.chosen").contains("assisted"));
}

#[test]
fn flags_lift_the_ask_and_the_cap() {
    let folder = Folder::new().agent("a", "").with(|r| {
        r.overrides.allow = vec!["write".into()];
        r.overrides.budgets = vec![("tokens".into(), "2M".into())];
    });
    let setup = folder.setup();
    assert!(setup.team.layers.refuses(Use::Write, "a").is_none());
    assert_eq!(setup.team.budget.tree.tokens, Some(2_000_000));
    assert!(said(&folder, "foreign.ceiling").contains("allowed by the flag"));
}

#[test]
fn a_folder_with_a_configuration_is_not_foreign() {
    let folder = Folder::new().file("deputize.yaml", "").agent("a", "");
    let setup = folder.setup();
    assert!(!setup.foreign && setup.team.permissions.is_empty() && setup.team.layers.is_empty());
    assert_eq!(setup.team.profile, Profile::Strict);
    assert_eq!(setup.team.budget.tree.tokens, Some(2_000_000));
    assert!(!has(&folder.load(), Level::Info, "foreign.cap"));
}

#[test]
fn names_of_tools_of_other_products_are_mapped() {
    let table = [
        ("Read, Write, Edit, MultiEdit, LS, Glob, Grep", "read_file write_file edit_file ls glob grep"),
        ("read, write, edit, list, glob, grep, patch", "read_file write_file edit_file ls glob grep"),
        ("read_file, read_many_files, replace, list_directory, search_file_content", "read_file edit_file ls grep"),
        ("readFile, search, search/codebase, editFiles", "read_file grep glob edit_file"),
        ("READ, Read_File, read-file", "read_file"),
    ];
    for (tools, ours) in table {
        let setup = Folder::new().agent("a", &format!("tools: {tools}\n")).setup();
        let names = match &setup.team.agents[&AgentName::new("a")].tools {
            ToolChoice::Listed(tools) => tools.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(" "),
            other => format!("{other:?}"),
        };
        assert_eq!(names, ours, "{tools}");
    }
}

#[test]
fn an_unknown_tool_gets_the_nearest_name() {
    let loaded = Folder::new().agent("a", "tools: [Read, Gerp, Zorp]\n").load();
    let warnings = lines(&loaded.messages, Level::Warning);
    assert_eq!(
        warnings,
        [
            "agents/a.md:4:15 tool.unknown there is no tool `Gerp`; the nearest is `grep`",
            "agents/a.md:4:21 tool.unknown there is no tool `Zorp`"
        ]
    );
}
