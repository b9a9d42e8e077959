//! The cases under `fixtures/agent-files`: each alone, all in one folder, with other line ends, with a byte order mark,
//! through a link. The `.expect` file beside each says what is right.
// covers F-02

use crate::support::Folder;
use deputize_adapters::loader::{Listing, Loaded};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::name;
use deputize_core::id::AgentName;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

struct Case {
    id: String,
    bytes: Vec<u8>,
    expect: Value,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/agent-files");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "md"));
    files.sort();
    let case = |path: &PathBuf| Case {
        id: path.file_stem().unwrap().to_string_lossy().into_owned(),
        bytes: fs::read(path).unwrap(),
        expect: serde_json::from_str(&fs::read_to_string(path.with_extension("expect")).unwrap()).unwrap(),
    };
    let cases: Vec<Case> = files.iter().map(case).collect();
    assert!(cases.len() >= 18, "{} cases", cases.len());
    cases
}

/// What came of one case: its agent if it loaded, and what was said about its file.
struct Got<'a> {
    agent: Option<&'a Listing>,
    about: Vec<&'a Message>,
    file: String,
}

impl Got<'_> {
    /// Every word of the expectations that fits. `ok` says that no complaint was needed, not that there was none: a tool
    /// that this build lacks is a warning in any file, and `warnings_max` is the key that forbids warnings.
    fn outcomes(&self) -> &'static [&'static str] {
        let worst = self.about.iter().map(|m| m.level).min();
        match (self.agent, worst) {
            (_, Some(Level::Error)) => &["error"],
            (None, Some(Level::Warning)) => &["warn"],
            (None, _) => &["skip"],
            (Some(_), Some(Level::Warning)) => &["ok", "warn"],
            (Some(_), _) => &["ok"],
        }
    }
    fn is(&self, outcome: &str) -> bool {
        self.outcomes().contains(&outcome)
    }
    fn complaints(&self) -> impl Iterator<Item = &&Message> {
        self.about.iter().filter(|m| m.level != Level::Info)
    }
    fn said(&self) -> String {
        self.complaints().map(|m| format!("{} {} {}\n", m.code, m.text, m.hint.clone().unwrap_or_default())).collect()
    }
}

fn got<'a>(loaded: &'a Loaded, file: &str) -> Got<'a> {
    let agent = loaded.agents.iter().find(|a| a.file.as_deref() == Some(file));
    let about = loaded.messages.iter().filter(|m| m.file.as_deref() == Some(file)).collect();
    Got { agent, about, file: file.to_string() }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_string()).collect()
}

fn value_of(agent: &Listing, key: &str) -> Value {
    match key {
        "tools" => agent.tools.clone(),
        "name" => agent.name_as_written.clone().into(),
        "description" => agent.description.clone().into(),
        "model" => agent.model.clone().into(),
        "body" => agent.body.clone().into(),
        "max_turns" => agent.max_turns.into(),
        "disallowed" => agent.disallowed.clone().into(),
        "skills" => agent.skills.clone().into(),
        other => panic!("no such key: {other}"),
    }
}

/// Checks one key of an expectation that is about a loaded agent; false when the key is about something else.
fn holds(agent: &Listing, key: &str, wanted: &Value) -> bool {
    let text = |field: &str| value_of(agent, field).as_str().unwrap_or_default().to_string();
    if let Some(field) = key.strip_suffix("_contains") {
        strings(wanted).iter().for_each(|w| assert!(text(field).contains(w), "{field} lacks {w}: {}", text(field)));
        return true;
    }
    if let Some(field) = key.strip_suffix("_in").filter(|f| *f != "no_cr") {
        assert!(strings(wanted).contains(&text(field)), "{field} is {}", text(field));
        return true;
    }
    match key {
        "body_starts" => assert!(agent.body.starts_with(wanted.as_str().unwrap()), "{}: {}", agent.name, agent.body),
        "description_len_min" => {
            assert!(agent.description.chars().count() as u64 >= wanted.as_u64().unwrap());
        }
        "no_cr_in" => {
            strings(wanted).iter().for_each(|f| assert!(!value_of(agent, f).to_string().contains("\\r"), "{f}"));
        }
        "addressable_as" => {
            let known = [AgentName::new(&agent.name)];
            strings(wanted).iter().for_each(|n| assert!(name::find(n, &known).is_some(), "{n}"));
        }
        "may_spawn_only" => assert_eq!(agent.agents, strings(wanted)),
        "description" => assert_eq!(agent.description.trim_end(), wanted.as_str().unwrap().trim_end()),
        "name" | "tools" | "model" | "body" | "max_turns" | "disallowed" | "skills" => {
            assert_eq!(&value_of(agent, key), wanted, "{key} of {}", agent.name);
        }
        _ => return false,
    }
    true
}

