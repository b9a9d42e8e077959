//! `deputize demo` as a person runs it: the real binary in a folder of its own, the real files of the sample, no model.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

use deputize_core::event::Recorded;
use deputize_core::id::RunId;
use deputize_core::projection::{Decision, Tree, decisions};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const GUARD: Duration = Duration::from_secs(30);
const DIMENSIONS: [&str; 4] = ["correctness", "security", "clarity", "evidence"];

/// A folder that holds everything a test makes.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        Desk(TempDir::new().unwrap())
    }
    fn at(&self, name: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    }
    fn home(&self) -> String {
        self.at("home").display().to_string()
    }
    /// The program in an empty folder, with an empty environment.
    fn deputize(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deputize"));
        command.args(words).current_dir(self.at("elsewhere")).env_clear().env("HOME", self.at("user"));
        command.env("TMPDIR", self.at("tmp")).env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
        command
    }
    fn output(&self, words: &[&str]) -> Output {
        output(self.deputize(words))
    }
    fn json(&self, words: &[&str]) -> Value {
        let output = self.output(words);
        assert_eq!(output.status.code(), Some(0), "{words:?}\n{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// What a command prints; a failure if it takes longer than the guard.
fn output(mut command: Command) -> Output {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || done.send(command.output().unwrap()));
    wait.recv_timeout(GUARD).expect("the program did not end in time")
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

/// Fails unless this line of this sample file holds these words.
fn assert_quoted(file: &str, line: usize, words: &str) {
    let content = std::fs::read_to_string(repository().join("teams/review/sample").join(file)).unwrap();
    let found = content.lines().nth(line - 1).unwrap_or_else(|| panic!("{file} has no line {line}"));
    assert!(found.contains(words), "{file}:{line} is `{found}`, not `{words}`");
}

/// The text below each `## ` heading.
fn sections(result: &str) -> BTreeMap<String, String> {
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    for part in result.split("## ").skip(1) {
        let (heading, body) = part.split_once('\n').unwrap();
        assert!(sections.insert(heading.trim().to_lowercase(), body.to_string()).is_none(), "{heading} is there twice");
    }
    sections
}

#[test]
fn the_team_loads_without_a_warning() {
    let desk = Desk::new();
    let team = repository().join("teams/review").display().to_string();
    let doc = desk.json(&["check", &team, "--json"]);
    let grave: Vec<&Value> = list(&doc["messages"]).iter().filter(|m| m["level"] != "info").collect();
    assert!(grave.is_empty(), "{grave:?}");
    let names: Vec<&str> = list(&doc["agents"]).iter().map(|agent| text(&agent["name"])).collect();
    assert_eq!(names, ["clarity", "correctness", "evidence", "lead", "security"]);
    for agent in list(&doc["agents"]) {
        assert_eq!(agent["tools_resolved"], serde_json::json!(["ls", "read_file", "glob", "grep"]), "{agent}");
    }
}

/// The demo with its trace.
struct Shown {
    run: Value,
    runs: Vec<Value>,
    took: Duration,
}

/// One run of the demo for all tests that only look at it.
static SHOWN: LazyLock<Shown> = LazyLock::new(Shown::play);

impl Shown {
    fn play() -> Shown {
        let desk = Desk::new();
        let start = Instant::now();
        let run = desk.json(&["demo", "--json", "--home", &desk.home()]);
        let took = start.elapsed();
        let trace = desk.json(&["trace", text(&run["run_id"]), "--json", "--events", "--home", &desk.home()]);
        assert!(std::fs::read_dir(desk.at("elsewhere")).unwrap().next().is_none(), "the current folder is left alone");
        assert!(std::fs::read_dir(desk.at("user")).unwrap().next().is_none(), "the home folder is left alone");
        Shown { run, runs: list(&trace["runs"]).to_vec(), took }
    }
    fn delegations(&self) -> &[Value] {
        list(&self.runs[0]["delegations"])
    }
    /// The run of the delegation at this step.
    fn child(&self, step: &str) -> &Value {
        let id = format!("{}/{step}", text(&self.run["run_id"]));
        self.runs.iter().find(|run| run["run_id"] == id.as_str()).unwrap_or_else(|| panic!("no run {id}"))
    }
    /// When the run of a step began and when it was over.
    fn span(&self, step: &str) -> (&str, &str) {
        let child = self.child(step);
        (text(&child["started"]), text(&child["ended"]))
    }
}

#[test]
fn the_demo_is_quick_and_ends_well() {
    let Shown { run, took, .. } = &*SHOWN;
    assert!(*took < Duration::from_secs(10), "{took:?}");
    assert_eq!((&run["schema"], &run["status"], &run["partial"]), (&1.into(), &"succeeded".into(), &false.into()));
}

#[test]
fn every_way_a_delegation_can_go_is_shown() {
    // covers L-42, L-13, L-64
    let shown = &*SHOWN;
    let rows: Vec<_> = shown
        .delegations()
        .iter()
        .map(|d| {
            (text(&d["step"]), text(&d["agent"]), text(&d["mode"]), d["status"].as_str(), d["reason_code"].as_str())
        })
        .collect();
    let done = Some("succeeded");
    let expect = [
        ("t2/c0", "correctness", "delegated", done, None),
        ("t2/c1", "security", "delegated", Some("failed"), Some("model.refused")),
        ("t2/c2", "clarity", "delegated", done, None),
        ("t2/c3", "evidence", "rejected", None, Some("brief.objective_missing")),
        ("t2/c4", "performance", "degraded", None, Some("route.unknown")),
        ("t3/c0", "evidence", "delegated", done, None),
        ("t3/c1", "security", "delegated", done, None),
    ];
    assert_eq!(rows, expect);
    for row in shown.delegations() {
        assert_eq!(text(&row["brief_digest"]).len(), 64, "{row}");
        assert_eq!(row["child_run_id"].is_string(), row["mode"] == "delegated", "{row}");
    }
    let repaired: Vec<&Value> =
        shown.runs.iter().flat_map(|r| list(&r["steps"])).filter(|s| s["attempt"] == 2).collect();
    assert_eq!(repaired.len(), 1, "{repaired:?}");
    assert_eq!(repaired[0]["status"], "ok");
    let events = list(&shown.child("t2/c2")["events"]);
    let rejected: Vec<&Value> = events.iter().filter(|e| e["type"] == "step_rejected").collect();
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0]["code"], "output.invalid");
}

