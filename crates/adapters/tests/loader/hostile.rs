//! Files that mean harm or are none: each is one message, nobody waits, nothing else is lost.

use crate::support::{Folder, codes, has, lines};
use deputize_adapters::loader::Loaded;
use deputize_core::definition::message::Level;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

const GOOD: &str = "---\nname: good\ndescription: d\ntools: Read\n---\nBody.\n";

/// Loads a folder with this file and a good one beside it, which must survive.
fn beside(content: impl AsRef<[u8]>) -> Loaded {
    let loaded = Folder::new().file("agents/bad.md", content).file("agents/good.md", GOOD).load();
    assert!(loaded.agents.iter().any(|a| a.name == "good"), "the good file was lost");
    loaded
}

fn front(yaml: &str) -> String {
    format!("---\nname: bad\ndescription: d\n{yaml}\n---\nBody.\n")
}

#[test]
fn texts_that_are_attacks_or_no_texts() {
    let bomb: String = (0..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_string(), |text, i| {
        let item = format!("*a{i}");
        format!("{text}a{}: &a{} [{}]\n", i + 1, i + 1, vec![item; 9].join(","))
    });
    let table: Vec<(Vec<u8>, &str)> = vec![
        (front(&bomb).into(), "yaml.alias"),
        (front(&format!("tools: {}", "[".repeat(5_000))).into(), "yaml.depth"),
        (front(&format!("tools:\n  {}x", "- ".repeat(5_000))).into(), "yaml.depth"),
        (front("tools: &x [*x]").into(), "yaml.alias"),
        (front("tools: !!python/object:os.system [Read]").into(), "yaml.tag"),
        (front("? [a, b]\n: c").into(), "yaml.key"),
        ("---\nname: bad\ndescription: d\n--- \nx: \0\n".into(), "file.nul"),
        ([b"---\n".to_vec(), vec![b'a'; 2 << 20]].concat(), "file.too_big"),
        (b"\xff\xfe-\0-\0-\0".to_vec(), ""),
        (b"---\nname: \xc3\x28\n---\n".to_vec(), "file.not_utf8"),
        ("---\n- a\n- b\n---\n".into(), "file.shape"),
        ("---\n---\nBody".into(), "description.missing"),
        (front("description: two").into(), "yaml.duplicate_key"),
    ];
    for (content, code) in table {
        let loaded = beside(&content);
        let errors = lines(&loaded.messages, Level::Error);
        let first = errors.first().map_or("", |e| e.split(' ').nth(1).unwrap());
        assert_eq!(first, code, "{}", errors.join("\n"));
        assert!(errors.iter().all(|e| e.starts_with("agents/bad.md")), "{errors:?}");
    }
}

