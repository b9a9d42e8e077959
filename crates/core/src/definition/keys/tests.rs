//! Tests of the table of keys and of the search in it.

use super::{File, Match, all, children, find, markdown};
use std::collections::BTreeSet;

#[test]
fn paths_are_unique_and_every_parent_is_a_key() {
    for file in [File::Team, File::Agent] {
        let mut seen = BTreeSet::new();
        for key in all(file) {
            assert!(seen.insert(key.path), "{} stands twice", key.path);
            let above = key.parent().trim_end_matches(|c: char| c.is_ascii_uppercase()).trim_end_matches('.');
            assert!(above.is_empty() || seen.contains(above), "{} has no parent", key.path);
        }
    }
    assert!(children(File::Team, "providers.NAME.retry").any(|k| k.name() == "attempts"));
}

#[test]
fn spellings_are_found_and_strangers_get_the_nearest() {
    let spelled = |written: &str| match find(File::Agent, "", written) {
        Match::Exact(key) => format!("= {}", key.path),
        Match::Spelling(key) => format!("~ {}", key.path),
        Match::Unknown(near) => format!("? {}", near.unwrap_or("-")),
    };
    let table = [
        ("maxTurns", "= maxTurns"),
        ("max-turns", "~ maxTurns"),
        ("max_turns", "~ maxTurns"),
        ("disallowed_tools", "~ disallowedTools"),
        ("permissionmode", "~ permissionMode"),
        ("allowed-tools", "~ tools"),
        ("allowedTools", "~ tools"),
        ("mcp-servers", "~ mcpServers"),
        ("descripton", "? description"),
        ("zebra-crossing", "? -"),
    ];
    for (written, expected) in table {
        assert_eq!(spelled(written), expected, "{written}");
    }
}

#[test]
fn the_reference_names_every_key_and_no_cell_breaks_its_table() {
    let text = markdown();
    for key in all(File::Team).iter().chain(all(File::Agent)) {
        assert!(text.contains(&format!("| `{}` |", key.path)), "{}", key.path);
    }
    let tables = text.split("## Keys of other").next().unwrap_or_default();
    for line in tables.lines().filter(|l| l.starts_with('|')) {
        let bars = line.replace("\\|", "").matches('|').count();
        assert_eq!(bars, 6, "{line}");
    }
}
