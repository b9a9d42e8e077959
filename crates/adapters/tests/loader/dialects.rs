//! Agent files of other products: VS Code and Copilot, Gemini CLI, opencode. What they mean here, what has no effect, and
//! that nothing in them widens.

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::Listing;
use deputize_core::definition::message::Level;
use serde_json::json;

fn agent(folder: &Folder, name: &str) -> Listing {
    let loaded = folder.load();
    let found = loaded.agents.into_iter().find(|a| a.name == name);
    found.unwrap_or_else(|| panic!("no {name}: {:?}", loaded.messages))
}

fn warnings(folder: &Folder) -> Vec<String> {
    let said = lines(&folder.load().messages, Level::Warning);
    said.into_iter().map(|l| l.split_once(' ').unwrap().1.to_string()).collect()
}

/// One file at a path, with these lines of front matter.
fn file(path: &str, yaml: &str) -> Folder {
    Folder::new().file(path, format!("---\n{yaml}---\nBody.\n"))
}

#[test]
fn copilot_takes_its_name_from_the_file_and_the_first_of_its_models() {
    let folder = file(
        ".github/agents/Security Review.agent.md",
        "description: Reviews.\ntools: ['search', 'read', 'github/*']\nmodel: ['openai:large', 'GPT-5 (copilot)']\n\
         agents: []\nuser-invocable: false\nargument-hint: what to: review\nhandoffs:\n  - label: Go\n    agent: x\n",
    );
    let agent = agent(&folder, "security-review");
    assert_eq!(agent.model.as_deref(), Some("openai:large"));
    assert_eq!(agent.tools_resolved, ["grep", "glob", "read_file"]);
    assert!(agent.agents.is_empty() && agent.repaired, "the hint is no YAML and was read as text");
    let said = warnings(&folder).join("\n");
    for key in ["user-invocable", "argument-hint", "handoffs"] {
        assert!(said.contains(&format!("`{key}` has no effect")), "{said}");
    }
    assert!(said.contains("of `model` the first is used") && said.contains("github/*"), "{said}");
    assert!(!has(&folder.load(), Level::Error, "name.missing"));
}

#[test]
fn copilot_files_are_known_by_their_ending_and_named_ones_keep_their_name() {
    let folder = file("agents/a.agent.md", "name: Plan It\ndescription: Plans.\n").agent("b", "");
    assert_eq!(agent(&folder, "plan-it").name_as_written, "Plan It");
    // Without the ending and outside of the folder, a name is required.
    assert_eq!(codes(&file("agents/c.md", "description: d\n").load()), ["name.missing"]);
}

