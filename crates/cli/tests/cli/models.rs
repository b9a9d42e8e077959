//! Models behind an address: which one is found, what is said when there is none or the wrong one.

use crate::common::{Place, id};
use deputize_adapters::mock::{Asked, Options, Play, Server};
use deputize_adapters::provider::scripted::{Fault, Line};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use tokio::runtime::Runtime;

/// A server that answers everything with one line. The runtime drives it while the test waits for processes.
struct Mock {
    server: Server,
    _runtime: Runtime,
}

fn mock(models: &[&str], line: Line) -> Mock {
    playing(models, Play::function(move |_| line.clone()))
}

fn playing(models: &[&str], play: Play) -> Mock {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let models = models.iter().map(|m| m.to_string()).collect();
    let options = Options { models, ..Options::default() };
    let server = runtime.block_on(Server::start(play, options)).unwrap();
    Mock { server, _runtime: runtime }
}

fn says(models: &[&str]) -> Mock {
    mock(models, Line::say("hello"))
}

#[test]
fn with_nothing_it_says_what_to_do() {
    let place = Place::empty();
    let error = place.json(&["run", "x"]).fails(1, "model.none");
    let hint = error["hint"].as_str().unwrap();
    for said in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ollama", "--script", "deputize demo"] {
        assert!(hint.contains(said), "{said}: {hint}");
    }
    assert!(!place.state().exists());
    place.json(&["run", "x", "--model", "openai:small"]).fails(1, "provider.no_key");
}

#[test]
fn the_address_of_the_environment() {
    let mock = says(&["only"]);
    let place = Place::empty().env("OPENAI_BASE_URL", &mock.server.base_url()).env("OPENAI_API_KEY", "sk-secret-1");
    let ended = place.json(&["run", "x"]).exits(0);
    assert!(ended.stderr.contains("the model is openai:only"), "{ended:?}");
    let doc = ended.json();
    assert_eq!(doc["usage"]["by_model"][0]["model"], "openai:only");
    assert!(doc["choices"].as_array().unwrap().iter().any(|c| c["code"] == "model.found"), "{doc}");
    let key = mock.server.requests().pop().unwrap().headers["authorization"].clone();
    assert_eq!(key, "Bearer sk-secret-1");
    let said = format!("{ended:?}{:?}", place.json(&["trace", &id(&doc), "--events"]));
    assert!(!said.contains("sk-secret-1"));
    let store = std::fs::read(place.state().join("store.sqlite3")).unwrap();
    assert!(!store.windows(11).any(|w| w == b"sk-secret-1"));
    assert!(mock.server.rejected().is_empty());
}

#[test]
fn anthropics_key_comes_before_openais() {
    let mock = says(&["only"]);
    let address = mock.server.base_url();
    let place = Place::empty().env("ANTHROPIC_BASE_URL", address.trim_end_matches("/v1"));
    let place = place.env("ANTHROPIC_API_KEY", "sk-ant-1").env("OPENAI_API_KEY", "sk-secret-1");
    let ended = place.json(&["run", "x"]).exits(4);
    assert!(ended.stderr.contains("the model is anthropic:only"), "{ended:?}");
    // That server has no Messages API; it was asked where it would be.
    let said = ended.json().to_string();
    assert!(said.contains(&format!("{address}/messages")) && !said.contains("sk-ant-1"), "{said}");
}

#[test]
fn several_models_are_listed() {
    let mock = says(&["small", "large"]);
    let place = Place::empty().env("OPENAI_BASE_URL", &mock.server.base_url());
    let error = place.json(&["run", "x"]).fails(1, "model.undecided");
    assert!(error["message"].as_str().unwrap().contains("small, large"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("--model openai:NAME"), "{error}");
    let doc = place.json(&["run", "x", "--model", "openai:large"]).exits(0).json();
    assert_eq!(doc["usage"]["by_model"][0]["model"], "openai:large");
}

#[test]
fn a_server_of_this_machine() {
    let mock = says(&["only"]);
    let ports = format!("1, {}", mock.server.address().port());
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &ports);
    let ended = place.json(&["run", "x"]).exits(0);
    assert!(ended.stderr.contains("the model is local:only"), "{ended:?}");
    assert!(!mock.server.requests().iter().any(|r| r.headers.contains_key("authorization")));
    let several = says(&["a", "b"]);
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &several.server.address().port().to_string());
    let error = place.json(&["run", "x"]).fails(1, "model.undecided");
    assert!(error["hint"].as_str().unwrap().contains(&several.server.base_url()), "{error}");
}

