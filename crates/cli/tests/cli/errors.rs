//! What keeps a command from its work: each with a code, a sentence, and nothing lost.

use crate::common::{Place, id, keys};
use crate::run::TREE;

#[test]
fn the_command_line_is_explained() {
    let place = Place::team(TREE);
    for words in [
        &["bogus"][..],
        &["run"],
        &["run", "a", "b", "c"],
        &["run", "x", "--budget-cows", "3"],
        &["show"],
        &[],
        &["run", "x", "--role", "fast"],
        &["run", "x", "--allow", "all"],
    ] {
        place.json(words).fails(2, "usage.invalid");
        let ended = place.deputize(words).exits(2);
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty(), "{ended:?}");
    }
    assert!(place.deputize(&["--help-all"]).exits(0).stdout.contains("resume"));
    assert!(place.deputize(&["--version"]).exits(0).stdout.starts_with("deputize "));
}

// covers E-11
#[test]
fn an_empty_objective_starts_nothing() {
    let place = Place::team(TREE);
    place.json(&["run", " "]).fails(1, "brief.objective_missing");
    place.json(&["run", ".", "\n"]).fails(1, "brief.objective_missing");
    assert!(!place.state().exists());
}

#[test]
fn all_errors_of_a_team_come_at_once() {
    let place = Place::team(TREE);
    place.write("deputize.yaml", "root: lead\nbugdet: {}\nroles: {default: 'play:any'}\nproviders: {play: {kind: scripted, script: play.yaml}}\n");
    place.agent("lead", "agents: [raeder]\n");
    place.write("agents/reader.md", "---\nname: reader\ndescription: ' '\n---\nRead.\n");
    let ended = place.deputize(&["run", "read it"]).exits(1);
    for place in ["deputize.yaml:2:1: error[", "agents/lead.md:4:", "agents/reader.md:3:"] {
        assert!(ended.stderr.contains(place), "{place}: {ended:?}");
    }
    assert!(ended.stderr.contains("2 | bugdet: {}"), "{ended:?}");
    assert!(ended.stderr.contains("nothing was started"), "{ended:?}");
    let error = place.json(&["run", "read it"]).exits(1).json()["error"].clone();
    assert!(error["file"].is_string() && error["line"].is_u64() && error["column"].is_u64());
    assert!(error["hint"].as_str().unwrap().contains("more"), "{error}");
    assert!(!place.state().exists());
}

#[test]
fn names_that_lead_nowhere() {
    let place = Place::team(TREE);
    place.json(&["run", "x", "--agent", "laed"]).fails(1, "agent.unknown");
    place.json(&["run", "x", "--model", "nobody:small"]).fails(1, "model.unknown");
    place.json(&["run", "x", "--model", "small"]).fails(1, "model.unknown");
    place.json(&["run", "x", "--role", "slow=play:any"]).fails(1, "role.unknown");
    place.json(&["run", "x", "--workspace", "nowhere"]).fails(1, "workspace.missing");
    place.json(&["run", "x", "--script", "nowhere.yaml"]).fails(1, "path.missing");
    place.json(&["run", "x", "--budget-tokens", "0"]).fails(1, "budget.not_positive");
    place.write("deputize.yaml", "root: laed\n");
    place.json(&["run", "x"]).fails(1, "root.unknown");
    place.json(&["run", "nowhere/at/all", "x"]).exits(1);
}

#[test]
fn a_broken_script_is_told_before_anything_starts() {
    let place = Place::team("lead: [{txt: hello}]");
    let error = place.json(&["run", "x"]).fails(1, "provider.invalid");
    assert!(error["message"].as_str().unwrap().contains("play.yaml"), "{error}");
}

#[test]
fn an_agent_with_an_unknown_model_needs_the_flag() {
    let place = Place::team("lead: [{text: done}]");
    place.agent("reader", "model: gpt-9\n");
    place.json(&["run", "x"]).fails(1, "model.unknown");
    place.json(&["run", "x", "--model", "play:any"]).exits(0);
}

#[test]
fn a_state_folder_that_cannot_be_made() {
    let place = Place::team(TREE);
    std::fs::write(place.state(), "a file is in the way").unwrap();
    for words in [&["run", "x"][..], &["runs"], &["show", "last"]] {
        let error = place.json(words).fails(1, "store.failed");
        assert!(error["message"].as_str().unwrap().contains("state"), "{error}");
    }
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let place = Place::team(TREE);
    place.json(&["run", "x"]).exits(0);
    let file = place.state().join("store.sqlite3");
    let store = rusqlite::Connection::open(&file).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    drop(store);
    for words in [&["run", "x"][..], &["runs"], &["resume", "last"], &["cancel", "last"]] {
        let error = place.json(words).fails(1, "store.newer");
        assert!(error["message"].as_str().unwrap().contains("newer"), "{error}");
    }
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let place = Place::team(TREE);
    std::fs::create_dir_all(place.state()).unwrap();
    let file = place.state().join("store.sqlite3");
    let text = "these are the notes of somebody else, and they are longer than a header ".repeat(20);
    std::fs::write(&file, &text).unwrap();
    place.json(&["runs"]).fails(1, "store.failed");
    place.json(&["run", "x"]).fails(1, "store.failed");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_damaged_log_is_named_and_the_others_can_be_read() {
    let place = Place::team(TREE);
    let bad = id(&place.json(&["run", "first"]).exits(0).json());
    let good = id(&place.json(&["run", "second"]).exits(0).json());
    let store = rusqlite::Connection::open(place.state().join("store.sqlite3")).unwrap();
    store.execute("UPDATE events SET data = '{' WHERE run = ?1 AND seq = 2", [&bad]).unwrap();
    drop(store);
    let error = place.json(&["show", &bad]).fails(1, "store.damaged");
    assert!(error["message"].as_str().unwrap().contains(&bad));
    place.json(&["show", &good]).exits(0);
    let ended = place.json(&["runs"]).exits(0);
    assert!(ended.stderr.contains(&bad), "{ended:?}");
    let runs = ended.json()["runs"].clone();
    let line = |id: &str| runs.as_array().unwrap().iter().find(|r| r["run_id"] == id).unwrap().clone();
    assert_eq!(keys(&line(&bad)), keys(&line(&good)));
    assert_eq!((&line(&bad)["status"], &line(&bad)["objective"]), (&"succeeded".into(), &"first".into()));
}

#[test]
fn a_torn_last_record_is_reported_and_the_run_goes_on() {
    let place = Place::team(TREE);
    let run = id(&place.json(&["run", "x"]).exits(0).json());
    let store = rusqlite::Connection::open(place.state().join("store.sqlite3")).unwrap();
    let last = "UPDATE events SET data = '{' WHERE run = ?1 AND seq = (SELECT max(seq) FROM events WHERE run = ?1)";
    store.execute(last, [&run]).unwrap();
    store.execute("UPDATE runs SET status = NULL WHERE run = ?1", [&run]).unwrap();
    drop(store);
    let ended = place.json(&["resume", &run]).exits(0);
    assert!(ended.stderr.contains("only half written"), "{ended:?}");
    assert_eq!(ended.json()["payload"]["result"], "the number is 1");
}

#[test]
fn runs_that_are_not_there() {
    let place = Place::team(TREE);
    for command in ["show", "trace", "resume", "cancel"] {
        place.json(&[command, "nope"]).fails(1, "run.unknown");
        place.json(&[command, "last"]).fails(1, "run.unknown");
        place.json(&[command, ""]).fails(1, "run.unknown");
    }
}