#[test]
fn specialists_work_side_by_side_and_what_depends_on_them_waits() {
    // covers E-28
    let shown = &*SHOWN;
    let first = ["t2/c0", "t2/c1", "t2/c2"].map(|step| shown.span(step));
    for (started, _) in first {
        assert!(first.iter().all(|(_, ended)| started < *ended), "{first:?}");
    }
    for (started, _) in ["t3/c0", "t3/c1"].map(|step| shown.span(step)) {
        assert!(first.iter().all(|(_, ended)| *ended <= started), "{first:?} {started}");
    }
}

#[test]
fn the_lead_decomposes_dispatches_rescues_and_synthesises() {
    // covers E-25, L-13
    let shown = &*SHOWN;
    let log = |run: &Value| -> (RunId, Vec<Recorded>) {
        (RunId::new(text(&run["run_id"])), serde_json::from_value(run["events"].clone()).unwrap())
    };
    let tree = Tree::new(shown.runs.iter().map(log).collect());
    let made: Vec<_> = decisions(&tree.runs()[0]).into_iter().map(|d| (d.what, d.step.as_str().to_string())).collect();
    let at = |what: Decision, step: &str| {
        made.iter().position(|(w, s)| *w == what && s == step).unwrap_or_else(|| panic!("no {what:?} {step}: {made:?}"))
    };
    let order = [
        at(Decision::Decompose, "t2"),
        at(Decision::Dispatch, "t2/c0"),
        at(Decision::Reject, "t2/c3"),
        at(Decision::Decompose, "t3"),
        at(Decision::Retry, "t3/c1"),
        at(Decision::Synthesise, "t4"),
    ];
    assert!(order.is_sorted(), "{made:?}");
}

#[test]
fn each_dimension_has_a_section_and_loses_no_finding() {
    // covers L-64
    let shown = &*SHOWN;
    let sections = sections(text(&shown.run["payload"]["result"]));
    for row in shown.delegations().iter().filter(|row| row["status"] == "succeeded") {
        let section = &sections[text(&row["agent"])];
        let child = shown.child(text(&row["step"]));
        let findings = list(&child["payload"]["findings"]);
        assert!(!findings.is_empty());
        assert_eq!(section.matches("- **").count(), findings.len(), "{section}");
        for finding in findings {
            let (file, line) = (text(&finding["file"]), finding["line"].as_u64().unwrap());
            assert_quoted(file, line as usize, text(&finding["evidence"]));
            let mark = format!("**{}** `{file}:{line}` `{}`", text(&finding["severity"]), text(&finding["evidence"]));
            assert!(section.contains(&mark), "{mark}\n{section}");
        }
    }
    assert!(DIMENSIONS.iter().all(|d| sections.contains_key(*d)));
    assert!(sections["performance"].contains("No specialist did this part"), "{sections:?}");
    // A line that two dimensions speak of is named at the end.
    assert!(sections["overall"].contains("`expire.py:24`") && sections["overall"].contains("`design.md:28`"));
}