/// A server that speaks both of Ollama's interfaces, and what each request to `/api/chat` said.
fn ollama(models: &'static [&'static str]) -> (u16, Arc<Mutex<Vec<Value>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let chats = Arc::new(Mutex::new(Vec::new()));
    let heard = chats.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.to_lowercase().trim_end().split_once(": ") {
                    Some(("content-length", n)) => length = n.parse().unwrap(),
                    Some(_) => {}
                    None => break,
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let names: Vec<Value> = models.iter().map(|name| json!({"name": name, "model": name})).collect();
            let data: Vec<Value> = models.iter().map(|name| json!({"id": name})).collect();
            let answer = match first.split(' ').nth(1).unwrap() {
                "/api/version" => json!({"version": "0.33.2"}),
                "/api/tags" => json!({"models": names}),
                "/v1/models" => json!({"data": data}),
                "/api/chat" => {
                    heard.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                    json!({"message": {"role": "assistant", "content": "hello"}, "done": true, "done_reason": "stop",
                        "prompt_eval_count": 1_200, "eval_count": 2})
                }
                "/v1/chat/completions" => json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}),
                path => json!({"error": format!("there is no {path}")}),
            };
            let answer = answer.to_string();
            let kind = if answer.contains("\"done\"") { "application/x-ndjson" } else { "application/json" };
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n");
            let whole = format!("{head}content-length: {}\r\n\r\n{answer}", answer.len());
            reader.get_mut().write_all(whole.as_bytes()).unwrap();
        }
    });
    (port, chats)
}

#[test]
fn ollama_on_this_machine_is_spoken_to_by_its_own_interface() {
    let (port, chats) = ollama(&["qwen3:8b"]);
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &port.to_string());
    let ended = place.json(&["run", "x"]).exits(0);
    let said = format!("the model is local:qwen3:8b: the only one of Ollama at http://127.0.0.1:{port}");
    assert!(ended.stderr.contains(&said), "{ended:?}");
    let chat = chats.lock().unwrap().pop().unwrap();
    assert_eq!((&chat["model"], &chat["truncate"]), (&json!("qwen3:8b"), &json!(false)));
    assert!(chat["options"]["num_ctx"].as_u64().unwrap() >= 16_384, "{chat}");
    // Chat completions are still there for who asks for them; a window that a person set is kept to.
    let place = Place::empty().env("OPENAI_BASE_URL", &format!("http://127.0.0.1:{port}/v1"));
    place.json(&["run", "x"]).exits(0);
    assert_eq!(chats.lock().unwrap().len(), 0);
    let place = Place::empty();
    place.write("agents/solo.md", "---\nname: solo\ndescription: alone\n---\nWork.\n");
    let config = format!(
        "providers: {{ollama: {{base_url: \"http://127.0.0.1:{port}/v1\"}}}}\nmodels: {{\"ollama:qwen3:8b\": {{context: 12k}}}}\n"
    );
    place.write("deputize.yaml", &config);
    place.json(&["run", "x"]).exits(0);
    assert_eq!(chats.lock().unwrap().pop().unwrap()["options"]["num_ctx"], 12_000);
}

#[test]
fn several_models_of_ollama_are_listed() {
    let (port, _) = ollama(&["a:1b", "b:1b"]);
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &port.to_string());
    let error = place.json(&["run", "x"]).fails(1, "model.undecided");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains(&format!("http://127.0.0.1:{port}\"")) && hint.contains("--model ollama:NAME"), "{hint}");
}

