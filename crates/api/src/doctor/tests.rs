//! The text of `doctor`.

use super::{CheckedDoc, DoctorDoc, Health};

#[test]
fn every_line_fits_and_says_what_to_do() {
    let long =
        "the server at http://127.0.0.1:8399/v1 answers with a web page instead of an answer, which no model does";
    let row = CheckedDoc { layer: Some("answer"), ..CheckedDoc::new("provider", Health::Failed, long) };
    let doc = DoctorDoc {
        schema: 1,
        ready: false,
        checks: vec![
            row.name("lab").fix("set base_url to the address of the interface"),
            CheckedDoc::new("git", Health::Ok, "git 2"),
            CheckedDoc::new("model", Health::Failed, "none").fix("export KEY=VALUE     or another\nollama serve"),
        ],
    };
    let text = super::text(&doc);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.starts_with("FAILED   provider  lab: answer: the server at"), "{text}");
    assert!(text.contains("\n                   = set base_url to"), "{text}");
    assert!(text.contains("\nok       git       git 2\n"), "{text}");
    assert!(text.contains("\n                   = export KEY=VALUE # or another\n"), "what is copied runs: {text}");
    assert!(text.ends_with("a run cannot start yet: see FAILED above\n"), "{text}");
}
