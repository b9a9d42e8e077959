//! A run that is killed, interrupted, put into the background, cancelled, resumed twice at once.

use crate::common::{Place, Running, id, there, wait_for};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// Eight turns of a tenth of a second.
const SLOW: &str = "
lead:
  turns: [&t {latency: 100ms, calls: [{ls: {path: .}}]}, *t, *t, *t, *t, *t, *t, {text: all done}]
";
/// A call that takes for ever in a tree of two.
const STUCK: &str = "
lead:
  - calls: [{delegate: {agent: reader, objective: read}}]
  - text: over
lead/reader:
  - calls: [{read_file: {path: one.txt}}]
  - latency: 1h
    text: never
";

fn status(place: &Place, run: &str) -> String {
    place.json(&["show", run]).exits(0).json()["status"].as_str().unwrap().to_string()
}

fn steps(place: &Place, run: &str) -> Vec<Value> {
    place.json(&["trace", run]).exits(0).json()["runs"][0]["steps"].as_array().unwrap().clone()
}

/// Starts a run and waits until it has said this.
fn started(place: &Place, words: &[&str], said: &str) -> (Running, String) {
    let mut running = place.start(words);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    running.until(said);
    (running, run)
}

#[test]
fn killed_and_resumed() {
    let place = Place::team(SLOW);
    let (running, run) = started(&place, &["run", "x"], "t3/c0");
    running.signal("KILL");
    assert_eq!(running.end().code, None);
    assert_eq!(status(&place, &run), "interrupted");
    assert_eq!(place.json(&["show", &run]).json()["next"], format!("deputize resume {run}"));
    assert_eq!(place.json(&["runs"]).json()["runs"][0]["status"], "interrupted");
    let mut resume = place.command(&["resume", &run, "--json"]);
    resume.current_dir("/");
    let ended = Running::of(resume).end().exits(0);
    assert_eq!(ended.json()["payload"]["result"], "all done");
    assert!(!ended.stderr.contains("t2/c0"), "a finished step was done again: {ended:?}");
    let labels = steps(&place, &run).len();
    assert_eq!(labels, 15);
}

#[test]
fn resume_of_a_finished_run_prints_its_result() {
    let place = Place::team("lead: [{text: fine}]");
    let run = id(&place.json(&["run", "x"]).exits(0).json());
    let before = place.json(&["trace", &run, "--events"]).exits(0).stdout;
    let ended = place.json(&["resume", &run]).exits(0);
    assert_eq!(ended.json()["payload"]["result"], "fine");
    assert!(ended.stderr.contains("nothing was done"));
    assert_eq!(place.json(&["trace", &run, "--events"]).exits(0).stdout, before);
    let failing = Place::team("lead: [{fault: refusal, text: no}]");
    failing.json(&["run", "x"]).exits(4);
    failing.json(&["resume", "last"]).exits(4);
}

#[test]
fn two_resumes_at_once() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place, &["run", "x"], "read_file");
    assert_eq!(status(&place, &run), "running");
    place.json(&["resume", &run]).fails(1, "run.driven");
    running.signal("KILL");
    running.end();
    place.write("play.yaml", &STUCK.replace("1h", "2s"));
    let resumed = place.command(&["resume", &run, "--json"]);
    let mut first = Running::of(resumed);
    first.until("goes on");
    let error = place.json(&["resume", &run]).fails(1, "run.driven");
    assert!(error["hint"].as_str().unwrap().contains(&format!("deputize watch {run}")), "{error}");
    assert_eq!(first.end().exits(0).json()["status"], "succeeded");
}

// covers F-05
#[test]
fn interrupted_and_resumed() {
    for signal in ["INT", "TERM", "HUP"] {
        let place = Place::team(STUCK);
        let (running, run) = started(&place, &["run", "x", "--json"], "read_file");
        running.signal(signal);
        let ended = running.end().exits(130);
        assert!(ended.stderr.contains(&format!("deputize resume {run}")), "{ended:?}");
        let doc = ended.json();
        assert_eq!((&doc["status"], &doc["next"]), (&"interrupted".into(), &format!("deputize resume {run}").into()));
        place.write("play.yaml", &STUCK.replace("1h", "1ms"));
        let ended = place.json(&["resume", "last/t1/c0"]).exits(0);
        assert!(!ended.stderr.contains("read_file"), "a finished step was done again: {ended:?}");
        let doc = ended.json();
        assert_eq!((id(&doc), &doc["status"]), (run, &"succeeded".into()));
    }
}

#[test]
fn a_second_interrupt_does_not_wait() {
    let place = Place::team(STUCK);
    let (mut running, run) = started(&place, &["run", "x"], "read_file");
    running.signal("INT");
    running.until("interrupted");
    running.signal("INT");
    running.end().exits(130);
    assert_eq!(status(&place, &run), "interrupted");
}

#[test]
fn in_the_background() {
    let place = Place::team(SLOW);
    let ended = place.deputize(&["run", "x", "--detach"]).exits(0);
    let run = ended.stdout.trim().to_string();
    assert_eq!(run.len(), 10, "{ended:?}");
    assert!(ended.stderr.is_empty(), "{ended:?}");
    wait_for("the run to end", || (status(&place, &run) == "succeeded").then_some(()));
    let log = place.state().join("logs").join(format!("{run}.log"));
    wait_for("the log file", || there(&log));
    wait_for("its result", || std::fs::read_to_string(&log).unwrap().contains("all done").then_some(()));
    let doc = place.with_input(&["run", "-", "--detach", "--json"], "by input").exits(0).json();
    assert_eq!(crate::common::keys(&doc), crate::common::set("schema run_id"));
    assert_eq!(place.json(&["show", &id(&doc)]).exits(0).json()["objective"], "by input");
    place.json(&["cancel", &id(&doc)]).exits(0);
}

