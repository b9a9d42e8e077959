//! Secrets and control sequences from outside: not one byte of a key that is set, typed, read or said reaches the state
//! folder, the screen or a provider, and nothing that others wrote steers the terminal.

use crate::common::{Ended, Place, id};
use deputize_adapters::mock::{Asked, Options, Play, Server};
use deputize_adapters::provider::scripted::Line;
use serde_json::{Value, json};
use std::path::Path;
use tokio::runtime::Runtime;

const CANARY: &str = "canary-7f3a9c2e51";
const SHAPED: &str = "sk-ant-api03-AbCdEf0123456789GhIjKl";
const HIDDEN: &str = "[hidden secret]";

/// Every byte of every file below a folder.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(bytes_below(&path)) } else { all.extend(std::fs::read(&path).unwrap()) }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A lead that hands a file to a reader, tries to write what it was told, and says a key out loud.
fn answer(asked: &Asked) -> Line {
    let step = asked.step.as_str();
    match (asked.path.as_str(), step) {
        ("lead", "t1") => {
            Line::call("delegate", json!({"agent": "reader", "objective": format!("read it with {CANARY}")}))
        }
        ("lead", "t2") => Line::call("write_file", json!({"path": "out.txt", "content": format!("key={CANARY}")})),
        ("lead", _) => Line::say(format!("the key is {CANARY}, or {SHAPED}")),
        (_, "t1") => Line::call("read_file", json!({"path": "env.txt"})),
        (_, "t2") => Line::call("grep", json!({"pattern": "KEY", "path": "."})),
        (_, "t3") => Line::call("read_file", json!({"path": format!("{CANARY}.txt")})),
        _ => Line::say(format!("it holds {CANARY}")),
    }
}

struct Scene {
    place: Place,
    server: Server,
    _runtime: Runtime,
}

fn scene(answer: impl Fn(&Asked) -> Line + Send + Sync + 'static) -> Scene {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start(Play::function(answer), Options::default())).unwrap();
    let place = Place::empty().env("LAB_KEY", CANARY);
    let config = format!(
        "profile: assisted\nroot: lead\nroles: {{default: 'lab:mock'}}\nproviders: {{lab: {{kind: openai, base_url: '{}', \
         api_key_env: LAB_KEY, headers: {{x-agent-path: '{{path}}', x-step: '{{step}}'}}}}}}\n",
        server.base_url()
    );
    place.write("deputize.yaml", &config);
    place.agent("lead", "tools: [read_file, write_file]\nagents: [reader]\n");
    place.agent("reader", &format!("tools: [read_file, grep]\nrules: ['never say {CANARY}']\n"));
    place.write("env.txt", &format!("PATH=/bin\nLAB_KEY={CANARY}\nOTHER_KEY={SHAPED}\n"));
    Scene { place, server, _runtime: runtime }
}

fn clean(what: &str, bytes: &[u8]) {
    for secret in [CANARY, SHAPED] {
        assert!(!holds(bytes, secret), "{what} holds {secret}: {}", String::from_utf8_lossy(bytes));
    }
}

fn said(what: &str, ended: &Ended) {
    clean(what, format!("{}{}", ended.stdout, ended.stderr).as_bytes());
}

//
#[test]
fn fault_59_no_byte_of_a_key_is_stored_shown_or_sent() {
    let Scene { place, server, _runtime } = scene(answer);
    let objective = format!("use {CANARY} and {SHAPED}");
    let ended = place.json(&["run", &objective]).exits(0);
    said("run", &ended);
    assert!(ended.stderr.contains("in the objective is hidden"), "{ended:?}");
    assert!(ended.stderr.contains("in the files of the team is hidden"), "{ended:?}");
    let doc = ended.json();
    assert_eq!(doc["payload"]["result"], format!("the key is {HIDDEN}, or {HIDDEN}"));
    let run = id(&doc);
    for words in
        [["show", &run, "--json"], ["trace", &run, "--events"], ["trace", &run, "--json"], ["runs", "--limit", "9"]]
    {
        said(words[0], &place.deputize(&words).exits(0));
    }
    let state = bytes_below(&place.state());
    assert!(holds(&state, HIDDEN), "the run is not in the state folder");
    clean("the state folder", &state);
    assert_eq!(server.requests().len(), 7);
    for request in server.requests() {
        clean("a request", &request.bytes);
        assert_eq!(request.headers["authorization"], format!("Bearer {CANARY}"));
    }
    assert!(server.rejected().is_empty());
    // The child read both lines of the file, and saw that something is hidden there.
    let read = server.requests()[2].body["messages"].to_string();
    assert!(read.contains(&format!("LAB_KEY={HIDDEN}")) && read.contains(&format!("OTHER_KEY={HIDDEN}")), "{read}");
}

