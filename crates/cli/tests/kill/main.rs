//! The real binary, killed with SIGKILL at ten seeded moments and resumed: the same end each time, and by the count of the
//! model server no request for a step whose outcome was recorded.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use deputize_adapters::mock::{Options, Server};
use deputize_adapters::provider::scripted::Script;
use serde_json::Value;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SCRIPT: &str = "
lead:
  - calls: [{ls: {path: .}}, {write_file: {path: notes/plan.txt, content: first}}]
    latency: 90ms
  - calls:
      - delegate: {agent: reader, objective: read one.txt}
      - delegate: {agent: reader, objective: read two.txt}
      - delegate: {agent: reader, objective: ''}
    latency: 90ms
  - calls: [{edit_file: {path: notes/plan.txt, old: first, new: second}}]
    latency: 90ms
  - text: one says 1, two says 2
    latency: 90ms
lead/reader#1:
  - calls: [{read_file: {path: one.txt}}, {grep: {pattern: '1'}}]
    latency: 90ms
  - text: one says 1
    latency: 90ms
lead/reader#2:
  - calls: [{read_file: {path: two.txt}}]
    latency: 90ms
  - text: two says 2
    latency: 90ms
";

fn project(folder: &Path, base_url: &str) {
    std::fs::create_dir_all(folder.join("agents")).unwrap();
    let yaml = format!(
        "profile: assisted\nroot: lead\nroles: {{default: 'mock:mock'}}\nproviders:\n  mock:\n    kind: openai\n    base_url: {base_url}\n    headers: {{x-agent-path: '{{path}}'}}\n"
    );
    std::fs::write(folder.join("deputize.yaml"), yaml).unwrap();
    let agent = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: the {name}\n{more}---\nYou are the {name}.\n");
        std::fs::write(folder.join(format!("agents/{name}.md")), text).unwrap();
    };
    agent("lead", "tools: ls, write_file, edit_file\nagents: [reader]\n");
    agent("reader", "tools: read_file, grep\n");
    std::fs::write(folder.join("one.txt"), "1\n").unwrap();
    std::fs::write(folder.join("two.txt"), "2\n").unwrap();
}

fn deputize(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deputize"));
    command.current_dir(folder).env_clear().env("DEPUTIZE_HOME", folder.join("state")).env("PATH", "/usr/bin:/bin");
    command
}

fn document(mut command: Command) -> (Option<i32>, Value) {
    let output = command.stderr(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}")))
}

/// Waits for a condition of a real process, with a guard.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let guard = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < guard, "waited 30 s for: {what}");
        std::thread::yield_now();
    }
}

/// `run/label` of every model step with a recorded outcome.
fn recorded(folder: &Path) -> BTreeSet<String> {
    let mut command = deputize(folder);
    command.args(["trace", "last", "--json"]);
    let (_, trace) = document(command);
    let mut done = BTreeSet::new();
    for run in trace["runs"].as_array().unwrap() {
        for step in run["steps"].as_array().unwrap() {
            if step["kind"] == "model" && step["ended"].is_string() {
                done.insert(format!("{}/{}", run["run_id"].as_str().unwrap(), step["label"].as_str().unwrap()));
            }
        }
    }
    done
}

async fn server() -> Server {
    Server::start(Script::parse("kill.script.yaml", SCRIPT).unwrap(), Options::default()).await.unwrap()
}

/// A small generator, so that the moments are the same each time.
fn seeded(seed: u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03;
    x ^= x >> 29;
    x.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32
}

// covers F-05, L-62
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_ten_seeded_moments_the_run_ends_the_same_and_nothing_recorded_is_asked_again() {
    let whole = server().await;
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), &whole.base_url());
    let mut command = deputize(folder.path());
    command.args(["run", "read both", "--json"]);
    let (code, want) = document(command);
    assert_eq!((code, want["status"].as_str()), (Some(0), Some("succeeded")), "{want}");
    assert_eq!(whole.rejected(), Vec::<String>::new());
    let requests = whole.log().len() as u64;
    assert_eq!(requests, 8);
    for seed in 1..=10 {
        killed_once(seed, 1 + seeded(seed) % requests, seeded(seed + 100) % 40, &want).await;
    }
}

/// Kills the run when the server has seen so many requests and some milliseconds have passed, then resumes it. Every answer
/// takes longer than that wait, so the run cannot be over; that it was not is asserted all the same.
async fn killed_once(seed: u64, seen: u64, ms: u64, want: &Value) {
    let server = server().await;
    let folder = tempfile::tempdir().unwrap();
    project(folder.path(), &server.base_url());
    let mut command = deputize(folder.path());
    let mut run = command.args(["run", "read both"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let at = format!("seed {seed}: request {seen} and {ms} ms");
    until(&at, || server.log().len() as u64 >= seen);
    let moment = Instant::now() + Duration::from_millis(ms);
    until(&at, || Instant::now() >= moment);
    run.kill().unwrap();
    assert_eq!(run.wait().unwrap().signal(), Some(9), "{at}: the process was to die of the kill");
    let mut command = deputize(folder.path());
    command.args(["show", "last", "--json"]);
    assert_eq!(document(command).1["status"], "interrupted", "{at}: the run was to be under way");
    let (before, paid) = (recorded(folder.path()), server.log().len());
    let mut command = deputize(folder.path());
    command.args(["resume", "last", "--json"]);
    let (code, got) = document(command);
    assert_eq!((code, &got["status"], &got["payload"]), (Some(0), &want["status"], &want["payload"]), "{at}");
    let after = server.requests().split_off(paid);
    let again: Vec<&str> =
        after.iter().map(|r| r.key()).filter(|k| before.contains(k.split('#').next().unwrap())).collect();
    assert_eq!(again, Vec::<&str>::new(), "{at}: asked again though it was recorded");
    assert_eq!(server.rejected(), Vec::<String>::new(), "{at}");
    let plan = std::fs::read_to_string(folder.path().join("notes/plan.txt")).unwrap();
    assert_eq!(plan, "second", "{at}: the edit was applied once");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tree_is_the_same_streamed_and_not() {
    let mut payloads = Vec::new();
    for streaming in [true, false] {
        let server = server().await;
        let folder = tempfile::tempdir().unwrap();
        project(folder.path(), &server.base_url());
        let file = folder.path().join("deputize.yaml");
        let models = format!("models: {{'mock:mock': {{streaming: {streaming}}}}}\n");
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &models).unwrap();
        let mut command = deputize(folder.path());
        command.args(["run", "read both", "--json"]);
        let (code, doc) = document(command);
        assert_eq!((code, doc["status"].as_str()), (Some(0), Some("succeeded")), "{doc}");
        assert_eq!(server.rejected(), Vec::<String>::new());
        assert!(server.requests().iter().all(|r| r.stream() == streaming));
        payloads.push(doc["payload"].clone());
    }
    assert_eq!(payloads[0], payloads[1]);
}