#[test]
fn in_the_background_and_wrong() {
    let place = Place::team(SLOW);
    place.json(&["run", "x", "--detach", "--agent", "nobody"]).fails(1, "agent.unknown");
    place.json(&["run", " ", "--detach"]).fails(1, "brief.objective_missing");
    let ended = place.deputize(&["run", "x", "--detach", "--agent", "nobody"]).exits(1);
    assert!(ended.stdout.is_empty() && ended.stderr.contains("nobody"), "{ended:?}");
    let quick = Place::team("lead: [{fault: refusal, text: no}]");
    let run = quick.deputize(&["run", "x", "--detach"]).exits(0).stdout;
    wait_for("the run to fail", || (status(&quick, run.trim()) == "failed").then_some(()));
}

// covers E-60
#[test]
fn cancelled_from_another_process() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place, &["run", "x", "--json"], "read_file");
    let doc = place.json(&["cancel", &run]).exits(0).json();
    assert_eq!(doc["status"], "cancelled");
    assert_eq!(running.end().exits(130).json()["status"], "cancelled");
    assert_eq!(status(&place, &format!("{run}/t1/c0")), "cancelled");
    let again = place.json(&["cancel", &run]).exits(0);
    assert!(again.stderr.contains("nothing was done"));
    place.json(&["resume", &run]).exits(130);
}

#[test]
fn a_child_is_cancelled_and_its_parent_goes_on() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place, &["run", "x", "--json"], "read_file");
    let doc = place.json(&["cancel", &format!("{run}/t1/c0")]).exits(0).json();
    assert_eq!((&doc["status"], &doc["agent"]), (&"cancelled".into(), &"reader".into()));
    let doc = running.end().exits(0).json();
    assert_eq!((&doc["status"], &doc["payload"]["result"]), (&"succeeded".into(), &"over".into()));
}

#[test]
fn cancelled_while_nobody_drives_it() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place, &["run", "x"], "read_file");
    running.signal("KILL");
    running.end();
    // Neither the script nor the folder is needed to end a run.
    std::fs::remove_file(place.path("play.yaml")).unwrap();
    let doc = place.json(&["cancel", &format!("{run}/t1/c0")]).exits(0).json();
    assert_eq!(doc["status"], "cancelled");
    assert_eq!(status(&place, &run), "interrupted");
    place.json(&["cancel", &run]).exits(0);
    assert_eq!(status(&place, &run), "cancelled");
}

#[test]
fn resume_says_what_is_gone() {
    let place = Place::team(STUCK);
    place.write("space/one.txt", "1");
    let (running, run) = started(&place, &["run", "x", "--workspace", "space"], "read_file");
    running.signal("KILL");
    running.end();
    std::fs::rename(place.path("play.yaml"), place.path("gone.yaml")).unwrap();
    let error = place.json(&["resume", &run]).fails(1, "script.missing");
    assert!(error["message"].as_str().unwrap().contains("play.yaml"));
    std::fs::rename(place.path("gone.yaml"), place.path("play.yaml")).unwrap();
    std::fs::rename(place.path("space"), place.path("moved")).unwrap();
    let error = place.json(&["resume", &run]).fails(1, "workspace.missing");
    assert!(error["message"].as_str().unwrap().contains("space"), "{error}");
    assert_eq!(status(&place, &run), "interrupted");
}

#[test]
fn nohup_is_obeyed() {
    let place = Place::team(SLOW);
    let own = place.command(&["run", "x", "--json"]);
    let mut command = std::process::Command::new("nohup");
    command.arg(own.get_program()).args(own.get_args()).current_dir(place.path(""));
    command
        .env_clear()
        .envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .env("PATH", "/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running::of(command);
    running.until("t2/c0");
    running.signal("HUP");
    let ended = running.end();
    // Where the kernel does not tell which signals are ignored, the run is interrupted.
    let wanted = if Path::new("/proc/self/status").exists() { 0 } else { 130 };
    assert_eq!(ended.exits(wanted).json()["schema"], 1);
}

#[test]
fn a_disk_that_is_full_loses_nothing() {
    let turn = format!("  - {{calls: [{{ls: {{path: .}}}}], text: '{}'}}\n", "x".repeat(20_000));
    let place = Place::team(&format!("lead:\n{}  - text: all done\n", turn.repeat(20)));
    let own = place.command(&["run", "x", "--json"]);
    // Files of this process and its store may not grow beyond a quarter of a megabyte or a half.
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 500; exec \"$0\" \"$@\""]).arg(own.get_program()).args(own.get_args());
    command.current_dir(place.path("")).env_clear().envs(own.get_envs().filter_map(|(n, v)| Some((n, v?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let error = Running::of(command).end().fails(1, "store.failed");
    let run = id(&place.json(&["show", "last"]).exits(0).json());
    assert!(error["hint"].as_str().unwrap().contains(&format!("deputize resume {run}")), "{error}");
    assert_eq!(status(&place, &run), "interrupted");
    let ended = place.json(&["resume", &run]).exits(0);
    assert_eq!(ended.json()["payload"]["result"], "all done");
    assert!(!ended.stderr.contains("lead  t1  "), "a finished step was done again: {ended:?}");
}