//
#[test]
fn a_mark_is_never_written_into_a_file_in_the_place_of_a_secret() {
    let Scene { place, server, _runtime } = scene(answer);
    place.json(&["run", "go"]).exits(0);
    assert!(!place.path("out.txt").exists());
    let told = server.requests().last().unwrap().body["messages"].to_string();
    assert!(told.contains("secret.hidden") && told.contains("write_file was not performed"), "{told}");
}

//
#[test]
fn a_key_in_the_settings_of_a_provider_is_an_error() {
    let Scene { place, .. } = scene(answer);
    let text = std::fs::read_to_string(place.path("deputize.yaml")).unwrap();
    place.write("deputize.yaml", &text.replace("x-agent-path: '{path}'", &format!("x-lab: '{CANARY}'")));
    let error = place.json(&["run", "go"]).fails(1, "secret.in_file");
    assert!(!error.to_string().contains(CANARY));
    assert!(!place.state().exists() || !holds(&bytes_below(&place.state()), CANARY));
}

//
#[test]
fn a_key_in_the_place_of_a_model_is_not_stored() {
    let Scene { place, .. } = scene(answer);
    let ended = place.json(&["run", "go", "--model", &format!("lab:{SHAPED}")]);
    said("run", &ended);
    assert!(holds(&bytes_below(&place.state()), HIDDEN), "the run is not in the state folder: {ended:?}");
    clean("the state folder", &bytes_below(&place.state()));
}

/// Clears the screen, names the window, links, writes the clipboard, returns, rings, turns the direction.
const NASTY: &str =
    "a\u{1b}[2J\u{1b}]0;own\u{7}\u{1b}]8;;http://x\u{1b}\\l\u{1b}]52;c;eA==\u{7}b\rc\u{9b}1md\u{202e}e\u{2066}f\u{8}";

fn steers(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn harmless(what: &str, ended: &Ended) {
    for (stream, text) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        assert!(!text.contains(steers), "{what}, {stream}: {text:?}");
    }
}

fn holds_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(s) => s.contains(text),
        Value::Array(items) => items.iter().any(|item| holds_text(item, text)),
        Value::Object(map) => map.values().any(|item| holds_text(item, text)),
        _ => false,
    }
}

//
#[test]
fn fault_60_nothing_that_others_wrote_steers_the_terminal() {
    let Scene { place, server: _server, _runtime } = scene(|asked| match (asked.path.as_str(), asked.step.as_str()) {
        ("lead", "t1") => Line {
            calls: [
                ("delegate", json!({"agent": "reader", "objective": NASTY, "guidance": NASTY})),
                (NASTY, json!({NASTY: 1})),
            ]
            .into_iter()
            .flat_map(|(tool, arguments)| Line::call(tool, arguments).calls)
            .collect(),
            ..Line::default()
        },
        (_, "t1") => Line::call("ls", json!({"path": "."})),
        (_, "t2") => Line::call("read_file", json!({"path": NASTY})),
        (_, "t3") => Line::call("read_file", json!({"path": "nasty.txt"})),
        _ => Line::say(NASTY),
    });
    place.agent("reader", "tools: [read_file, ls]\n");
    place.write("nasty.txt", NASTY);
    place.write("b\u{1b}[2Jad.txt", "x");
    place.write("agents/b\u{1b}[2Jad.md", &format!("---\nname: \"{NASTY}\"\nmodel: {NASTY}\n---\nx\n"));
    let check = place.deputize(&["check"]);
    harmless("check", &check);
    harmless("check --json", &place.json(&["check"]));
    std::fs::remove_file(place.path("agents/b\u{1b}[2Jad.md")).unwrap();
    let text = place.deputize(&["run", NASTY]).exits(0);
    harmless("run", &text);
    let doc = place.json(&["run", NASTY]).exits(0);
    harmless("run --json", &doc);
    let run = id(&doc.json());
    harmless("show", &place.deputize(&["show", &run]).exits(0));
    harmless("trace", &place.deputize(&["trace", &run]).exits(0));
    harmless("runs", &place.deputize(&["runs"]).exits(0));
    harmless("an error", &place.deputize(&["show", NASTY]).exits(1));
    harmless("a wrong flag", &place.deputize(&[NASTY, NASTY]).exits(2));
    harmless("a wrong team", &place.deputize(&["run", &format!("/none/{NASTY}"), "x"]).exits(1));
    // In a document the data is whole, only escaped.
    let trace = place.json(&["trace", &run, "--events"]).exits(0);
    harmless("trace --json", &trace);
    assert!(holds_text(&trace.json(), NASTY));
    assert_eq!(doc.json()["payload"]["result"], NASTY);
}