fn check_all(expect: &Value, got: &Got<'_>) {
    let said = format!("{}\n{}", got.file, got.said());
    for (key, wanted) in expect.as_object().unwrap() {
        match key.as_str() {
            "case"
            | "why"
            | "never"
            | "set_rule"
            | "run_without_override"
            | "max_seconds"
            | "max_rss_mib"
            | "description_trim_end" => {}
            "outcome" => {
                let outcomes = got.outcomes();
                assert!(
                    strings(wanted).iter().any(|o| got.is(o)),
                    "{}: outcome {outcomes:?}, wanted {wanted}\n{said}",
                    got.file
                );
            }
            "mentions" => strings(wanted).iter().for_each(|w| assert!(said.contains(w), "no `{w}` in\n{said}")),
            "mentions_any" => assert!(strings(wanted).iter().any(|w| said.contains(w)), "{said}"),
            "mentions_if_not_ok" if got.is("ok") => {}
            "mentions_if_not_ok" => strings(wanted).iter().for_each(|w| assert!(said.contains(w), "{said}")),
            "warnings_max" => {
                let warnings = got.about.iter().filter(|m| m.level == Level::Warning).count() as u64;
                assert!(warnings <= wanted.as_u64().unwrap(), "{said}");
            }
            "line_between" => {
                let (low, high) = (wanted[0].as_u64().unwrap(), wanted[1].as_u64().unwrap());
                let inside = |m: &&&Message| m.line.is_some_and(|l| (low..=high).contains(&u64::from(l)));
                assert!(got.complaints().any(|m| inside(&m)), "no line in {low}..{high}: {said}");
            }
            "if_loaded" if got.agent.is_some() => check_all(wanted, got),
            "if_error" if got.is("error") => check_all(wanted, got),
            "if_loaded" | "if_error" => {}
            key => {
                let known = got.agent.is_none_or(|agent| holds(agent, key, wanted));
                assert!(known, "the runner does not know `{key}` of {}", got.file);
            }
        }
    }
    // What no case may do: load an agent that nobody can choose, or one with more tools than its file names.
    if let Some(agent) = got.agent {
        assert!(!agent.description.trim().is_empty());
    }
}

fn folder(cases: &[&Case], change: fn(&[u8]) -> Vec<u8>) -> Folder {
    cases.iter().fold(Folder::new(), |f, c| f.file(&format!("agents/{}.md", c.id), change(&c.bytes)))
}

fn check_case(case: &Case, loaded: &Loaded) {
    check_all(&case.expect, &got(loaded, &format!("agents/{}.md", case.id)));
}

fn unchanged(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in bytes.iter().filter(|b| **b != b'\r') {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

fn with_bom(bytes: &[u8]) -> Vec<u8> {
    [b"\xef\xbb\xbf", bytes].concat()
}

#[test]
fn each_case_alone_in_an_empty_project() {
    for case in cases() {
        check_case(&case, &folder(&[&case], unchanged).load());
    }
}

/// The same folder, reached through a link.
fn through_a_link(real: &Folder) -> Folder {
    let linked = Folder::new();
    std::os::unix::fs::symlink(real.path().join("agents"), linked.path().join("agents")).unwrap();
    linked
}

// covers X-15
#[test]
fn line_ends_a_byte_order_mark_and_links_change_nothing() {
    let cases = cases();
    let alone: Vec<Vec<&Case>> = cases.iter().map(|c| vec![c]).collect();
    for set in alone.iter().chain([&cases.iter().collect()]) {
        let plain = folder(set, unchanged);
        let expected = plain.load();
        for changed in [folder(set, with_crlf), folder(set, with_bom)] {
            for folder in [through_a_link(&changed), changed] {
                let loaded = folder.load();
                set.iter().filter(|c| !c.id.starts_with("31-") || set.len() == 1).for_each(|c| check_case(c, &loaded));
                assert_eq!(loaded.agents, expected.agents);
                // In a file that is no UTF-8 the place of the first bad byte may move.
                let said = |messages: &[Message]| {
                    let of = |m: &&Message| m.file.as_ref().is_none_or(|f| !f.contains("utf8"));
                    messages.iter().filter(of).cloned().collect::<Vec<_>>()
                };
                assert_eq!(said(&loaded.messages), said(&expected.messages));
            }
        }
        let linked = through_a_link(&plain).load();
        assert_eq!((linked.agents, linked.messages), (expected.agents, expected.messages));
    }
}

#[test]
fn all_cases_in_one_folder_and_one_bad_file_stops_nobody() {
    let cases = cases();
    let all: Vec<&Case> = cases.iter().collect();
    let loaded = folder(&all, unchanged).load();
    for case in cases.iter().filter(|c| !c.id.starts_with("31-")) {
        check_case(case, &loaded);
    }
    let twins: Vec<_> = loaded.agents.iter().filter(|a| a.name == "twin-agent").collect();
    assert_eq!(twins.len(), 1);
    assert_eq!(twins[0].body, "A.");
    let shadow = loaded.messages.iter().find(|m| m.code == "agent.shadowed").unwrap();
    assert_eq!(shadow.file.as_deref(), Some("agents/31-twin-name-b.md"));
    assert!(shadow.text.contains("agents/30-twin-name-a.md") && shadow.text.contains("31-twin-name-b.md"));
    assert!(loaded.setup.is_none(), "a run does not start with errors");
}
