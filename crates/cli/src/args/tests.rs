//! The command line as it is read.

use super::{Args, Command, parse, wants_json};
use clap::CommandFactory as _;
use std::ffi::OsString;

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

#[test]
fn the_definition_is_sound() {
    Args::command().debug_assert();
}

#[test]
fn every_cap_has_a_flag() {
    let keys = "tokens time turns model-calls tool-calls children runs depth concurrency hops";
    let flags: Vec<String> = keys.split(' ').map(|k| format!("--budget-{k} 7")).collect();
    let line = format!("deputize run do {}", flags.join(" "));
    let Ok(Args { command: Command::Run(run), .. }) = parse(words(&line)) else { panic!("not read") };
    let given: Vec<String> = run.team.budget.given().into_iter().map(|(k, v)| format!("{k}={v}")).collect();
    let wanted: Vec<String> = keys.split(' ').map(|k| format!("{}=7", k.replace('-', "_"))).collect();
    assert_eq!(given, wanted);
}

#[test]
fn json_is_seen_anywhere_but_behind_the_dashes() {
    assert!(wants_json(words("run x --json").into_iter()));
    assert!(!wants_json(words("run -- --json").into_iter()));
    assert!(!wants_json(words("run x").into_iter()));
}