#[test]
fn who_must_not_be_delegated_to_is_not_meant_by_a_star() {
    let folder = Folder::new()
        .file("agents/shut.agent.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nB")
        .file("agents/old.agent.md", "---\ndescription: d\ninfer: false\n---\nB")
        .file("agents/open.agent.md", "---\ndescription: d\ndisable-model-invocation: false\n---\nB");
    let setup = folder.setup();
    let names = |of: &str| {
        let agents = &setup.team.agents[&deputize_core::id::AgentName::new(of)].agents;
        agents.iter().map(|a| a.as_str().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("root"), ["open"]);
    let named = folder.agent("lead", "agents: [shut]\n");
    assert_eq!(agent(&named, "lead").agents, ["shut"]);
    let star = named.agent("lead", "agents: \"*\"\n");
    assert_eq!(agent(&star, "lead").agents, ["open"]);
}

#[test]
fn gemini_speaks_snake_case_and_hides_files() {
    let yaml = "name: my_agent\ndescription: d\nkind: local\ntools:\n  - read_file\n  - run_shell_command\n  - mcp_x_*\n\
                model: openai:m\ntemperature: 0.2\nmax_turns: 7\ntimeout_mins: 3\n";
    let folder = file(".gemini/agents/a.md", yaml).file(".gemini/agents/_notes.md", "---\nbroken: [\n---\n");
    let folder =
        folder.file(".gemini/agents/far.md", "---\nname: far\ndescription: d\nkind: remote\nagent_card_url: u\n---\n");
    let found = agent(&folder, "my-agent");
    assert_eq!((found.max_turns, found.tools_resolved), (Some(7), vec!["read_file".to_string()]));
    let loaded = folder.load();
    assert!(lines(&loaded.messages, Level::Error).is_empty(), "{:?}", loaded.messages);
    let setup = loaded.setup.clone().unwrap();
    let definition = &setup.team.agents[&deputize_core::id::AgentName::new("my-agent")];
    assert_eq!(definition.timeout, Some(180_000));
    let said = warnings(&folder).join("\n");
    assert!(
        said.contains("agent.unsupported `kind: remote`") && said.contains("`temperature` has no effect"),
        "{said}"
    );
    assert!(!said.contains("key.spelling"), "{said}");
    assert!(
        loaded
            .messages
            .iter()
            .any(|m| m.code == "file.skipped" && m.file.as_deref() == Some(".gemini/agents/_notes.md"))
    );
    // In a folder of our own such a file is one like any other.
    assert!(!file("agents/_a.md", "name: a\ndescription: d\n").load().agents.is_empty());
}

#[test]
fn opencode_names_by_path_and_takes_away() {
    let cases = [
        ("tools:\n  bash: false\n  write: false\n", json!(null), vec!["bash", "write"], "ls read_file glob grep"),
        ("tools:\n  \"*\": false\n  read: true\n", json!(["read"]), vec![], "read_file"),
        ("tools:\n  gre*: false\n", json!(null), vec!["gre*"], "ls read_file glob"),
        ("permission:\n  read: deny\n", json!(null), vec!["read"], "ls glob grep"),
        ("permission:\n  grep: ask\n", json!(null), vec!["grep"], "ls read_file glob"),
        (
            "permission:\n  edit: deny\n  read: allow\n",
            json!(null),
            vec!["edit", "write", "patch"],
            "ls read_file glob grep",
        ),
        (
            "permission:\n  list:\n    \"*\": allow\n    secret: deny\n",
            json!(null),
            vec!["list"],
            "read_file glob grep",
        ),
        ("permission: allow\n", json!(null), vec![], "ls read_file glob grep"),
        ("permission: deny\n", json!([]), vec![], ""),
        (
            "permissions:\n  - {action: glob, resource: '*', effect: deny}\n  - {action: glob, resource: x, effect: allow}\n",
            json!(null),
            vec!["glob"],
            "ls read_file grep",
        ),
        ("permission: {\"*\": deny, read: allow}\n", json!(["read"]), vec![], "read_file"),
    ];
    for (yaml, tools, disallowed, resolved) in cases {
        let folder = file(".opencode/agents/team/check.md", &format!("description: d\nmode: subagent\n{yaml}"));
        let found = agent(&folder, "team-check");
        assert_eq!(
            (found.tools, found.disallowed, found.tools_resolved.join(" ")),
            (tools, disallowed.iter().map(ToString::to_string).collect(), resolved.into()),
            "{yaml}"
        );
    }
}

#[test]
fn opencode_maps_its_other_keys() {
    let yaml = "description: d\nmode: primary\nmodel: openai/m-1#high\nsteps: 9\nhidden: true\ntop_p: 1\n";
    let folder = file(".opencode/agents/lead.md", yaml)
        .file(".opencode/agents/off.md", "---\ndescription: d\ndisable: true\n---\n");
    let found = agent(&folder, "lead");
    assert_eq!((found.model.as_deref(), found.max_turns), (Some("openai:m-1"), Some(9)));
    assert_eq!(folder.load().agents.len(), 1);
    let said = warnings(&folder).join("\n");
    assert!(said.contains("variant `high`") && said.contains("`hidden`") && said.contains("`top_p`"), "{said}");
    let wrong = file(
        ".opencode/agents/a.md",
        "description: d\nmode: sometimes\ntools: {bash: maybe}\npermission: {read: never}\nsteps: 0\n",
    );
    assert_eq!(codes(&wrong.load()), ["key.type", "key.type", "key.type", "budget.not_positive"]);
}

#[test]
fn names_in_paths_stay_names() {
    let folder = file(".opencode/agents/a/../../x.md", "description: d\n");
    assert!(folder.load().agents.iter().all(|a| !a.name.contains(['/', '.'])));
    let odd = file(".github/agents/....agent.md", "description: d\n").load();
    assert_eq!(codes(&odd), ["name.invalid"]);
}

#[test]
fn the_folders_of_other_products_are_read_when_there_is_no_other() {
    for (path, name) in
        [(".github/agents/x.agent.md", "x"), (".gemini/agents/x.md", "x"), (".opencode/agents/x.md", "x")]
    {
        let folder = file(path, "name: x\ndescription: d\n");
        assert_eq!(agent(&folder, name).name, name);
        let both = file(path, "name: x\ndescription: d\n").agent("own", "");
        assert!(both.load().agents.iter().all(|a| a.name == "own"));
        let named = both.with(|r| r.team = Some(path.into()));
        assert_eq!(agent(&named, name).name, name);
    }
}
