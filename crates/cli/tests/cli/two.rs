//! Several processes on one store: runs at once, resumes at once, locks of the dead, files that change under a run.

use crate::common::{Place, Running, id};

/// Four turns; the child comes after the first of them.
const SLOW: &str = "
lead:
  turns:
    - {latency: 100ms, calls: [{ls: {path: .}}]}
    - {latency: 100ms, calls: [{delegate: {agent: reader, objective: read}}]}
    - {latency: 100ms, calls: [{ls: {path: .}}]}
    - {text: all done}
lead/reader:
  turns: [{latency: 100ms, calls: [{read_file: {path: one.txt}}]}, {text: the number is 1}]
";
/// The same, but the second turn takes for ever.
fn stuck() -> String {
    SLOW.replacen("{latency: 100ms, calls: [{delegate", "{latency: 1h, calls: [{delegate", 1)
}

fn killed(place: &Place) -> String {
    let mut running = place.start(&["run", "x"]);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    running.until("t1/c0");
    running.signal("KILL");
    running.end();
    run
}

fn kinds(place: &Place, run: &str) -> Vec<String> {
    let doc = place.json(&["trace", run, "--events"]).exits(0).json();
    let runs = doc["runs"].as_array().unwrap();
    let events = runs.iter().flat_map(|run| run["events"].as_array().unwrap());
    events.map(|event| event["type"].as_str().unwrap().to_string()).collect()
}

#[test]
fn runs_at_once_in_several_processes_are_whole_and_in_nobodys_way() {
    let place = Place::team(SLOW);
    let running: Vec<Running> = (0..4).map(|_| place.start(&["run", "x", "--json"])).collect();
    let ended: Vec<_> = running.into_iter().map(|running| running.end().exits(0)).collect();
    let ids: Vec<String> = ended.iter().map(|ended| id(&ended.json())).collect();
    let whole = kinds(&place, &ids[0]);
    assert!(whole.len() > 20, "{whole:?}");
    for (run, ended) in ids.iter().zip(&ended) {
        assert_eq!(kinds(&place, run), whole);
        assert!(!ended.stderr.contains("locked") && !ended.stderr.contains("error"), "{ended:?}");
    }
    assert_eq!(place.json(&["runs"]).exits(0).json()["runs"].as_array().unwrap().len(), 4);
}

#[test]
fn of_resumes_at_the_same_moment_exactly_one_drives() {
    let place = Place::team(&stuck());
    let run = killed(&place);
    place.write("play.yaml", &stuck().replace("1h", "2s"));
    let resumes: Vec<Running> = (0..3).map(|_| place.start(&["resume", &run, "--json"])).collect();
    let mut won = 0;
    for ended in resumes.into_iter().map(Running::end) {
        match ended.code {
            Some(0) => won += 1,
            _ => {
                let error = ended.fails(1, "run.driven");
                assert!(error["hint"].as_str().unwrap().contains(&format!("deputize watch {run}")), "{error}");
            }
        }
    }
    assert_eq!(won, 1);
    let recovered = kinds(&place, &run).iter().filter(|kind| *kind == "recovered").count();
    assert_eq!(recovered, 1, "the others never touched the log");
}

#[test]
fn the_lock_file_of_a_dead_process_is_in_nobodys_way() {
    let place = Place::team(&stuck());
    let run = killed(&place);
    let lock = place.state().join("locks").join(format!("{run}.lock"));
    assert!(lock.exists(), "kill -9 leaves it");
    std::fs::write(&lock, "from another life").unwrap();
    assert_eq!(place.json(&["show", &run]).exits(0).json()["status"], "interrupted");
    place.write("play.yaml", SLOW);
    assert_eq!(place.json(&["resume", &run]).exits(0).json()["status"], "succeeded");
    assert!(!lock.exists());
}

// Going on with the changed definition has to be asked for.
#[test]
fn files_that_change_under_a_run_change_nothing_of_it() {
    let place = Place::team(&stuck());
    let run = killed(&place);
    place.agent("reader", "tools: [nothing_known]\n");
    std::fs::remove_file(place.path("agents/lead.md")).unwrap();
    place.write("deputize.yaml", "not: [a team");
    place.json(&["run", "x"]).exits(1);
    place.write("play.yaml", SLOW);
    let doc = place.json(&["resume", &run]).exits(0).json();
    assert_eq!((&doc["payload"]["result"], &doc["usage"]["runs"]), (&"all done".into(), &2.into()));
    let doc = place.json(&["trace", &run, "--events"]).exits(0).json();
    let runs = doc["runs"].as_array().unwrap();
    let pinned = |n: usize| runs[n]["events"][0]["team"].clone();
    assert_eq!(pinned(0), pinned(1), "the child, too, is of the team that the run began with");
    assert!(runs[1]["brief"]["tools"]["value"].to_string().contains("read_file"), "{}", runs[1]["brief"]);
}

#[test]
fn a_run_in_the_background_is_cancelled() {
    let place = Place::team(&stuck());
    let run = place.deputize(&["run", "x", "--detach"]).exits(0).stdout.trim().to_string();
    let doc = place.json(&["cancel", &run]).exits(0).json();
    assert_eq!(doc["status"], "cancelled");
    // Its process has ended too: what it drove is free.
    let free = || place.json(&["resume", &run]).code.filter(|code| *code == 130);
    crate::common::wait_for("its process to end", free);
}

#[test]
fn a_run_in_the_background_is_watched_to_its_end() {
    let place = Place::team(SLOW);
    let run = place.deputize(&["run", "x", "--detach"]).exits(0).stdout.trim().to_string();
    let ended = place.deputize(&["watch", &run]).exits(0);
    assert!(format!("{}{}", ended.stdout, ended.stderr).contains("all done"), "{ended:?}");
    assert_eq!(place.json(&["show", &run]).exits(0).json()["status"], "succeeded");
}

// covers E-60
#[test]
fn a_tree_whose_child_is_in_doubt_is_cancelled_with_no_driver() {
    let child = SLOW.replacen("{latency: 100ms, calls: [{read_file", "{latency: 1h, calls: [{read_file", 1);
    let place = Place::team(&child);
    let mut running = place.start(&["run", "x"]);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    crate::common::wait_for("the child's model call", || {
        let doc = place.json(&["trace", &run, "--events"]).json();
        doc["runs"][1]["events"].to_string().contains("step_started").then_some(())
    });
    running.signal("KILL");
    running.end();
    let doc = place.json(&["cancel", &run]).exits(0).json();
    assert_eq!(doc["status"], "cancelled");
    let doc = place.json(&["trace", &run, "--events"]).exits(0).json();
    assert!(doc["runs"][1]["events"].to_string().contains("step_in_doubt"), "{doc}");
    for run in doc["runs"].as_array().unwrap() {
        assert_eq!(run["status"], "cancelled", "{run}");
        let last = run["events"].as_array().unwrap().last().unwrap();
        assert_eq!(last["type"], "run_finished");
    }
}
