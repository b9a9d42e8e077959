//! Runs that go, copies, and what a place that others can reach or that is gone does.

use crate::common::{Place, Running, id, there};
use std::os::unix::fs::PermissionsExt as _;

const FINE: &str = "lead: [{text: fine}]";
/// A call that takes for ever.
const STUCK: &str = "
lead:
  - calls: [{ls: {path: .}}]
  - latency: 1h
    text: never
";

fn started(place: &Place) -> (Running, String) {
    let mut running = place.start(&["run", "x"]);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    running.until("t1/c0");
    (running, run)
}

fn runs(place: &Place) -> Vec<String> {
    let doc = place.json(&["runs"]).exits(0).json();
    doc["runs"].as_array().unwrap().iter().map(id).collect()
}

// The part of U-14 that needs no keys.
#[test]
fn runs_are_removed_by_id() {
    let place = Place::team(FINE);
    let ids: Vec<String> = (0..3).map(|_| id(&place.json(&["run", "x"]).exits(0).json())).collect();
    place.json(&["runs", "rm", "nobody"]).fails(1, "run.unknown");
    // All or nothing.
    place.json(&["runs", "rm", &ids[0], "nobody"]).fails(1, "run.unknown");
    assert_eq!(runs(&place).len(), 3);
    let doc = place.json(&["runs", "rm", &ids[0], &ids[1], &ids[0]]).exits(0).json();
    assert_eq!((&doc["removed"], &doc["runs"]), (&serde_json::json!([ids[0], ids[1]]), &2.into()));
    assert_eq!(runs(&place), [ids[2].as_str()]);
    place.json(&["show", &ids[0]]).fails(1, "run.unknown");
    let text = place.deputize(&["runs", "rm", "last"]).exits(0).stdout;
    assert!(text.contains("1 tree removed, 1 run:") && text.contains("freed"), "{text}");
}

// The part of U-14 that needs no keys.
#[test]
fn what_is_driven_never_goes_and_what_is_not_over_only_when_it_is_said() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place);
    place.json(&["runs", "rm", &run, "--unfinished"]).fails(1, "run.driven");
    let doc = place.json(&["runs", "prune", "--keep", "0", "--unfinished"]).exits(0).json();
    assert_eq!(doc["removed"], serde_json::json!([]));
    running.signal("KILL");
    running.end();
    let error = place.json(&["runs", "rm", &run]).fails(1, "run.unfinished");
    assert!(error["hint"].as_str().unwrap().contains("--unfinished"), "{error}");
    let doc = place.json(&["runs", "prune", "--keep", "0"]).exits(0).json();
    assert_eq!(doc["removed"], serde_json::json!([]));
    let doc = place.json(&["runs", "rm", &run, "--unfinished"]).exits(0).json();
    assert_eq!(doc["removed"], serde_json::json!([run]));
    assert!(runs(&place).is_empty());
}

// The part of U-14 that needs no keys.
#[test]
fn old_runs_are_pruned_and_the_file_shrinks() {
    let large = "x".repeat(300_000);
    let place = Place::team(&format!("lead: [{{text: {large}}}]"));
    let ids: Vec<String> = (0..3).map(|_| id(&place.json(&["run", "x"]).exits(0).json())).collect();
    place.json(&["runs", "prune"]).fails(2, "usage.invalid");
    place.json(&["runs", "prune", "--older", "soon"]).fails(2, "usage.invalid");
    let doc = place.json(&["runs", "prune", "--older", "30d"]).exits(0).json();
    assert_eq!(doc["removed"], serde_json::json!([]));
    let dry = place.json(&["runs", "prune", "--keep", "1", "--dry-run"]).exits(0).json();
    assert_eq!((&dry["removed"], &dry["dry_run"]), (&serde_json::json!(ids[..2]), &true.into()));
    assert_eq!(runs(&place).len(), 3);
    let file = place.state().join("store.sqlite3");
    let size = || std::fs::metadata(&file).unwrap().len();
    let before = size();
    let doc = place.json(&["runs", "prune", "--max-size", "1M"]).exits(0).json();
    assert_eq!(doc["removed"], serde_json::json!(ids[..2]), "each takes more than half a megabyte");
    assert!(size() + 600_000 < before, "{} {before}", size());
    assert!(doc["bytes_freed"].as_u64().unwrap() > 600_000, "{doc}");
    assert_eq!(runs(&place), [ids[2].as_str()]);
    assert_eq!(place.json(&["show", "last"]).exits(0).json()["status"], "succeeded");
}