#[test]
fn a_pipe_an_unreadable_file_and_a_broken_link() {
    let folder = Folder::new().file("agents/good.md", GOOD).file("agents/shut.md", GOOD);
    let agents = folder.path().join("agents");
    assert!(Command::new("mkfifo").arg(agents.join("pipe.md")).status().unwrap().success());
    std::os::unix::fs::symlink("nowhere", agents.join("link.md")).unwrap();
    fs::create_dir(agents.join("folder.md")).unwrap();
    fs::set_permissions(agents.join("shut.md"), fs::Permissions::from_mode(0o000)).unwrap();
    let loaded = folder.load();
    assert!(loaded.agents.iter().any(|a| a.name == "good"));
    let errors = lines(&loaded.messages, Level::Error);
    let said = |file: &str, code: &str| errors.iter().any(|e| e.contains(file) && e.contains(code));
    assert!(said("pipe.md", "file.kind") && said("link.md", "file.unreadable"), "{errors:?}");
    // The user `root` reads everything.
    let root = fs::read(agents.join("shut.md")).is_ok();
    assert!(root || said("shut.md", "file.unreadable"), "{errors:?}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_an_error() {
    let folder = Folder::new().file("agents/good.md", GOOD);
    fs::create_dir(folder.path().join("deputize.yaml")).unwrap();
    assert_eq!(codes(&folder.load()), ["file.kind"]);
    let two = Folder::new().file("deputize.yaml", "name: a\n---\nname: b\n").file("agents/good.md", GOOD);
    assert_eq!(codes(&two.load()), ["yaml.documents"]);
    let tab = Folder::new().file("deputize.yaml", "budget:\n\ttree: {runs: 1}\n").load();
    let message = tab.messages.iter().find(|m| m.code == "yaml.tab").unwrap();
    assert_eq!((message.line, message.column), (Some(2), Some(1)));
    let empty = Folder::new().file("deputize.yaml", "# nothing yet\n").file("agents/good.md", GOOD);
    assert!(!empty.setup().foreign);
}

#[test]
fn a_big_document_that_is_no_agent_is_passed_over() {
    let loaded = beside(vec![b'#'; 2 << 20]);
    assert!(loaded.messages.iter().any(|m| m.code == "file.skipped"));
    assert!(loaded.setup.is_some());
}

#[test]
fn names_never_become_paths() {
    for name in ["../../etc/passwd", "/etc/passwd", "..\\\\x", "C:\\\\x"] {
        let loaded = beside(format!("---\nname: {name}\ndescription: d\n---\n"));
        assert_eq!(codes(&loaded), ["name.invalid"], "{name}");
    }
}

#[test]
fn thousands_of_files_load_and_a_folder_is_read_once() {
    let folder =
        (0..2_500).fold(Folder::new(), |f, i| f.agent(&format!("agent-{i}"), "tools: Read, Grep\nmodel: fast\n"));
    // Each of these would double the work: a link to the folder, and a link into itself.
    std::os::unix::fs::symlink("agents", folder.path().join("again")).unwrap();
    std::os::unix::fs::symlink("..", folder.path().join("agents/loop")).unwrap();
    let folder = folder.file("deputize.yaml", "load: [agents, again, agents/loop/agents]\n");
    let loaded = folder.load();
    assert_eq!(loaded.agents.len(), 2_500);
    assert!(!has(&loaded, Level::Warning, "agent.shadowed"));
}

// What bounds the work is a number of bytes, values, levels or messages, so no clock is asked.
#[test]
fn sizes_have_bounds() {
    let keys = |n: usize| (0..n).map(|i| format!("k{i}: 1\n")).collect::<String>();
    let table: Vec<(String, &str)> = vec![
        (front(&keys(5_000)), "file.more"),
        (front(&keys(60_000)), "yaml.nodes"),
        (front(&"maxTurns: 1\n".repeat(5_000)), "file.more"),
        (front(&format!("tools: [{}]", "a,".repeat(60_000))), "yaml.nodes"),
        (front(&format!("description: x: {}", "a: b\n".repeat(50_000))), "yaml.syntax"),
    ];
    for (content, code) in table {
        let loaded = beside(&content);
        let of: Vec<_> = loaded.messages.iter().filter(|m| m.file.as_deref() == Some("agents/bad.md")).collect();
        assert!(of.iter().any(|m| m.code == code), "{code}: {:?}", of.first());
        assert!(of.len() < 500, "{code}: {} messages", of.len());
    }
    let config = Folder::new().file("agents/good.md", GOOD).file("deputize.yaml", keys(60_000)).load();
    assert!(has(&config, Level::Error, "yaml.nodes") && config.messages.len() < 500, "{}", config.messages.len());
}

#[test]
fn a_file_of_fifty_megabytes_is_not_read() {
    for start in ["---\nname: bad\ndescription: d\n", "# no agent\n"] {
        let folder = Folder::new().file("agents/bad.md", start).file("agents/good.md", GOOD);
        let file = fs::OpenOptions::new().write(true).open(folder.path().join("agents/bad.md")).unwrap();
        file.set_len(50 << 20).unwrap();
        let loaded = folder.load();
        assert!(loaded.agents.iter().any(|a| a.name == "good"));
        assert!(loaded.sources.values().all(|text| text.len() < 1 << 20), "its text is not kept");
        let said: Vec<&str> = loaded.messages.iter().filter(|m| m.file.is_some()).map(|m| m.code.as_str()).collect();
        assert_eq!(said.contains(&"file.too_big"), start.starts_with("---"), "{said:?}");
    }
}

#[test]
fn pipes_and_folders_in_place_of_other_files() {
    for name in ["deputize.yaml", ".mcp.json", "AGENTS.md", "skills/a/SKILL.md"] {
        for pipe in [true, false] {
            let folder = Folder::new().file("agents/good.md", GOOD);
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            if pipe {
                assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            } else {
                fs::create_dir(&path).unwrap();
            }
            let loaded = folder.load();
            let about = loaded.messages.iter().find(|m| m.code == "file.kind");
            assert_eq!(about.and_then(|m| m.file.as_deref()), Some(name), "{:?}", loaded.messages);
            assert!(loaded.agents.iter().any(|a| a.name == "good"));
        }
    }
}

#[test]
fn folders_that_never_end() {
    let deep = (0..40).fold(String::from("agents"), |path, _| path + "/d");
    let folder = Folder::new().file("agents/good.md", GOOD).file(&format!("{deep}/x.md"), GOOD);
    std::os::unix::fs::symlink("loop.md", folder.path().join("agents/loop.md")).unwrap();
    std::os::unix::fs::symlink("/", folder.path().join("agents/node_modules")).unwrap();
    let loaded = folder.load();
    assert!(has(&loaded, Level::Warning, "load.too_deep") && has(&loaded, Level::Error, "file.unreadable"));
    assert_eq!(loaded.agents.len(), 1);
}

// A project's context files are sent to a model that the project chose: none comes from outside of it, none is a secret.
#[test]
fn context_files_come_from_the_project_and_hold_no_secrets_by_name() {
    let secret = Folder::new().file("secret.txt", "SENTINEL");
    let outside = secret.path().join("secret.txt");
    let linked = |link: &str| {
        let folder = Folder::new().agent("a", "");
        std::os::unix::fs::symlink(&outside, folder.path().join(link)).unwrap();
        folder
    };
    let loaded = linked("AGENTS.md").load();
    assert!(has(&loaded, Level::Warning, "context.outside"), "{:?}", codes(&loaded));
    assert!(loaded.setup.unwrap().team.project_context.is_empty());
    for named in ["/etc/passwd", "../secret.txt", "notes.md", ".env", "keys/id_rsa", "x.PEM"] {
        let folder = linked("notes.md").file(".env", "A=1").file("keys/id_rsa", "K").file("x.PEM", "K");
        let loaded = folder.file("deputize.yaml", format!("project_context: [\"{named}\"]\n")).load();
        assert!(loaded.setup.is_none(), "{named}: {:?}", codes(&loaded));
    }
    let good =
        Folder::new().agent("a", "").file("docs/n.md", "N").file("deputize.yaml", "project_context: [docs/n.md]\n");
    let loaded = good.load();
    assert!(loaded.messages.iter().any(|m| m.code == "context.given" && m.text.contains("docs/n.md")));
    assert_eq!(loaded.setup.unwrap().team.project_context.len(), 1);
}

#[test]
fn a_message_about_a_secret_does_not_show_it() {
    let yaml = "providers: {lab: {kind: openai, base_url: 'http://127.0.0.1:9/v1', api_key: sk-canary-0123456789}}\n";
    let loaded = Folder::new().agent("a", "").file("deputize.yaml", yaml).load();
    assert!(codes(&loaded).contains(&"secret.in_file"));
    let shown: String = loaded.messages.iter().map(|m| deputize_adapters::loader::render(m, &loaded.sources)).collect();
    assert!(!shown.contains("canary"), "{shown}");
}

#[test]
fn a_key_that_a_project_sends_to_its_own_address_is_named() {
    let yaml = "providers: {lab: {kind: openai, base_url: 'http://lab.example/v1', api_key_env: GITHUB_TOKEN}}\n";
    let folder = Folder::new().agent("a", "").file("deputize.yaml", yaml);
    let loaded = folder.with(|r| drop(r.env.insert("GITHUB_TOKEN".into(), "ghp_x".into()))).load();
    assert!(has(&loaded, Level::Warning, "secret.sent"), "{:?}", codes(&loaded));
}
