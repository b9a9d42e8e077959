//! By choice, against a real model: `teams/review` over two small files ends in a terminal state with a readable trace.
//! `DEPUTIZE_TEST_MODEL_URL` names an OpenAI-compatible server; nothing is asserted about what its model says.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test stops at what it did not expect")]

use serde_json::Value;
use std::process::Command;

fn deputize(folder: &std::path::Path, url: &str, args: &[&str]) -> (Option<i32>, Vec<u8>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deputize"));
    command.current_dir(folder).env("DEPUTIZE_HOME", folder.join("state")).env("OPENAI_BASE_URL", url);
    let output = command.args(args).output().unwrap();
    (output.status.code(), output.stdout)
}

// covers L-64
#[test]
fn a_review_by_a_real_model_ends_in_a_terminal_state_with_a_readable_trace() {
    let url = std::env::var("DEPUTIZE_TEST_MODEL_URL").unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("calc.py"), "def add(a, b):\n    return a - b\n").unwrap();
    std::fs::write(folder.path().join("README.md"), "# calc\nadd(a, b) returns the sum of a and b.\n").unwrap();
    let team = concat!(env!("CARGO_MANIFEST_DIR"), "/../../teams/review");
    let (code, out) = deputize(
        folder.path(),
        &url,
        &["run", team, "Review calc.py and README.md", "--workspace", ".", "--budget-turns", "6", "--json"],
    );
    let run: Value = serde_json::from_slice(&out).unwrap();
    let terminal = ["succeeded", "unmet", "failed", "budget_exhausted", "deadline", "max_turns"];
    assert!(terminal.contains(&run["status"].as_str().unwrap()), "{run}");
    assert!(matches!(code, Some(0 | 3 | 4)), "{code:?}");
    assert!(run["usage"]["input_tokens"].as_u64().unwrap() > 0);
    let (code, out) = deputize(folder.path(), &url, &["trace", "last", "--json"]);
    assert_eq!(code, Some(0));
    let trace: Value = serde_json::from_slice(&out).unwrap();
    for run in trace["runs"].as_array().unwrap() {
        assert!(run["ended"].is_string(), "every run ended: {run}");
    }
    assert_eq!(trace["runs"][0]["usage_tree"], run["usage"]);
}
