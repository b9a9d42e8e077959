//! Whole teams: all errors of all files at once, the choice of the root, precedence, what a run is given.
// covers F-02

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::{Purpose, Sync, render};
use deputize_core::definition::message::Level;
use deputize_core::definition::{InDoubt, Profile};
use deputize_core::id::{AgentName, ModelName, ToolName};
use std::fs;

fn root_of(folder: &Folder) -> String {
    let loaded = folder.load();
    let said = lines(&loaded.messages, Level::Info).into_iter().find(|l| l.contains("root.chosen"));
    said.unwrap_or_else(|| codes(&loaded).join(" "))
}

#[test]
fn errors_in_five_files_come_at_once_sorted_and_with_their_places() {
    let folder = Folder::new()
        .file("deputize.yaml", "profile: strict\nbudget:\n  tree: {tokens: 0}\nrot: lead\n")
        .agent("lead", "agents: [reader, writer, ghost]\ntools: [Read]\n")
        .agent("reader", "budget: {turns: -1}\noutput: {type: list}\n")
        .file("agents/open.md", "---\nname: open\ndescription: x\n")
        .file("agents/sub/broken.md", "---\nname: broken\ndescription: x\ntools: [Read\nmodel: fast\n---\nBody.\n")
        .file("agents/latin.md", b"---\nname: latin\ndescription: Pr\xfcft\n---\nBody.\n");
    let loaded = folder.load();
    let errors: Vec<String> = lines(&loaded.messages, Level::Error);
    let places: Vec<String> = errors.iter().map(|e| e.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let wanted = [
        "agents/latin.md:3:16 file.not_utf8",
        "agents/lead.md:4:18 agent.unknown",
        "agents/lead.md:4:26 agent.unknown",
        "agents/open.md:1:1 frontmatter.open",
        "agents/reader.md:4:17 budget.not_positive",
        "agents/reader.md:5:9 output.schema",
        "agents/sub/broken.md:4:13 yaml.syntax",
        "deputize.yaml:3:18 budget.not_positive",
        "deputize.yaml:4:1 key.unknown",
    ];
    assert_eq!(places, wanted, "{}", errors.join("\n"));
    assert!(loaded.setup.is_none());
    assert_eq!(loaded.agents.iter().filter(|a| a.file.is_some()).count(), 1, "the good file is listed");
    assert!(loaded.sources.contains_key("agents/reader.md"));
}

#[test]
fn one_fault_of_a_file_hides_no_other() {
    let errors = |folder: &Folder| {
        let said = lines(&folder.load().messages, Level::Error);
        said.iter().map(|e| e.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    // A key that stands twice, a tag, and values that are wrong.
    let yaml = "---\nname: a\ndescription: d\ncolor: red\ncolor: blue\nmaxTurns: 0\nmodel: !!python/x y\nevidence: none\n---\nB\n";
    let wanted = [
        "agents/a.md:5:1 yaml.duplicate_key",
        "agents/a.md:6:11 budget.not_positive",
        "agents/a.md:7:8 yaml.tag",
        "agents/a.md:8:11 key.type",
    ];
    assert_eq!(errors(&Folder::new().file("agents/a.md", yaml)), wanted);
    // What is no YAML at all, beside values that are wrong; a description that cannot be read is not also missing.
    let yaml = "---\nname: a\ndescription: |x: [\n tools: y\ntools: [Read\nmaxTurns: 0\n---\nB\n";
    let wanted =
        ["agents/a.md:3:14 yaml.syntax", "agents/a.md:5:13 yaml.syntax", "agents/a.md:6:11 budget.not_positive"];
    assert_eq!(errors(&Folder::new().file("agents/a.md", yaml)), wanted);
    let config = "profile: lax\nbudget: {tree: {tokens: 0}\nrot: x\nroot: a\nroot: b\nroles: {default: \"lab:m\"}\n";
    let wanted = [
        "deputize.yaml:1:10 key.type",
        "deputize.yaml:2:27 yaml.syntax",
        "deputize.yaml:3:1 key.unknown",
        "deputize.yaml:5:1 yaml.duplicate_key",
    ];
    assert_eq!(errors(&Folder::new().agent("a", "").file("deputize.yaml", config)), wanted);
}

#[test]
fn a_file_that_cannot_be_read_is_not_a_file_that_is_not_there() {
    for bad in ["---\nname: a\n", "---\nname: a\nname: b\ndescription: d\n---\n", "---\nname: a\ntools: [\n---\n"] {
        let folder = Folder::new().file("agents/a.md", bad).agent("lead", "agents: [a]\n").agent("b", "");
        let loaded = folder.load();
        let all = loaded.messages.iter().map(|m| format!("{} {}", m.code, m.text)).collect::<Vec<_>>().join("\n");
        assert!(!all.contains("no agent") && !all.contains("there is no"), "{all}");
        assert!(!all.contains("agent.unreachable") && !all.contains("root.chosen"), "{all}");
        let alone = Folder::new().file("agents/a.md", bad).file("deputize.yaml", "root: a\n");
        assert!(alone.load().messages.iter().all(|m| m.file.as_deref() != Some("deputize.yaml")));
        let alone = Folder::new().file("agents/a.md", bad).load();
        assert!(!alone.messages.iter().any(|m| m.text.contains("no agent file")), "{:?}", alone.messages);
    }
    // A provider that is declared and cannot be used is not one that is not known.
    let config = "providers: {lab: {kind: opneai}}\nroles: {default: \"lab:m\"}\n";
    let loaded = Folder::new().agent("a", "model: \"lab:m\"\n").file("deputize.yaml", config).load();
    assert_eq!(codes(&loaded), ["key.value"]);
}

#[test]
fn a_message_shows_its_line_with_a_mark_and_what_to_do() {
    let folder = Folder::new()
        .file("deputize.yaml", "profile: strict\n\u{e4}: 1\nproviders: {lab: {kind: openai, base_ulr: x}}\n");
    let loaded = folder.load();
    let message = loaded.messages.iter().find(|m| m.line == Some(3)).unwrap();
    let shown = render(message, &loaded.sources);
    let wanted = "deputize.yaml:3:33: error[key.unknown]: `providers.lab.base_ulr` is no known key\n  \
                  3 | providers: {lab: {kind: openai, base_ulr: x}}\n    \
                  |                                 ^\n  \
                  = did you mean `base_url`?\n";
    assert_eq!(shown, wanted);
    let evil = Folder::new().file("agents/a.md", "---\nname: \"a\\e[31m\"\ndescription: \u{1b}[2J\n---\n").load();
    let all: String = evil.messages.iter().map(|m| render(m, &evil.sources)).collect();
    assert!(!all.contains('\u{1b}'), "{all}");
}

#[test]
fn the_root_is_chosen_by_five_rules() {
    let trio = || Folder::new().agent("lead", "agents: [a, b]\n").agent("a", "").agent("b", "");
    assert!(root_of(&trio().with(|r| r.agent = Some("B".into()))).contains("`b`: the flag"));
    let named = trio().with(|r| r.team = Some("agents/a.md".into()));
    assert!(root_of(&named).contains("`a`: its file was named"));
    assert!(root_of(&trio().file("deputize.yaml", "root: b\n")).contains("`b`: `root` of the configuration"));
    assert!(root_of(&trio()).contains("`lead`: it is the only agent with `agents`"));
    let two_leads = trio().agent("other", "agents: [a]\n");
    assert!(root_of(&two_leads).contains("`root`: the built-in supervisor, over all 4 agents"));
    assert!(root_of(&Folder::new()).contains("`general`: there is no agent file"));
    assert_eq!(root_of(&trio().with(|r| r.agent = Some("c".into()))), "agent.unknown");
    assert_eq!(root_of(&trio().file("deputize.yaml", "root: leed\n")), "root.unknown");
    let taken = Folder::new().agent("root", "").agent("a", "").setup();
    assert_eq!(taken.team.root.as_str(), "root-2");
    assert_eq!(taken.team.agents[&taken.team.root].agents.len(), 2);
    let loop_of_two = Folder::new().agent("a", "agents: [b]\n").agent("b", "agents: [a]\n");
    assert!(loop_of_two.load().setup.is_some(), "circles are allowed");
}

#[test]
fn the_built_in_agents_are_whole() {
    let general = Folder::new().setup();
    let agent = &general.team.agents[&general.team.root];
    assert!(agent.body.len() > 200 && agent.agents.is_empty());
    assert_eq!(general.team.held(agent, &general.team.above_root()).tools.len(), 6);
    let supervisor = Folder::new().agent("a", "").setup();
    let agent = &supervisor.team.agents[&supervisor.team.root];
    assert!(agent.body.len() > 200 && agent.agents == [AgentName::new("a")]);
}

#[test]
fn load_folders_have_an_order_and_each_real_folder_is_read_once() {
    let text = |body: &str| format!("---\nname: twin\ndescription: d\n---\n{body}");
    let folder = Folder::new()
        .file("agents/z.md", text("first folder"))
        .file(".claude/agents/a.md", text("second folder"))
        .file("agents/sub/deep.md", text("deeper").replace("twin", "deep"));
    let loaded = folder.load();
    let twin = loaded.agents.iter().find(|a| a.name == "twin").unwrap();
    assert_eq!((twin.body.as_str(), twin.source.as_str()), ("first folder", "agents"));
    assert!(loaded.agents.iter().any(|a| a.name == "deep"));
    assert_eq!(codes(&loaded), ["agent.shadowed"]);
    // A link to itself, a link to the other folder.
    std::os::unix::fs::symlink("..", folder.path().join("agents/sub/loop")).unwrap();
    assert_eq!(folder.load().agents, loaded.agents);
    let one = Folder::new().agent("a", "");
    fs::create_dir(one.path().join(".claude")).unwrap();
    std::os::unix::fs::symlink("../agents", one.path().join(".claude/agents")).unwrap();
    assert_eq!(codes(&one.load()), Vec::<&str>::new());
}

#[test]
fn load_takes_folders_files_and_globs() {
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\nB");
    let names = |load: &str| {
        let folder = Folder::new()
            .file("deputize.yaml", format!("load: {load}\n"))
            .file("agents/a.md", text("a"))
            .file("vendor/one/agents/b.md", text("b"))
            .file("vendor/two/agents/c.md", text("c"))
            .file("vendor/two/notes.md", text("n"));
        let loaded = folder.load();
        let mut names: Vec<String> = loaded.agents.into_iter().filter(|a| a.file.is_some()).map(|a| a.name).collect();
        names.extend(loaded.messages.iter().filter(|m| m.level != Level::Info).map(|m| m.code.clone()));
        names.join(" ")
    };
    let table = [
        ("[agents]", "a"),
        ("[agents/]", "a"),
        ("[vendor, agents]", "a b c n"),
        ("[vendor/*/agents]", "b c"),
        ("[\"vendor/**/c.md\"]", "c"),
        ("[vendor/two/notes.md]", "n"),
        ("[agents, nowhere]", "a load.missing"),
        ("[\"no*\"]", "load.missing"),
        ("[]", ""),
    ];
    for (load, expected) in table {
        assert_eq!(names(load), expected, "{load}");
    }
}

#[test]
fn other_products_folders_are_read_when_there_is_no_usual_one() {
    let text = "---\nname: a\ndescription: d\n---\nB";
    let folder = Folder::new().file(".gemini/agents/a.md", text).file(".opencode/agents/b.md", text);
    let loaded = folder.load();
    assert_eq!(loaded.agents.iter().find(|a| a.name == "a").unwrap().source, ".gemini/agents");
    assert!(has(&loaded, Level::Info, "load.fallback"));
}

#[test]
fn what_may_be_named_as_a_team() {
    let text = "---\nname: a\ndescription: d\n---\nB";
    let of = |team: &str, purpose: Purpose| {
        let folder = Folder::new()
            .file("proj/agents/a.md", text)
            .file("plain/x/a.md", text)
            .file("ctx/AGENTS.md", "# Rules\n")
            .file("conf/deputize.yaml", "name: c\n")
            .file("conf/agents/a.md", text)
            .file("note.txt", "x")
            .with(|r| (r.team, r.purpose) = (Some(team.into()), purpose));
        let loaded = folder.load();
        let agents: Vec<_> = loaded.agents.iter().filter(|a| a.file.is_some()).map(|a| a.source.clone()).collect();
        let name = loaded.setup.map(|s| format!("{} {}", s.team.name, if s.foreign { "foreign" } else { "own" }));
        let code = loaded.messages.iter().find(|m| m.level == Level::Error).map(|m| m.code.clone());
        (name.or(code).unwrap(), agents.join(" "))
    };
    let table = [
        ("proj", "proj foreign", "agents"),
        ("proj/agents", "agents foreign", "."),
        ("plain", "plain foreign", "."),
        ("plain/x/a.md", "x foreign", "."),
        ("proj/agents/a.md", "proj foreign", "agents"),
        ("conf", "c own", "agents"),
        ("conf/deputize.yaml", "c own", "agents"),
        ("conf/agents/a.md", "c own", "agents"),
        ("ctx", "ctx foreign", ""),
        ("nowhere", "path.missing", ""),
        ("note.txt", "path.kind", ""),
    ];
    for (team, name, sources) in table {
        for purpose in [Purpose::Run, Purpose::Check] {
            assert_eq!(of(team, purpose), (name.to_string(), sources.to_string()), "{team}");
        }
    }
}

#[test]
fn a_check_of_one_file_speaks_of_that_file() {
    let folder = Folder::new().agent("a", "modle: x\n").agent("b", "modle: x\n");
    let loaded = folder.with(|r| r.team = Some("agents/b.md".into())).load();
    assert_eq!(loaded.agents.iter().map(|a| a.name.as_str()).collect::<Vec<_>>(), ["b"]);
    let files: Vec<_> = loaded.messages.iter().filter_map(|m| m.file.as_deref()).collect();
    assert!(files.iter().all(|f| *f == "agents/b.md") && !files.is_empty(), "{files:?}");
}

#[test]
fn paths_are_shown_relative_to_the_current_folder() {
    let folder = Folder::new().agent("a", "modle: x\n").file("here/keep.txt", "");
    let folder = folder.with(|r| {
        r.cwd.push("here");
        r.team = Some("..".into());
    });
    let loaded = folder.load();
    assert_eq!(
        loaded.messages.iter().find(|m| m.code == "key.unknown").unwrap().file.as_deref(),
        Some("../agents/a.md")
    );
    assert_eq!(loaded.setup.unwrap().project, "..");
}

#[test]
fn a_configuration_is_carried_into_the_setup() {
    let text = "name: docs\nprofile: assisted\nworkspace: work\ntools: [read_file, grep, shell]\nproject_context: [STYLE.md]\n\
                budget:\n  run: {turns: 5}\n  tree: {tokens: 1M, time: 10m, runs: 7, depth: 2, concurrency: 9, hops: 1}\n\
                output_limits: {tool_result: 8k}\ntool_timeout: {grep: 2m}\nin_doubt: retry\nstore: {path: logs/s.db, sync: normal}\n\
                models: {\"openai:x\": {context: 32k, streaming: false}}\nroles: {default: \"openai:x\"}\naliases: {haiku: think}\n\
                check: {tool.unavailable: off}\n";
    let folder = Folder::new()
        .file("deputize.yaml", text)
        .file("work/keep.txt", "")
        .file("STYLE.md", "Be brief.\r\n")
        .agent("a", "");
    let loaded = folder.load();
    assert_eq!(codes(&loaded), Vec::<&str>::new());
    let setup = loaded.setup.unwrap();
    let team = &setup.team;
    assert_eq!((team.name.as_str(), team.profile, setup.foreign), ("docs", Profile::Assisted, false));
    assert_eq!(setup.workspace, folder.path().join("work").canonicalize().unwrap());
    assert_eq!(team.ceiling, [ToolName::new("read_file"), ToolName::new("grep")]);
    assert_eq!(
        (team.project_context[0].path.as_str(), team.project_context[0].text.as_str()),
        ("STYLE.md", "Be brief.\n")
    );
    assert_eq!((team.budget.run.turns, team.budget.run.tokens), (Some(5), Some(400_000)));
    assert_eq!((team.budget.tree.tokens, team.budget.tree.time), (Some(1_000_000), Some(600_000)));
    assert_eq!((team.budget.depth, team.budget.concurrency, team.budget.hops), (2, 9, 1));
    assert_eq!((team.output_limits.tool_result, team.output_limits.child_summary), (8_000, 2_000));
    assert_eq!((team.tool_timeout.default, team.tool_timeout.by_tool[&ToolName::new("grep")]), (60_000, 120_000));
    assert_eq!(team.in_doubt, InDoubt::Retry);
    assert_eq!((setup.store.path.clone().unwrap(), setup.store.sync), (folder.path().join("logs/s.db"), Sync::Normal));
    let limits = team.models.limits(&ModelName::new("openai:x"));
    assert_eq!((limits.context, limits.max_output, limits.streaming), (32_000, 8_000, false));
    assert_eq!(team.models.aliases["haiku"], "think");
    let stored = serde_json::to_string(&setup).unwrap();
    assert_eq!(serde_json::from_str::<deputize_adapters::loader::Setup>(&stored).unwrap(), setup);
}

#[test]
fn flags_win_over_files() {
    let folder = Folder::new()
        .file(
            "deputize.yaml",
            "roles: {fast: \"openai:a\"}\nbudget: {tree: {tokens: 1M}, run: {turns: 3}}\nworkspace: nowhere\n",
        )
        .agent("a", "budget: {turns: 4, tokens: 9k}\nmodel: strange\n")
        .with(|r| {
            r.agent = Some("a".into());
            r.workspace = Some(".".into());
            r.overrides.model = Some("openai:big:q4".into());
            r.overrides.roles = vec![("fast".into(), "openai:b".into())];
            r.overrides.budgets =
                [("tokens", "300k"), ("tool-calls", "7"), ("turns", "2")].map(|(k, v)| (k.into(), v.into())).into();
        });
    let setup = folder.setup();
    assert_eq!(setup.team.models.forced, Some(ModelName::new("openai:big:q4")));
    assert_eq!(setup.team.models.roles["fast"], ModelName::new("openai:b"));
    assert_eq!(setup.team.budget.tree.tokens, Some(300_000));
    let root = &setup.team.agents[&setup.team.root];
    assert_eq!((root.budget.turns, root.budget.tool_calls, root.budget.tokens), (Some(2), Some(7), Some(9_000)));
    let loaded = folder.load();
    assert!(
        loaded.messages.iter().any(|m| m.code == "model.unknown" && m.text.contains("`openai:big:q4` is used instead"))
    );
    assert!(loaded.blockers().is_empty());
}

#[test]
fn flags_that_are_wrong() {
    let wrong = |change: fn(&mut deputize_adapters::loader::LoadRequest)| {
        let loaded = Folder::new().agent("a", "").with(change).load();
        loaded.messages.iter().filter(|m| m.level == Level::Error).map(|m| m.code.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(wrong(|r| r.overrides.model = Some("gpt".into())), "model.unknown");
    assert_eq!(wrong(|r| r.overrides.model = Some("openai:".into())), "model.unknown");
    assert_eq!(wrong(|r| r.overrides.model = Some("lab:x".into())), "model.unknown");
    assert_eq!(wrong(|r| r.overrides.roles = vec![("quick".into(), "openai:x".into())]), "role.unknown");
    assert_eq!(wrong(|r| r.overrides.budgets = vec![("tokens".into(), "unlimited".into())]), "budget.not_positive");
    assert_eq!(wrong(|r| r.overrides.budgets = vec![("time".into(), "long".into())]), "flag.value");
    assert_eq!(wrong(|r| r.overrides.budgets = vec![("token".into(), "5".into())]), "flag.unknown");
    assert_eq!(wrong(|r| r.overrides.budgets = vec![("cost".into(), "5".into())]), "key.unsupported");
    assert_eq!(wrong(|r| r.overrides.allow = vec!["shell".into()]), "flag.unsupported");
    assert_eq!(wrong(|r| r.workspace = Some("nowhere".into())), "workspace.missing");
    assert_eq!(wrong(|r| r.overrides.script = Some("no.yaml".into())), "path.missing");
}

#[test]
fn an_unknown_model_keeps_a_run_from_starting() {
    let loaded = Folder::new().agent("a", "model: chronos-9-ultra\n").load();
    assert!(loaded.setup.is_some());
    let blockers = loaded.blockers();
    assert_eq!(blockers.len(), 1);
    assert!(blockers[0].level == Level::Error && blockers[0].text.contains("chronos-9-ultra"));
}

#[test]
fn what_no_agent_can_ever_do_is_said() {
    let chain = Folder::new()
        .agent("lead", "agents: [b]\n")
        .agent("b", "agents: [c]\n")
        .agent("c", "agents: [d]\n")
        .agent("d", "agents: [e]\n")
        .agent("e", "")
        .agent("lost", "")
        .agent("s", "task_types: [look]\n")
        .agent("t", "task_types: [look]\n");
    let loaded = chain.load();
    assert_eq!(
        codes(&loaded),
        ["agent.too_deep", "agent.unreachable", "agent.unreachable", "agent.unreachable", "task_type.shared"]
    );
    let many = (0..21).fold(Folder::new(), |f, i| f.agent(&format!("a{i}"), ""));
    assert_eq!(codes(&many.load()), ["agent.many"]);
}

#[test]
fn the_levels_of_messages_can_be_raised_and_errors_not_lowered() {
    let with =
        |check: &str| Folder::new().file("deputize.yaml", format!("check: {check}\n")).agent("a", "modle: x\n").load();
    assert!(has(&with("{key.unknown: error}"), Level::Error, "key.unknown"));
    assert!(with("{key.unknown: error}").setup.is_none());
    assert!(has(&with("{tools.inherit: warning}"), Level::Warning, "tools.inherit"));
    assert_eq!(codes(&with("{key.unknown: off}")), Vec::<&str>::new());
    let kept = Folder::new().file("deputize.yaml", "check: {agent.unknown: off}\n").agent("a", "agents: [x]\n").load();
    assert_eq!(codes(&kept), ["agent.unknown", "check.kept"]);
}

#[test]
fn context_files_and_output_schemas_are_read() {
    let schema = r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#;
    let folder = Folder::new()
        .file("AGENTS.md", "\u{feff}Be kind.\r\n")
        .file("agents/schemas/n.json", schema)
        .agent("a", "output: schemas/n.json\n");
    let setup = folder.setup();
    assert_eq!(setup.team.project_context[0].text, "Be kind.\n");
    assert_eq!(setup.team.agents[&AgentName::new("a")].output, Some(serde_json::from_str(schema).unwrap()));
    let bad = Folder::new().file("agents/n.json", "{").agent("a", "output: n.json\n").load();
    assert!(has(&bad, Level::Error, "output.schema"));
    let latin = Folder::new().file("AGENTS.md", b"\xff").agent("a", "").load();
    assert!(has(&latin, Level::Warning, "file.not_utf8") && latin.setup.is_some());
}

#[test]
fn a_childs_tools_lie_within_its_parents_grant() {
    let folder = Folder::new()
        .agent("lead", "tools: [Read]\ngrant: [Read, Grep, Write]\nagents: [all, same, own]\n")
        .agent("all", "tools: \"*\"\ndisallowedTools: Write\n")
        .agent("same", "")
        .agent("own", "tools: [Read, Edit]\n");
    let loaded = folder.load();
    let held = |name: &str| {
        let a = loaded.agents.iter().find(|a| a.name == name).unwrap();
        (a.tools_resolved.join(" "), a.grant.join(" "))
    };
    let grant = "read_file grep write_file".to_string();
    assert_eq!(held("lead"), ("read_file".into(), grant.clone()));
    assert_eq!(held("all"), ("read_file grep".into(), grant.clone()));
    assert_eq!(held("same"), ("read_file".into(), grant.clone()));
    assert_eq!(held("own"), ("read_file".into(), grant));
    // The gate gives a root the same.
    let setup = folder.setup();
    let brief = deputize_core::govern::root_brief(&setup.team, "look").unwrap();
    let held = setup.team.held(&setup.team.agents[&setup.team.root], &setup.team.above_root());
    assert_eq!((brief.tools.value, brief.grant.value), (held.tools, held.grant));
}
