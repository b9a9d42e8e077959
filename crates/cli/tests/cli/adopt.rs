//! A run whose agent files are edited while it is interrupted: it goes on as it was, or takes the change when asked to.

use crate::common::{Place, id};
use deputize_adapters::mock::{Asked, Options, Play, Server};
use deputize_adapters::provider::scripted::Line;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

const OLD: &str = "You are the reader.";
const NEW: &str = "You are the reader who counts twice.";

/// A lead and its reader behind a real interface; the reader's second turn takes for ever until it is let go.
struct Stage {
    place: Place,
    server: Server,
    free: Arc<AtomicBool>,
    _runtime: Runtime,
}

fn answer(asked: &Asked, free: bool) -> Line {
    let said = asked.body.to_string();
    let later = said.contains(r#""role":"tool""#);
    match (said.contains("You are the lead."), later) {
        (true, false) => Line::call("delegate", json!({"agent": "reader", "objective": "read"})),
        (true, true) => Line::say("all done"),
        (false, false) => Line::call("read_file", json!({"path": "one.txt"})),
        (false, true) => {
            let latency = if free { Duration::ZERO } else { Duration::from_secs(3600) };
            Line { latency, ..Line::say("it is 1") }
        }
    }
}

/// The run has been killed in the reader's second turn.
fn killed() -> (Stage, String) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let free = Arc::new(AtomicBool::new(false));
    let now = free.clone();
    let play = Play::function(move |asked| answer(asked, now.load(Ordering::SeqCst)));
    let options = Options { models: vec!["only".to_string()], ..Options::default() };
    let server = runtime.block_on(Server::start(play, options)).unwrap();
    let place = Place::team("").env("OPENAI_BASE_URL", &server.base_url()).env("OPENAI_API_KEY", "sk-secret-1");
    place.write("deputize.yaml", "profile: assisted\nroot: lead\nroles: {default: 'openai:only'}\n");
    let mut running = place.start(&["run", "x"]);
    let run = running.until("run ").trim_start_matches("run ").to_string();
    running.until("read_file");
    crate::common::wait_for("the reader's second turn", || (server.requests().len() == 3).then_some(()));
    running.signal("KILL");
    running.end();
    free.store(true, Ordering::SeqCst);
    (Stage { place, server, free, _runtime: runtime }, run)
}

impl Stage {
    fn edit(&self) {
        let file = std::fs::read_to_string(self.place.path("agents/reader.md")).unwrap();
        self.place.write("agents/reader.md", &file.replace(OLD, NEW));
    }
    /// The requests of the reader since the run was killed.
    fn asked(&self) -> Vec<Asked> {
        assert!(self.free.load(Ordering::SeqCst));
        let new = self.server.requests().into_iter().skip(3);
        new.filter(|asked| asked.body.to_string().contains("You are the reader")).collect()
    }
    fn events(&self, run: &str) -> Vec<Vec<Value>> {
        let doc = self.place.json(&["trace", run, "--events"]).exits(0).json();
        doc["runs"].as_array().unwrap().iter().map(|run| run["events"].as_array().unwrap().clone()).collect()
    }
}

fn of<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

// covers F-13
#[test]
fn a_file_that_changed_is_named_and_left_out_of_a_run_in_flight() {
    let (stage, run) = killed();
    stage.edit();
    let ended = stage.place.json(&["resume", &run]).exits(0);
    let said = "agents/reader.md changed since: the run goes on with what it started with";
    assert!(ended.stderr.contains(said), "{ended:?}");
    assert!(ended.stderr.contains(&format!("deputize resume {run} --adopt")), "{ended:?}");
    let asked = stage.asked();
    assert!(!asked.is_empty() && asked.iter().all(|asked| asked.body.to_string().contains(OLD)), "{asked:?}");
    assert!(stage.events(&run).iter().all(|events| of(events, "adopted").is_empty()));
}

// covers F-13
#[test]
fn a_change_that_is_asked_for_is_in_the_next_request_and_in_the_log() {
    let (stage, run) = killed();
    stage.edit();
    let mut resume = stage.place.command(&["resume", &run, "--adopt", "--json"]);
    resume.current_dir("/");
    let ended = crate::common::Running::of(resume).end().exits(0);
    assert!(ended.stderr.contains("agents/reader.md"), "{ended:?}");
    assert_eq!((id(&ended.json()), &ended.json()["payload"]["result"]), (run.clone(), &"all done".into()));
    let asked = stage.asked();
    assert_eq!(asked.len(), 1, "its first turn is not asked for again");
    assert!(asked[0].body.to_string().contains(NEW), "{asked:?}");
    let first = stage.server.requests()[2].headers.get("idempotency-key").cloned();
    assert_ne!(asked[0].headers.get("idempotency-key").cloned(), first, "another request has another key");
    let runs = stage.events(&run);
    assert_eq!(runs.len(), 2);
    for (events, changes) in runs.iter().zip([false, true]) {
        let (start, adopted) = (&events[0], of(events, "adopted"));
        assert_eq!(adopted.len(), 1, "{events:?}");
        assert_eq!(adopted[0]["team"]["old"], start["team"]);
        assert_ne!(adopted[0]["team"]["new"], start["team"]);
        assert_eq!(adopted[0]["definition"]["old"], start["definition"]);
        assert_eq!(adopted[0]["definition"]["new"] != start["definition"], changes, "only the reader has changed");
        assert_eq!(adopted[0]["by"], "the command line");
    }
    let shown = stage.place.deputize(&["trace", &run]).exits(0).stdout;
    assert!(shown.contains("adopted"), "{shown}");
}

// covers F-13
#[test]
fn what_cannot_be_adopted_is_said_and_nothing_is_done() {
    let (stage, run) = killed();
    let ended = stage.place.json(&["resume", &run, "--adopt", "--home", stage.place.state().to_str().unwrap()]);
    assert!(ended.exits(0).stderr.contains("there is nothing to adopt"));
    let (stage, run) = killed();
    let before = stage.place.json(&["trace", &run, "--events"]).exits(0).stdout;
    let lead = std::fs::read_to_string(stage.place.path("agents/lead.md")).unwrap();
    stage.place.agent("reader", "tools: 7\n");
    stage.place.agent("lead", "tools: [nothing_known]\nagents: 9\n");
    let ended = stage.place.json(&["resume", &run, "--adopt"]).exits(1);
    for file in ["agents/reader.md", "agents/lead.md"] {
        assert!(ended.stderr.contains(file), "{ended:?}");
    }
    stage.place.write("agents/lead.md", &lead.replace("agents: [reader]\n", ""));
    std::fs::remove_file(stage.place.path("agents/reader.md")).unwrap();
    let error = stage.place.json(&["resume", &run, "--adopt"]).fails(1, "run.changed");
    assert!(error["message"].as_str().unwrap().contains("its agent reader"), "{error}");
    assert_eq!(stage.place.json(&["trace", &run, "--events"]).exits(0).stdout, before);
    assert!(stage.asked().is_empty());
    stage.place.json(&["resume", &run]).exits(0);
}
