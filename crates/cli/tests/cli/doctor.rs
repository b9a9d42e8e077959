//! `doctor`: each layer by a failure that is really there, what it says of this machine, and that it gives nothing away.

use crate::common::{Ended, Place, keys, set};
use deputize_adapters::mock::{Options, Play, Server};
use deputize_adapters::provider::scripted::{Fault, Line};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use tokio::runtime::Runtime;

struct Mock {
    server: Server,
    _runtime: Runtime,
}

fn mock(line: Line) -> Mock {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let options = Options { models: vec!["small".into(), "large".into()], ..Options::default() };
    let server = runtime.block_on(Server::start(Play::function(move |_| line.clone()), options)).unwrap();
    Mock { server, _runtime: runtime }
}

/// A team whose model is at this address.
fn at(address: &str, model: &str) -> Place {
    let place = Place::empty().env("LAB_KEY", "canary-4f1d0a77").env("OPENAI_API_KEY", "");
    place.write(
        "deputize.yaml",
        &format!(
            "root: lead\nroles: {{default: 'lab:{model}'}}\nproviders: {{lab: {{kind: openai, base_url: '{address}', \
             api_key_env: LAB_KEY, timeout: {{first_byte: 1s}}}}}}\n"
        ),
    );
    place.agent("lead", "tools: [read_file]\n");
    place
}

/// A server that gives these bytes to whoever asks, and to nobody anything when there are none.
fn fixed(bytes: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                if bytes.is_empty() {
                    return stream.read_to_end(&mut Vec::new()).map(|_| ());
                }
                let _head = stream.read(&mut [0; 4096])?;
                stream.write_all(bytes.as_bytes())
            });
        }
    });
    address
}

fn row(doc: &Value, area: &str) -> Value {
    let rows = doc["checks"].as_array().unwrap();
    rows.iter().find(|row| row["area"] == area).unwrap_or_else(|| panic!("no row {area}: {doc}")).clone()
}

fn silent(ended: &Ended) {
    assert!(!format!("{ended:?}").contains("canary"), "{ended:?}");
}

#[test]
fn a_run_can_start_and_not_a_token_is_spent() {
    let mock = mock(Line::say("hello"));
    let place = at(&mock.server.base_url(), "small");
    let ended = place.json(&["doctor"]).exits(0);
    silent(&ended);
    let doc = ended.json();
    assert_eq!(keys(&doc), set("schema ready checks"));
    assert_eq!((&doc["schema"], &doc["ready"]), (&1.into(), &true.into()));
    for row in doc["checks"].as_array().unwrap() {
        assert_eq!(keys(row), set("area name status layer text fix facts"), "{row}");
    }
    let provider = row(&doc, "provider");
    assert_eq!((&provider["name"], &provider["status"]), (&"lab".into(), &"ok".into()));
    assert_eq!(provider["facts"]["models"], serde_json::json!(["small", "large"]));
    assert_eq!(row(&doc, "store")["facts"]["runs"], Value::Null, "no store is made by looking");
    assert!(!place.state().exists());
    for area in ["team", "model", "local", "keys", "network", "state", "git", "sandbox", "browser"] {
        row(&doc, area);
    }
    assert!(mock.server.requests().is_empty(), "no model is called");
    let text = place.deputize(&["doctor"]).exits(0).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.ends_with("a run can start\n"), "{text}");
    let called = place.json(&["doctor", "--call"]).exits(0).json();
    assert_eq!((&row(&called, "call")["status"], &row(&called, "call")["name"]), (&"ok".into(), &"lab:small".into()));
    assert_eq!(mock.server.requests().len(), 1);
}

#[test]
fn each_layer_that_fails_is_named_with_what_to_do() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused =
        "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"bad key canary-4f1d0a77\"}}";
    let page = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<html>Welcome</html>";
    let mock = mock(Line::say("hello"));
    let table = [
        (format!("http://{closed}/v1"), "small", "connect", "start the server"),
        ("http://nobody.invalid/v1".to_string(), "small", "dns", "check the name"),
        (mock.server.base_url().replace("http:", "https:"), "small", "tls", "ca_file"),
        (fixed(refused), "small", "auth", "LAB_KEY"),
        (mock.server.base_url(), "smal", "model", "small, large"),
        (mock.server.base_url().replace("/v1", ""), "small", "address", "/v1"),
        (fixed(page), "small", "answer", "leads to a model server"),
        (fixed(""), "small", "answer", "not busy"),
    ];
    for (address, model, layer, fix) in table {
        let ended = at(&address, model).json(&["doctor"]).exits(1);
        silent(&ended);
        let doc = ended.json();
        assert_eq!(doc["ready"], false);
        let provider = row(&doc, "provider");
        assert_eq!(
            (&provider["status"], &provider["layer"]),
            (&"failed".into(), &layer.into()),
            "{address}: {provider}"
        );
        assert!(provider["fix"].as_str().unwrap().contains(fix), "{provider}");
    }
}

