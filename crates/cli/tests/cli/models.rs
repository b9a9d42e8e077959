//! Models behind an address: which one is found, what is said when there is none or the wrong one.

use crate::common::{Place, id};
use deputize_adapters::mock::{Options, Play, Server};
use deputize_adapters::provider::scripted::{Fault, Line};
use tokio::runtime::Runtime;

/// A server that answers everything with one line. The runtime drives it while the test waits for processes.
struct Mock {
    server: Server,
    _runtime: Runtime,
}

fn mock(models: &[&str], line: Line) -> Mock {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let models = models.iter().map(|m| m.to_string()).collect();
    let options = Options { models, ..Options::default() };
    let server = runtime.block_on(Server::start(Play::function(move |_| line.clone()), options)).unwrap();
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
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &ports).env("ANTHROPIC_API_KEY", "sk-ant");
    let ended = place.json(&["run", "x"]).exits(0);
    assert!(ended.stderr.contains("ANTHROPIC_API_KEY is set, but this build"), "{ended:?}");
    assert!(ended.stderr.contains("the model is local:only"), "{ended:?}");
    assert!(!mock.server.requests().iter().any(|r| r.headers.contains_key("authorization")));
    let several = says(&["a", "b"]);
    let place = Place::empty().env("DEPUTIZE_LOOPBACK_PORTS", &several.server.address().port().to_string());
    let error = place.json(&["run", "x"]).fails(1, "model.undecided");
    assert!(error["hint"].as_str().unwrap().contains(&several.server.base_url()), "{error}");
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
