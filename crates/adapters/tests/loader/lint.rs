//! What `check` says of a team that loads: what can never matter, what is too much, what is too much alike; and of a
//! configuration that says what nobody would act on. Every code that the loader gives is in the one list.
//

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::Loaded;
use deputize_core::definition::codes::{CODES, is_code};
use deputize_core::definition::message::{Level, Message};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn described(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\nB\n")
}

fn team(config: &str) -> Loaded {
    Folder::new().agent("a", "tools: []\n").file("deputize.yaml", config).load()
}

fn first<'a>(loaded: &'a Loaded, code: &str) -> &'a Message {
    loaded.messages.iter().find(|m| m.code == code).unwrap_or_else(|| panic!("{:?}", loaded.messages))
}

#[test]
fn what_a_configuration_says_in_vain_is_an_error_with_its_place() {
    let table = [
        ("tool_timeout: {shel: 5s}", "tool.unknown", (1, 16), "`shell`"),
        ("tool_timeout: {Bash: 5s}", "tool.unknown", (1, 16), "write `shell`"),
        ("tool_timeout: {grep: 5s, zorp: 5s}", "tool.unknown", (1, 26), "the tools are `ls`"),
        ("check: {tools.inheri: off}", "check.unknown", (1, 9), "did you mean `tools.inherit`?"),
        ("store: {path: /}", "store.path", (1, 15), "name a file"),
        ("store: {path: agents}", "store.path", (1, 15), "name a file"),
        ("store: {path: logs/}", "store.path", (1, 15), "name a file"),
        ("store: {path: /dev/null}", "store.path", (1, 15), "name a file"),
    ];
    for (config, code, place, hint) in table {
        let loaded = team(config);
        let message = first(&loaded, code);
        assert_eq!((message.level, message.file.as_deref()), (Level::Error, Some("deputize.yaml")), "{config}");
        assert_eq!((message.line, message.column), (Some(place.0), Some(place.1)), "{config}");
        assert!(message.hint.clone().unwrap_or_default().contains(hint), "{config}: {message:?}");
        assert!(loaded.setup.is_none());
    }
    for good in ["tool_timeout: {grep: 5s, shell: 10m}", "check: {tools.inherit: off}", "store: {path: new/s.db}"] {
        assert!(team(good).setup.is_some(), "{good}");
    }
}

#[test]
fn a_flag_that_changes_nothing_is_said() {
    let with = |folder: Folder| folder.with(|r| r.overrides.allow = vec!["write".into()]).load();
    let own = with(Folder::new().agent("a", "").file("deputize.yaml", "name: x\n"));
    assert!(has(&own, Level::Warning, "flag.no_effect"));
    assert!(!has(&with(Folder::new().agent("a", "")), Level::Warning, "flag.no_effect"));
}

#[test]
fn descriptions_that_are_alike_are_said_once_and_only_among_those_that_one_agent_lists() {
    let folder = Folder::new()
        .agent("lead", "agents: [reader, looker, writer]\n")
        .agent("other", "agents: [looker, reader]\n")
        .file("agents/reader.md", described("reader", "Reads the files of a project and sums them up."))
        .file("agents/looker.md", described("looker", "Reads a project's files, and sums them all up"))
        .file("agents/writer.md", described("writer", "Writes the release notes of a project."))
        .file("agents/far.md", described("far", "Reads the files of a project and sums them up."));
    let folder = folder.file("deputize.yaml", "root: lead\n");
    let loaded = folder.load();
    let alike: Vec<&Message> = loaded.messages.iter().filter(|m| m.code == "agent.overlap").collect();
    assert_eq!(alike.len(), 1, "{alike:?}");
    assert!(alike[0].text.contains("`reader` and `looker`, among which `lead` chooses"), "{}", alike[0].text);
    assert_eq!(alike[0].file.as_deref(), Some("agents/looker.md"));
    // Few words say nothing, unless they are the same.
    let short = |b: &str| {
        let f = Folder::new().file("agents/a.md", described("a", "Does it.")).file("agents/b.md", described("b", b));
        has(&f.load(), Level::Warning, "agent.overlap")
    };
    assert!(!short("Does that.") && short("does it"));
}