#[test]
fn a_call_that_fails_says_so_where_the_list_does_not() {
    let mock = mock(Line::fail(Fault::Auth));
    let place = at(&mock.server.base_url(), "small");
    place.json(&["doctor"]).exits(0);
    let doc = place.json(&["doctor", "--call"]).exits(1).json();
    assert_eq!(row(&doc, "call")["layer"], "auth");
}

#[test]
fn without_a_model_or_with_a_broken_team_no_run_can_start() {
    let place = Place::empty();
    let doc = place.json(&["doctor"]).exits(1).json();
    let model = row(&doc, "model");
    assert_eq!(model["status"], "failed");
    assert!(model["fix"].as_str().unwrap().contains("OPENAI_BASE_URL"), "{model}");
    place.write("deputize.yaml", "rot: lead\n");
    let doc = place.json(&["doctor"]).exits(1).json();
    assert_eq!(row(&doc, "team")["status"], "failed");
    assert!(row(&doc, "team")["fix"].as_str().unwrap().contains("deputize check"));
}

#[test]
fn the_store_is_measured_and_an_open_state_folder_is_closed() {
    let place = Place::team("lead: [{text: done}]\n");
    place.deputize(&["run", "x"]).exits(0);
    std::fs::set_permissions(place.state(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let doc = place.json(&["doctor"]).exits(0).json();
    let state = row(&doc, "state");
    assert!(state["text"].as_str().unwrap().contains("was open to others (mode 0777)"), "{state}");
    assert_eq!(std::fs::metadata(place.state()).unwrap().permissions().mode() & 0o777, 0o700);
    let facts = row(&doc, "store")["facts"].clone();
    assert_eq!(keys(&facts), set("path free_bytes schema bytes runs trees"));
    assert_eq!((&facts["runs"], &facts["trees"]), (&1.into(), &1.into()));
    assert!(facts["bytes"].as_u64().unwrap() > 0 && facts["free_bytes"].as_u64().unwrap() > 0);
    std::fs::write(place.state().join("store.sqlite3"), "no database at all, just text that is long enough").unwrap();
    let doc = place.json(&["doctor"]).exits(1).json();
    assert_eq!(row(&doc, "store")["status"], "failed");
}

// A key of the environment goes to no address that a project chose, whoever asks there.
#[test]
fn a_public_key_is_not_shown_to_a_projects_server() {
    let seen = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", seen.local_addr().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for mut stream in seen.incoming().flatten() {
            let mut head = vec![0; 8192];
            let read = stream.read(&mut head).unwrap_or(0);
            tell.send(String::from_utf8_lossy(head.get(..read).unwrap_or_default()).into_owned()).ok();
            stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"data\":[{\"id\":\"small\"}]}").ok();
        }
    });
    let place = Place::empty().env("OPENAI_API_KEY", "canary-4f1d0a77");
    place.write(
        "deputize.yaml",
        &format!("root: lead\nproviders: {{openai: {{base_url: '{address}'}}}}\nroles: {{default: 'openai:small'}}\n"),
    );
    place.agent("lead", "tools: [read_file]\n");
    silent(&place.json(&["doctor"]));
    let run = place.json(&["run", "x"]);
    silent(&run);
    let heads: Vec<String> = told.try_iter().collect();
    assert!(heads.len() >= 3, "listed, asked for its window, called: {heads:?}");
    assert!(heads.iter().all(|head| !head.contains("canary")), "{heads:?}");
}

// What goes past the proxies of the environment does not fail at them.
#[test]
fn a_proxy_that_is_not_on_the_way_is_not_blamed() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let proxy = format!("http://{closed}");
    for (address, layer) in [
        (format!("http://{closed}/v1"), "connect"),
        ("http://nobody.invalid/v1".to_string(), "dns"),
        ("http://somebody.invalid/v1".to_string(), "proxy"),
    ] {
        let place = at(&address, "small").env("HTTP_PROXY", &proxy).env("NO_PROXY", "nobody.invalid");
        let doc = place.json(&["doctor"]).exits(1).json();
        assert_eq!(row(&doc, "provider")["layer"], layer, "{address}: {doc}");
    }
}

// Gateways often have no list of models: what a call shows counts more.
#[test]
fn a_server_without_a_list_is_no_failure_when_a_call_works() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut head = [0; 65_536];
                let count = stream.read(&mut head)?;
                let said = "{\"choices\":[{\"message\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}";
                let (status, body) = if head[..count].starts_with(b"GET") { (404, "{}") } else { (200, said) };
                let head = format!("HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-type: application/json");
                stream.write_all(format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
                stream.shutdown(std::net::Shutdown::Write)?;
                stream.read_to_end(&mut Vec::new()).map(|_| ())
            });
        }
    });
    let place = at(&address, "small");
    let listed = place.json(&["doctor"]).exits(1).json();
    assert_eq!(row(&listed, "provider")["layer"], "address");
    let called = place.json(&["doctor", "--call"]).exits(0).json();
    assert_eq!(
        (&row(&called, "call")["status"], &row(&called, "provider")["status"]),
        (&"ok".into(), &"warning".into())
    );
}
