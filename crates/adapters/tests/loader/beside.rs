//! What stands beside agent files: skills and `.mcp.json`. They are read and checked; nothing is started, nothing of a
//! variable or a credential is shown.
// covers X-16

use crate::support::{Folder, codes, lines};
use deputize_adapters::loader::{Purpose, render};
use deputize_core::definition::message::Level;

fn skill(text: &str) -> Folder {
    Folder::new().agent("a", "").file(".claude/skills/house-style/SKILL.md", text)
}

fn mcp(text: &str) -> Folder {
    Folder::new()
        .agent("a", "")
        .file(".mcp.json", text)
        .with(|r| drop(r.env.insert("SET".into(), "canary-of-env".into())))
}

#[test]
fn skills_are_checked() {
    let long = "x".repeat(1_025);
    let lines_of_text = "line\n".repeat(501);
    let table = [
        (
            "---\nname: house-style\ndescription: d\nlicense: MIT\nmetadata: {a: b}\nallowed-tools: Read Grep\n---\nB"
                .to_string(),
            "",
        ),
        ("---\nname: other\ndescription: d\n---\n".into(), "skill.name"),
        ("---\nname: House Style\ndescription: d\n---\n".into(), "skill.name"),
        ("---\nname: house--style\ndescription: d\n---\n".into(), "skill.name"),
        ("---\nname: house-style\n---\n".into(), "description.missing"),
        ("---\nname: house-style\ndescription: ' '\n---\n".into(), "description.missing"),
        ("---\ndescription: d\n---\n".into(), "name.missing"),
        (format!("---\nname: house-style\ndescription: {long}\n---\n"), "skill.long"),
        (format!("---\nname: house-style\ndescription: d\n---\n{lines_of_text}"), "skill.long"),
        ("---\nname: house-style\ndescription: d\nmodel: x\n---\n".into(), "key.unknown"),
        ("---\nname: house-style\ndescription: Use: when asked\n---\n".into(), "frontmatter.repaired"),
        ("---\nname: house-style\ndescription: d\nmetadata: [\n---\n".into(), "yaml.syntax"),
        ("no front matter".into(), "frontmatter.open"),
    ];
    for (text, code) in table {
        let loaded = skill(&text).load();
        assert_eq!(codes(&loaded).join(" "), code, "{text}");
        let found = loaded.messages.iter().any(|m| m.code == "skill.found" && m.file.is_none());
        assert_eq!(found, !loaded.messages.iter().any(|m| m.level == Level::Error), "{text}");
        // They are not used yet, so a run does not read them.
        let run = skill(&text).with(|r| r.purpose = Purpose::Run).load();
        assert!(run.setup.is_some() && codes(&run).is_empty());
    }
}

#[test]
fn servers_are_checked_with_their_places() {
    let table = [
        (r#"{"mcpServers": {"files": {"command": "run", "args": ["-a", "${SET}"], "env": {"A": "${B:-c}"}}}}"#, ""),
        (r#"{"mcpServers": {"far": {"type": "http", "url": "https://x.example", "headers": {"x-team": "docs"}}}}"#, ""),
        ("{\n\t\"mcpServers\": {}\n}", ""),
        (r#"{"files": {"command": "run"}}"#, "1:1 mcp.wrapper"),
        (r#"{"servers": {}}"#, "1:1 mcp.wrapper"),
        (r#"{"mcpServers": [1]}"#, "1:2 mcp.server"),
        (r#"{"mcpServers": {"a b": {"command": "x"}}}"#, "1:17 mcp.server"),
        (r#"{"mcpServers": {"a": {"args": []}}}"#, "1:17 mcp.server"),
        (r#"{"mcpServers": {"a": {"type": "http", "command": "x"}}}"#, "1:17 mcp.server;1:39 key.no_effect"),
        (r#"{"mcpServers": {"a": {"type": "pigeon", "command": "x"}}}"#, "1:23 mcp.server"),
        (r#"{"mcpServers": {"a": {"command": "x", "args": "y"}}}"#, "1:39 mcp.server"),
        (r#"{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}"#, "1:39 mcp.server"),
        (r#"{"mcpServers": {"a": {"command": "x", "speed": 1}}}"#, "1:39 key.unknown"),
        (r#"{"mcpServers": {"a": {"command": "${X"}}}"#, "1:34 mcp.expansion"),
        (r#"{"mcpServers": {"a": {"command": "${2}"}}}"#, "1:34 mcp.expansion"),
        (r#"{"mcpServers": {"a": {"command": "${UNSET}"}}}"#, "1:34 mcp.unset"),
        (r#"{"mcpServers": {"a": {"command": "$UNSET"}}}"#, ""),
        (r#"{"mcpServers": {"a": {"command": "x", "env": {"API_KEY": "canary-0123456789"}}}}"#, "1:58 secret.in_mcp"),
        (r#"{"mcpServers": {"a": {"command": "x", "args": ["ghp_canary0123456789abcdef"]}}}"#, "1:48 secret.in_mcp"),
        (r#"{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}"#, "1:40 yaml.duplicate_key"),
        (r#"{"mcpServers": "#, "1:15 mcp.syntax"),
    ];
    for (text, wanted) in table {
        let loaded = mcp(text).load();
        let mut said = lines(&loaded.messages, Level::Error);
        said.extend(lines(&loaded.messages, Level::Warning));
        let said: Vec<String> = said
            .iter()
            .map(|l| l.trim_start_matches(".mcp.json:").split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(said.join(";"), wanted, "{text}");
        let shown: String = loaded.messages.iter().map(|m| render(m, &loaded.sources)).collect();
        assert!(!shown.contains("canary"), "{shown}");
        let run = mcp(text).with(|r| r.purpose = Purpose::Run).load();
        assert!(run.setup.is_some() && codes(&run).is_empty());
    }
    let found = mcp(table[0].0).load().messages.into_iter().find(|m| m.code == "mcp.found").unwrap();
    assert!(found.text.contains("none of which this build starts: files (stdio)"), "{}", found.text);
}