#[test]
fn what_a_provider_refuses() {
    for (fault, code) in [
        (Fault::Auth, "model.auth"),
        (Fault::NotFound, "model.not_found"),
        (Fault::ContextFull, "context.full"),
        (Fault::Refusal, "model.refused"),
    ] {
        let mock = mock(&["only"], Line::fail(fault));
        let place = Place::empty().env("OPENAI_BASE_URL", &mock.server.base_url()).env("OPENAI_API_KEY", "sk-secret-1");
        let ended = place.json(&["run", "x"]).exits(4);
        let doc = ended.json();
        assert_eq!((&doc["status"], &doc["reason_code"]), (&"failed".into(), &code.into()), "{ended:?}");
        assert!(!format!("{ended:?}").contains("sk-secret-1"));
    }
}

#[test]
fn what_is_tried_again() {
    for (fault, code) in
        [(Fault::Malformed, "model.malformed"), (Fault::Overloaded, "model.overloaded"), (Fault::Cut, "model.cut")]
    {
        let mock = mock(&["only"], Line { text: "hello".to_string(), ..Line::fail(fault) });
        let place = Place::empty().env("OPENAI_BASE_URL", &mock.server.base_url());
        place.write("agents/solo.md", "---\nname: solo\ndescription: alone\n---\nWork.\n");
        place.write("deputize.yaml", "root: solo\nproviders: {openai: {retry: {attempts: 2, delay: 1ms}}}\n");
        let ended = place.json(&["run", "x"]).exits(4);
        assert_eq!(ended.json()["reason_code"], code, "{ended:?}");
        assert!(ended.stderr.contains("tries again"), "{ended:?}");
        assert_eq!(mock.server.requests().len(), 2);
    }
}

#[test]
fn a_provider_that_is_down() {
    let place = Place::empty().env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    let error = place.json(&["run", "x"]).fails(1, "model.unavailable");
    assert!(error["message"].as_str().unwrap().contains("127.0.0.1:1"), "{error}");
}

#[test]
fn a_key_does_not_follow_a_project() {
    let mock = says(&["only"]);
    let place = Place::empty().env("OPENAI_API_KEY", "sk-secret-1");
    place.write("agents/solo.md", "---\nname: solo\ndescription: alone\n---\nWork.\n");
    let url = mock.server.base_url();
    place.write("deputize.yaml", &format!("root: solo\nproviders: {{openai: {{base_url: '{url}'}}}}\n"));
    place.json(&["run", "x"]).exits(0);
    assert!(!mock.server.requests().iter().any(|r| r.headers.contains_key("authorization")));
}

// The first of two children is answered only when the second has said that it waits.
#[test]
fn a_call_that_waits_for_its_turn_is_said() {
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let answer = move |asked: &Asked| {
        if asked.path == "lead" && asked.step == "t1" {
            let mut line = Line::call("delegate", json!({"agent": "reader", "objective": "read"}));
            line.calls.extend(line.calls.clone());
            return line;
        }
        if asked.path != "lead" {
            gate.lock().unwrap().recv_timeout(std::time::Duration::from_secs(30)).unwrap();
        }
        Line::say("done")
    };
    let mock = playing(&["only"], Play::function(answer));
    let place = Place::empty();
    let address = mock.server.base_url();
    place.write(
        "deputize.yaml",
        &format!("profile: assisted\nroot: lead\nroles: {{default: 'lab:only'}}\nproviders: {{lab: {{kind: openai, base_url: '{address}', headers: {{x-agent-path: '{{path}}'}}, limits: {{concurrency: 1}}}}}}\n"),
    );
    place.agent("lead", "agents: [reader]\n");
    place.agent("reader", "tools: [read_file]\n");
    let mut running = place.start(&["run", "go"]);
    let line = running.until("queued for lab");
    assert!(line.starts_with("lead/reader") && line.contains("t1  queued for lab"), "{line}");
    open.send(()).unwrap();
    open.send(()).unwrap();
    running.end().exits(0);
}
