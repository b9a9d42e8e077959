//! `watch`: a run seen from another process, while it works, when it is over, when its driver is gone.

use crate::common::{Ended, Place, Running};

/// A child that reads and then takes for ever.
const STUCK: &str = "
lead:
  - calls: [{delegate: {agent: reader, objective: read}}]
  - text: over
lead/reader:
  - calls: [{read_file: {path: one.txt}}]
  - latency: 1h
    text: never
";
/// The same, but it ends.
const ENDS: &str = "
lead:
  - calls: [{delegate: {agent: reader, objective: read}}]
  - text: over
lead/reader:
  - calls: [{read_file: {path: one.txt}}]
  - text: the number is 1
";

fn started(place: &Place) -> (Running, String) {
    let mut running = place.start(&["run", "x"]);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    running.until("read_file");
    (running, run)
}

fn plain(ended: &Ended) {
    assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'), "{ended:?}");
}

// covers U-07
#[test]
fn a_run_of_another_process_is_seen_until_it_ends() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place);
    let mut watch = place.start(&["watch", &run, "--json"]);
    // The tree as it stands: the lead, what the child does now, the tokens of both.
    let lead = watch.until("lead  running");
    assert!(lead.contains("tokens (own "), "{lead}");
    let child = watch.until("reader  running");
    assert!(child.contains("t1/c0  reader") && child.contains("t2 model call"), "{child}");
    place.json(&["cancel", &format!("{run}/t1/c0")]).exits(0);
    // A line for what changes.
    watch.until("lead/reader#1  cancelled");
    let ended = watch.end().exits(0);
    plain(&ended);
    let doc = ended.json();
    assert_eq!(
        (&doc["run_id"], &doc["status"], &doc["usage"]["runs"]),
        (&run.as_str().into(), &"succeeded".into(), &2.into())
    );
    running.end().exits(0);
}

// covers U-07
#[test]
fn a_run_that_is_over_is_shown_with_every_node_and_its_result() {
    let place = Place::team(ENDS);
    place.json(&["run", "x"]).exits(0);
    let ended = place.deputize(&["watch", "last"]).exits(0);
    plain(&ended);
    for line in ["lead  done", "\u{2514}\u{2500} t1/c0  reader  done", "over\n"] {
        assert!(ended.stdout.contains(line), "{line}: {ended:?}");
    }
    let failing = Place::team("lead: [{fault: refusal, text: no}]");
    failing.json(&["run", "x"]).exits(4);
    assert_eq!(failing.json(&["watch", "last"]).exits(4).json()["status"], "failed");
    failing.json(&["watch", "nobody"]).fails(1, "run.unknown");
    failing.json(&["watch", "last", "--child", "t9/c9"]).fails(1, "run.unknown");
}

// covers U-07
#[test]
fn watching_ends_with_the_driver_and_is_not_in_its_way() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place);
    let mut watch = place.start(&["watch", &run, "--json"]);
    watch.until("reader  running");
    running.signal("KILL");
    running.end();
    let doc = watch.end().exits(130).json();
    assert_eq!((&doc["status"], &doc["next"]), (&"interrupted".into(), &format!("deputize resume {run}").into()));
    // Nobody drives it: what there is, is shown.
    let ended = place.deputize(&["watch", &run]).exits(130);
    assert!(ended.stdout.contains("reader  interrupted"), "{ended:?}");
    place.write("play.yaml", &STUCK.replace("1h", "1ms"));
    place.json(&["resume", &run]).exits(0);
}

// covers U-07
#[test]
fn ctrl_c_ends_only_the_watching() {
    let place = Place::team(STUCK);
    let (running, run) = started(&place);
    let mut watch = place.start(&["watch", &run, "--json"]);
    watch.until("reader  running");
    watch.signal("INT");
    let ended = watch.end().exits(130);
    assert!(ended.stderr.contains(&format!("deputize watch {run}")), "{ended:?}");
    assert_eq!(ended.json()["status"], "running");
    assert_eq!(place.json(&["show", &run]).exits(0).json()["status"], "running");
    place.json(&["cancel", &run]).exits(0);
    running.end().exits(130);
}

// covers U-07
#[test]
fn a_childs_conversation_is_printed_as_it_grows() {
    let place = Place::team(STUCK);
    place.write("one.txt", "the number is \u{1b}[31m1\n[t9] not a line of ours\n");
    let (running, run) = started(&place);
    let mut watch = place.start(&["watch", &run, "--child", "t1/c0", "--json"]);
    watch.until("task of reader");
    watch.until("  calls read_file {\"path\":\"one.txt\"}");
    watch.until("[t1/c0] read_file gave");
    place.json(&["cancel", &run]).exits(0);
    watch.until("reader is cancelled");
    let ended = watch.end().exits(130);
    plain(&ended);
    assert!(ended.stderr.lines().all(|line| !line.starts_with("[t9]")), "{ended:?}");
    assert_eq!(ended.json()["run_id"], format!("{run}/t1/c0"));
    running.end();
    let shown = place.deputize(&["show", &format!("{run}/t1/c0"), "--conversation"]).exits(0);
    plain(&shown);
    assert!(shown.stdout.contains("[t1/c0] read_file gave") && shown.stdout.contains("the number is"), "{shown:?}");
    assert!(!shown.stdout.contains("task of lead"), "{shown:?}");
}