#[test]
fn every_line_that_the_result_quotes_is_there() {
    let shown = &*SHOWN;
    let result = text(&shown.run["payload"]["result"]);
    let findings: Vec<&str> = result.lines().filter(|line| line.starts_with("- **")).collect();
    assert_eq!(findings.len(), 19, "{result}");
    for finding in findings {
        let parts: Vec<&str> = finding.split('`').collect();
        let (file, line) = parts[1].split_once(':').unwrap();
        assert_quoted(file, line.parse().unwrap(), parts[3]);
    }
}

#[test]
fn it_says_what_it_is_and_what_to_type_next() {
    let desk = Desk::new();
    let done = desk.output(&["demo"]);
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).unwrap();
    for part in [
        "a script in the place of a model",
        "rejected: brief missing objective",
        "degraded: no specialist for agent=performance",
        "sent again as t3/c1",
        "the lead did this part itself",
        "1 answer sent back by its schema and put right",
        "14 model calls",
        "store.sqlite3",
        "--model openai:NAME",
        "demo --prove",
    ] {
        assert!(said.contains(part), "`{part}` is missing in\n{said}");
    }
    let notes = String::from_utf8(done.stderr).unwrap();
    assert!(notes.contains("lead/correctness#1") && notes.contains("scripted"), "{notes}");
    assert!(!notes.contains("warning"), "{notes}");
    let typed = said.lines().map(str::trim).filter(|line| line.contains(" --home "));
    let typed: Vec<&str> = typed.collect();
    assert_eq!(typed.len(), 2, "{said}");
    for line in typed {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(line).env_clear().env("HOME", desk.at("user")).current_dir(desk.at("elsewhere"));
        let done = output(shell);
        assert_eq!(done.status.code(), Some(0), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn killed_three_times_it_ends_the_same_and_asks_for_nothing_twice() {
    // covers F-05
    let desk = Desk::new();
    let doc = desk.json(&["demo", "--prove", "--json", "--home", &desk.home()]);
    assert_eq!((&doc["schema"], &doc["proved"]), (&1.into(), &true.into()));
    assert_eq!(list(&doc["kills"]).len(), 3);
    let requests = list(&doc["requests"]);
    assert!(requests.iter().all(|r| r["status"] == 200 && r["repeated"] == false), "{requests:?}");
    let recorded = requests.iter().filter(|r| r["recorded"].is_u64()).count();
    assert_eq!(recorded, 14, "each answer once: {requests:?}");
    assert!(requests.iter().all(|r| r["recorded"].is_u64() != r["lost"].is_u64()), "{requests:?}");
    let shown = &*SHOWN;
    assert_eq!(doc["run"]["status"], "succeeded");
    assert_eq!(doc["run"]["payload"], shown.run["payload"], "the same result as without a kill");
}

/// Reads messages until one has these words in it.
fn until(child: &mut Child, words: &str) -> String {
    let stderr = child.stderr.take().unwrap();
    let (found, wait) = mpsc::channel();
    let words = words.to_string();
    std::thread::spawn(move || {
        let mut all = String::new();
        let mut lines = BufReader::new(stderr);
        while lines.read_line(&mut all).unwrap() > 0 {
            if all.contains(&words) {
                drop(found.send(all.clone()));
                break;
            }
        }
        // What follows is read as well, so that the program is never stopped by a full pipe.
        drop(lines.read_to_string(&mut all));
    });
    wait.recv_timeout(GUARD).unwrap_or_else(|_| panic!("the program did not get there in time"))
}

#[test]
fn an_interrupted_proof_leaves_no_process_behind() {
    let desk = Desk::new();
    for signal in ["INT", "KILL"] {
        let mut child =
            desk.deputize(&["demo", "--prove"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = until(&mut child, "kill 1");
        let address = said.split("http://").nth(1).unwrap().split("/v1").next().unwrap().to_string();
        assert!(TcpStream::connect(&address).is_ok(), "{said}");
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("/bin/sh").args(["-c", &kill]).status().unwrap().success());
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal == "INT").then_some(130), "{status}");
        let start = Instant::now();
        while TcpStream::connect(&address).is_ok() {
            assert!(start.elapsed() < GUARD, "the server of the proof is still there after SIG{signal}");
            std::thread::yield_now();
        }
    }
}
