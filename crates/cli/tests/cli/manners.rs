//! How the program speaks: help, completions, levels, the log file, and what every failure ends with.

use crate::common::{Ended, Place, id};
use crate::run::TREE;
use std::os::unix::fs::PermissionsExt as _;

fn commands(help: &str) -> Vec<String> {
    let listed = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    listed.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn the_first_screen_is_short_and_the_second_is_whole() {
    let place = Place::empty();
    let first = place.deputize(&["--help"]).exits(0).stdout;
    let all = place.deputize(&["--help-all"]).exits(0).stdout;
    let eight = ["init", "run", "watch", "show", "approve", "fork", "check", "doctor"];
    let shown = commands(&first);
    assert!(shown.iter().all(|name| eight.contains(&name.as_str())), "{shown:?}");
    assert_eq!(shown.first().map(String::as_str), Some("init"));
    assert!(first.contains("deputize --help-all"));
    for name in shown.iter().map(String::as_str).chain(["runs", "trace", "resume", "cancel", "demo", "completions"]) {
        assert!(commands(&all).contains(&name.to_string()), "{name}: {all}");
    }
    for text in [&first, &all] {
        assert!(!text.contains("__"), "a hidden command is shown: {text}");
    }
    assert_eq!(place.deputize(&["runs", "--help"]).exits(0).stdout.lines().next(), Some("List runs, newest first"));
    let none = place.deputize(&[]).exits(2);
    assert!(none.stderr.contains("a command is missing") && none.stderr.ends_with("next: deputize --help"), "{none:?}");
}

#[test]
fn shells_are_told_every_command() {
    let place = Place::empty();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.deputize(&["completions", shell]).exits(0).stdout;
        for name in ["init", "resume", "--budget-tokens"] {
            assert!(script.contains(name.trim_start_matches("--")), "{shell}: {name}");
        }
    }
    place.json(&["completions", "csh"]).fails(2, "usage.invalid");
}

#[test]
fn init_writes_a_team_that_checks_and_runs() {
    let place = Place::empty();
    let doc = place.json(&["init"]).exits(0).json();
    assert_eq!(doc["template"], "review");
    assert!(place.path("agents/lead.md").exists() && place.path("schemas/findings.json").exists());
    assert!(!place.path("sample").exists() && !place.path("demo.script.yaml").exists());
    assert_eq!(place.json(&["check"]).exits(0).json()["agents"].as_array().unwrap().len(), 5);
    let headings = "## Correctness\n\n## Security\n\n## Clarity\n\n## Evidence\n";
    place.write("play.yaml", &format!("lead: [{{text: {headings:?}}}]\n"));
    let run = place.json(&["run", "Review it", "--script", "play.yaml"]).exits(0).json();
    assert_eq!(run["payload"]["result"], headings.trim_end());
    place.write("agents/lead.md", "mine");
    let error = place.json(&["init"]).fails(1, "init.exists");
    assert!(error["message"].as_str().unwrap().contains("agents/lead.md"), "{error}");
    assert_eq!(std::fs::read_to_string(place.path("agents/lead.md")).unwrap(), "mine");
    let other = place.deputize(&["init", "review", "--dir", "new/team"]).exits(0);
    assert!(other.stdout.contains("next: deputize run new/team \"Review README.md\""), "{other:?}");
    assert!(place.path("new/team/agents/lead.md").exists());
    place.json(&["init", "nonsense"]).fails(2, "usage.invalid");
    place.write("file", "x");
    place.json(&["init", "--dir", "file"]).fails(1, "init.failed");
}

#[test]
fn quiet_usual_and_verbose() {
    let place = Place::team(TREE);
    let quiet = place.deputize(&["run", "x", "-q"]).exits(0);
    assert_eq!(quiet.stderr, "");
    let usual = place.deputize(&["run", "x"]).exits(0);
    assert!(
        !usual.stdout.is_empty() && usual.stderr.contains("lead  t1") && !usual.stderr.contains("under way"),
        "{usual:?}"
    );
    let verbose = place.deputize(&["-v", "run", "x"]).exits(0);
    for said in ["lead  starts with play:any", "model call under way", "tokens in (0 cached)"] {
        assert!(verbose.stderr.contains(said), "{said}: {verbose:?}");
    }
    let wrong = place.deputize(&["-q", "run", "x", "--agent", "nobody"]).exits(1);
    assert!(wrong.stderr.contains("agent.unknown"), "{wrong:?}");
    place.json(&["run", "x", "-q", "-v"]).fails(2, "usage.invalid");
}

#[test]
fn the_log_file_has_everything_with_its_moment() {
    let place = Place::team(TREE);
    for _ in 0..2 {
        place.deputize(&["run", "x", "-q", "--log-file", "all.log"]).exits(0);
    }
    let log = std::fs::read_to_string(place.path("all.log")).unwrap();
    assert_eq!(log.matches("lead  starts with play:any").count(), 2, "it is appended to: {log}");
    let moment = |line: &str| line.len() > 25 && line.as_bytes()[10] == b'T' && line.as_bytes()[23] == b'Z';
    assert!(log.lines().all(moment), "{log}");
    assert_eq!(std::fs::metadata(place.path("all.log")).unwrap().permissions().mode() & 0o777, 0o600);
    place.json(&["run", "x", "--log-file", "none/all.log"]).fails(1, "output.log_file");
}

fn last_line(ended: &Ended) -> &str {
    ended.stderr.lines().last().unwrap_or_default()
}

#[test]
fn every_failure_ends_with_the_command_to_type_next() {
    let place = Place::team(TREE);
    place.write("bad/deputize.yaml", "root: nobody\nbogus: 1\n");
    for (words, next) in [
        (&["bogus"][..], "deputize --help"),
        (&["show"], "deputize show --help"),
        (&["run"], "deputize run --help"),
        (&["run", "x", "--role", "fast"], "deputize"),
        (&["run", " "], "deputize run --help"),
        (&["run", "bad", "x"], "deputize check"),
        (&["run", "x", "--model", "nobody:small"], "deputize doctor"),
        (&["run", "x", "--agent", "nobody"], "deputize check"),
        (&["run", "x", "--workspace", "nowhere"], "deputize"),
        (&["show", "zzzz"], "deputize runs"),
        (&["trace", "last"], "deputize runs"),
        (&["resume", "zzzz"], "deputize runs"),
        (&["cancel", "zzzz"], "deputize runs"),
    ] {
        let ended = place.deputize(words);
        assert!(matches!(ended.code, Some(1 | 2)), "{words:?}: {ended:?}");
        assert!(last_line(&ended).starts_with(&format!("next: {next}")), "{words:?}: {ended:?}");
        let error = place.json(words).json()["error"].clone();
        assert!(error["hint"].is_string(), "{words:?}: {error}");
    }
}

#[test]
fn a_run_that_is_not_done_ends_with_the_command_to_type_next() {
    let place = Place::team("lead: [{fault: auth}]");
    let ended = place.deputize(&["run", "x"]).exits(4);
    assert!(ended.stdout.trim_end().lines().last().unwrap().starts_with("next: deputize trace "), "{ended:?}");
    let doc = place.json(&["run", "x"]).exits(4).json();
    assert_eq!(doc["next"], format!("deputize trace {}", id(&doc)));
}