#[test]
fn logs_of_removed_background_runs_go_too() {
    let place = Place::team(FINE);
    let run = place.deputize(&["run", "x", "--detach"]).exits(0).stdout.trim().to_string();
    place.deputize(&["watch", &run]).exits(0);
    let log = |run: &str| place.state().join("logs").join(format!("{run}.log"));
    crate::common::wait_for("the log", || there(&log(&run)));
    // The result is said once the lock is free.
    let said = || std::fs::read_to_string(log(&run)).unwrap().contains("done  ").then_some(());
    crate::common::wait_for("its result", said);
    std::fs::write(log("longgone00"), "of a run that is not there").unwrap();
    place.json(&["runs", "rm", &run]).exits(0);
    assert!(!log(&run).exists() && log("longgone00").exists());
    place.json(&["runs", "prune", "--older", "30d"]).exits(0);
    assert!(!log("longgone00").exists());
}

#[test]
fn a_copy_is_a_store_of_its_own() {
    let place = Place::team(STUCK);
    place.json(&["runs", "backup", "none.db"]).fails(1, "run.unknown");
    let (running, run) = started(&place);
    std::fs::create_dir(place.path("kept")).unwrap();
    let doc = place.json(&["runs", "backup", "kept/store.sqlite3"]).exits(0).json();
    assert!(doc["bytes"].as_u64().unwrap() > 0, "{doc}");
    let error = place.json(&["runs", "backup", "kept/store.sqlite3"]).fails(1, "store.failed");
    assert!(error["message"].as_str().unwrap().contains("kept/store.sqlite3"), "{error}");
    running.signal("KILL");
    running.end();
    place.write("play.yaml", FINE);
    let shown = place.json(&["show", &run, "--home", "kept"]).exits(0).json();
    assert_eq!(shown["status"], "interrupted");
    place.write("play.yaml", &STUCK.replace("1h", "1ms"));
    assert_eq!(place.json(&["resume", &run, "--home", "kept"]).exits(0).json()["status"], "succeeded");
    assert_eq!(place.json(&["show", &run]).exits(0).json()["status"], "interrupted", "the copy is another store");
}

#[test]
fn the_list_can_be_narrowed() {
    let place = Place::team(FINE);
    place.json(&["run", "x"]).exits(0);
    place.json(&["runs", "--limit", "0"]).fails(2, "usage.invalid");
    let count =
        |status: &str| place.json(&["runs", "--status", status]).exits(0).json()["runs"].as_array().unwrap().len();
    assert_eq!((count("succeeded"), count("interrupted")), (1, 0));
    place.json(&["runs", "--status", "fine"]).fails(2, "usage.invalid");
}

#[test]
fn a_state_folder_that_others_can_reach_is_closed() {
    let place = Place::team(FINE);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    std::fs::create_dir_all(place.state()).unwrap();
    std::fs::set_permissions(place.state(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let ended = place.deputize(&["run", "x"]).exits(0);
    assert_eq!(mode(&place.state()), 0o700);
    assert!(ended.stderr.contains("0777"), "{ended:?}");
    // A folder with other things in it is not ours to close.
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
    let ended = place.deputize(&["run", "x", "--home", "."]).exits(0);
    assert_eq!(mode(&place.path("")), 0o777);
    assert!(ended.stderr.contains("chmod 700"), "{ended:?}");
}

#[test]
fn runs_are_found_from_a_folder_that_is_gone() {
    let place = Place::team(FINE);
    let run = id(&place.json(&["run", "x"]).exits(0).json());
    std::fs::create_dir(place.path("gone")).unwrap();
    let from_there = |words: &[&str]| {
        let own = place.command(words);
        let mut command = std::process::Command::new("/bin/sh");
        command
            .args(["-c", "cd gone && rmdir ../gone && exec \"$0\" \"$@\""])
            .arg(own.get_program())
            .args(own.get_args());
        command.current_dir(place.path("")).env_clear().envs(own.get_envs().filter_map(|(n, v)| Some((n, v?))));
        command.env("PATH", "/usr/bin:/bin").stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        std::fs::create_dir_all(place.path("gone")).unwrap();
        Running::of(command).end()
    };
    assert_eq!(id(&from_there(&["show", &run, "--json"]).exits(0).json()), run);
    from_there(&["resume", &run, "--json"]).exits(0);
    from_there(&["run", "x", "--json"]).fails(1, "workspace.missing");
    from_there(&["show", &run, "--home", "rel", "--json"]).fails(1, "workspace.missing");
}
