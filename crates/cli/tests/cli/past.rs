//! Runs that are over: the list, the ways to name one, stores in other places.

use crate::common::{Place, Running, id, keys, set};
use crate::run::{RUN, TREE};

#[test]
fn the_list_is_newest_first() {
    let place = Place::team(TREE);
    let none = place.json(&["runs"]).exits(0).json();
    assert_eq!(none, serde_json::json!({"schema": 1, "runs": []}));
    assert!(!place.state().exists(), "looking makes nothing");
    let first = id(&place.json(&["run", "first"]).exits(0).json());
    let second = id(&place.json(&["run", "second"]).exits(0).json());
    let doc = place.json(&["runs"]).exits(0).json();
    let ids: Vec<&str> = doc["runs"].as_array().unwrap().iter().map(|r| r["run_id"].as_str().unwrap()).collect();
    assert_eq!(ids, [&second, &first]);
    assert_eq!(keys(&doc["runs"][0]), set("run_id root team agent objective status started ended usage cost"));
    assert_eq!(doc["runs"][0]["usage"]["runs"], 2);
    assert_eq!(place.json(&["runs", "--limit", "1"]).json()["runs"].as_array().unwrap().len(), 1);
    let table = place.deputize(&["runs"]).exits(0).stdout;
    assert!(table.lines().next().unwrap().contains("lead: second"), "{table}");
}

#[test]
fn a_run_is_named_by_id_beginning_or_last() {
    let place = Place::team(TREE);
    let runs: Vec<String> = (0..40).map(|_| id(&place.json(&["run", "x"]).exits(0).json())).collect();
    let last = runs.last().unwrap();
    let show = |name: &str| place.json(&["show", name]);
    let doc = show("last").exits(0).json();
    assert_eq!(keys(&doc), set(RUN));
    assert_eq!(id(&doc), *last);
    assert_eq!(id(&show(last).exits(0).json()), *last);
    let sharing = |prefix: &str| runs.iter().filter(|r| r.starts_with(prefix)).count();
    let beginning = |run: &str, n: usize| run.chars().take(n).collect::<String>();
    let unique = (1..).map(|n| beginning(last, n)).find(|p| sharing(p) == 1).unwrap();
    assert_eq!(id(&show(&unique).exits(0).json()), *last);
    let child = id(&show(&format!("{unique}/t2/c0")).exits(0).json());
    assert_eq!(child, format!("{last}/t2/c0"));
    assert_eq!(id(&show("last/t2").exits(0).json()), child);
    // Forty ids begin with thirty-two characters.
    let shared = runs.iter().map(|r| beginning(r, 1)).find(|p| sharing(p) > 1).unwrap();
    let error = show(&shared).fails(1, "run.ambiguous");
    let named = runs.iter().filter(|r| error["message"].as_str().unwrap().contains(*r)).count();
    assert!(named > 1, "{error}");
}

#[test]
fn a_run_in_another_store_is_found_from_everywhere() {
    let place = Place::team(TREE);
    let yaml = std::fs::read_to_string(place.path("deputize.yaml")).unwrap();
    place.write("deputize.yaml", &format!("{yaml}store: {{path: kept/here.sqlite3, sync: normal}}\n"));
    let run = id(&place.json(&["run", "x"]).exits(0).json());
    assert!(place.path("kept/here.sqlite3").exists());
    assert!(!place.state().join("store.sqlite3").exists());
    let mut command = place.command(&["show", &run, "--json"]);
    command.current_dir("/");
    assert_eq!(id(&Running::of(command).end().exits(0).json()), run);
    assert_eq!(place.json(&["runs"]).json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn the_home_flag_wins() {
    let place = Place::team(TREE);
    place.json(&["--home", "elsewhere", "run", "x"]).exits(0);
    assert!(place.path("elsewhere/store.sqlite3").exists() && !place.state().exists());
    assert_eq!(place.json(&["runs", "--home", "elsewhere"]).json()["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn reference_pages_are_complete() {
    let doc = Place::empty().deputize(&["__reference"]).exits(0).json();
    let pages = doc["files"].as_array().unwrap();
    let page = |name: &str| {
        let path = format!("docs/reference/{name}.md");
        pages.iter().find(|p| p["path"] == path).unwrap()["text"].as_str().unwrap().to_string()
    };
    for said in ["## run", "--budget-model-calls COUNT", "--detach", "## cancel"] {
        assert!(page("cli").contains(said), "{said}");
    }
    assert!(!page("cli").contains("__"));
    assert!(page("codes").contains("`brief.objective_missing`") && page("exit-codes").contains("| 130 |"));
    assert!(page("config").contains("`providers.NAME.kind`"));
}

#[test]
fn commands_to_type_next_name_the_home_that_was_given() {
    let place = Place::team(TREE);
    let doc = place.json(&["--home", "elsewhere", "run", "x", "--budget-turns", "1"]).json();
    let next = doc["next"].as_str().unwrap().to_string();
    let words: Vec<&str> = next.split_whitespace().skip(1).collect();
    assert!(words.contains(&"--home"), "{next}");
    place.deputize(&words).exits(0);
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let place = Place::team(TREE);
    place.json(&["run", "x"]).exits(0);
    let mut command = place.command(&["runs"]);
    command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    assert_eq!(command.stderr(std::process::Stdio::null()).status().unwrap().code(), Some(1));
}