#[test]
fn long_lists_and_long_descriptions_are_said() {
    let long = format!("Reads. {}", "word ".repeat(300));
    let folder = (0..17).fold(Folder::new(), |f, i| {
        f.file(&format!("agents/a{i}.md"), described(&format!("a{i}"), &format!("{i} {long}")))
    });
    let loaded = folder.load();
    assert!(has(&loaded, Level::Warning, "agent.list_long"));
    let cut = loaded.messages.iter().filter(|m| m.code == "description.cut").count();
    assert_eq!(cut, 17);
    assert!(first(&loaded, "description.cut").text.contains("show the first 1000"));
    assert!(loaded.agents.iter().all(|a| a.description.len() > 1_500), "kept whole");
    let few = Folder::new().agent("a", "").agent("b", "").load();
    assert!(!has(&few, Level::Warning, "agent.list_long") && !has(&few, Level::Info, "description.cut"));
}

#[test]
fn rights_that_come_to_nothing_and_depth_are_said() {
    let folder = Folder::new()
        .agent("lead", "tools: [Read]\ngrant: [Read]\nagents: [kid]\n")
        .agent("kid", "tools: [Grep]\ngrant: [Grep]\n");
    let loaded = folder.load();
    assert_eq!(codes(&loaded), ["key.no_effect", "tools.none_left"]);
    assert!(loaded.agents.iter().find(|a| a.name == "kid").unwrap().tools_resolved.is_empty());
    let deep = Folder::new().agent("a", "").file("deputize.yaml", "budget:\n  tree:\n    depth: 4\n").load();
    assert_eq!(
        lines(&deep.messages, Level::Warning)[0].split(' ').take(2).collect::<Vec<_>>(),
        ["deputize.yaml:3:5", "budget.deep"]
    );
    let flag = Folder::new().agent("a", "").with(|r| r.overrides.budgets = vec![("depth".into(), "9".into())]);
    assert!(has(&flag.load(), Level::Warning, "budget.deep"));
}

/// Every `.rs` file below a folder.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            out.push(path);
        }
    }
}

#[test]
fn the_list_of_codes_is_the_codes_of_the_loader() {
    let names: Vec<&str> = CODES.iter().map(|c| c.code).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted, "in order, each once");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![here.join("src/yaml.rs"), here.join("../cli/src/command/check.rs")];
    sources(&here.join("src/loader"), &mut files);
    sources(&here.join("../core/src/definition"), &mut files);
    files.retain(|f| !f.ends_with("codes.rs"));
    let text: String = files.iter().map(|f| fs::read_to_string(f).unwrap()).collect();
    for name in &names {
        assert!(text.contains(&format!("\"{name}\"")), "no message has the code {name}");
    }
    // What looks like a code where messages are made is one.
    let code = |word: &str| {
        let (area, what) = word.split_once('.')?;
        let good = |p: &str| !p.is_empty() && p.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        (good(area) && good(what)).then(|| word.to_string())
    };
    let areas: BTreeSet<&str> = names.iter().filter_map(|n| n.split('.').next()).collect();
    let made = ["error(", "warn(", "info(", "Message::new(", "complaint(", "say(", "at(", "message(", "bad("];
    for line in text.lines().filter(|l| made.iter().any(|m| l.contains(m))) {
        for word in line.split('"').filter_map(code).filter(|w| areas.contains(w.split('.').next().unwrap())) {
            let key = line.contains("fields(") || line.contains("take(") || line.contains("_caps(");
            assert!(key || is_code(&word), "`{word}` is not in the list: {line}");
        }
    }
}
