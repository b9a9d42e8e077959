//! Tests of the mock model server itself: its strictness and its log.

use crate::support::{call, config, made, playing, provider, request, server, who};
use deputize_adapters::mock::{Entry, Options, Play, Server, serve_forever};
use deputize_adapters::provider::scripted::{Line, Script};
use deputize_core::code;
use deputize_core::message::{Message, SentCall};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_request_that_breaks_a_rule_is_refused_with_the_reason() {
    let server = playing(Play::function(|_| Line::say("ok"))).await;
    let model = provider(&server, true);
    let mut broken = request();
    let call = SentCall { id: "t1.c0".into(), name: "ls".into(), arguments: "{}".into() };
    broken.messages.push(Message::Assistant { text: String::new(), calls: vec![call], reasoning: Vec::new() });
    let failure = model.call(&who("lead", "t2", 1), &broken, Arc::new(|_| {})).await.unwrap_err().failure;
    assert_eq!(failure.code, code::MODEL_REQUEST);
    let expect = "messages[5].tool_calls[0].id `t1.c0` was used before";
    assert!(failure.why.contains(expect), "{}", failure.why);
    assert_eq!(server.rejected(), [expect]);
    assert_eq!(server.log()[0].status, Some(400));
}

#[tokio::test]
async fn a_call_without_a_line_is_refused_by_name() {
    let server = server("lead: [{text: one}]").await;
    let failure = call(&provider(&server, false), "t2", 1).await.unwrap_err().failure;
    assert!(failure.why.contains("test.yaml") && failure.why.contains("`t2`"), "{}", failure.why);
    assert_eq!(server.rejected().len(), 1);
    assert_eq!(server.leftovers(), ["test.yaml:1: `lead`, step `t1`"]);
    let mut config = config(server.base_url(), true);
    config.headers.clear();
    let failure = call(&made(&config, None).unwrap(), "t1", 1).await.unwrap_err().failure;
    assert!(failure.why.contains("x-agent-path"), "{}", failure.why);
}

#[tokio::test]
async fn the_step_is_read_from_the_key_when_no_header_says_it() {
    let server = server("lead: {turns: [{text: one}, {text: two}], closing: {text: end}}").await;
    let mut config = config(server.base_url(), true);
    config.headers.remove("x-step");
    let model = made(&config, None).unwrap();
    assert_eq!(call(&model, "t2", 1).await.unwrap().turn.text, "two");
    assert_eq!(call(&model, "closing", 1).await.unwrap().turn.text, "end");
}

#[tokio::test]
async fn the_log_is_served_and_is_in_the_file_before_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    let options = Options { log_file: Some(file.clone()), ..Options::default() };
    let script = Script::parse("s.yaml", "lead: [{text: one}, {fault: hang}]").unwrap();
    let server = Server::start(script, options).await.unwrap();
    let model = provider(&server, true);
    call(&model, "t1", 1).await.unwrap();
    let in_file = || -> Vec<Entry> {
        let text = std::fs::read_to_string(&file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(in_file(), server.log());
    // The second never gets an answer, and its line is there all the same.
    let waiting = tokio::spawn(async move { call(&model, "t2", 1).await });
    let guard = async {
        while server.log().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), guard).await.unwrap();
    assert_eq!(in_file().len(), 2);
    assert_eq!(in_file()[1].status, None);
    waiting.abort();
    let url = format!("http://{}/log", server.address());
    let served: Vec<Entry> = serde_json::from_str(&get(&url).await).unwrap();
    assert_eq!(served, server.log());
}

async fn get(url: &str) -> String {
    let response = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap().get(url).send().await;
    response.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn a_server_that_is_dropped_breaks_its_connections() {
    let server = server("lead: [{fault: hang}]").await;
    let model = provider(&server, true);
    let waiting = tokio::spawn(async move { call(&model, "t1", 1).await });
    let guard = async {
        while server.log().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), guard).await.unwrap();
    drop(server);
    let failure = waiting.await.unwrap().unwrap_err().failure;
    assert_eq!(failure.code, code::MODEL_UNAVAILABLE);
}

#[tokio::test]
async fn the_hidden_command_serves_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("s.yaml");
    std::fs::write(&script, "lead: [{text: hello}]").unwrap();
    let (send, ready) = tokio::sync::oneshot::channel();
    let path = script.clone();
    let task = tokio::spawn(async move { serve_forever(0, &path, None, |address| send.send(address).unwrap()).await });
    let address = ready.await.unwrap();
    let model = made(&config(format!("http://{address}/v1"), true), None).unwrap();
    assert_eq!(call(&model, "t1", 1).await.unwrap().turn.text, "hello");
    task.abort();
    let missing = serve_forever(0, &folder.path().join("none.yaml"), None, |_| {}).await.unwrap_err();
    assert!(missing.to_string().contains("none.yaml"), "{missing}");
}
