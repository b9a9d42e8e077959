//! What the tests of this file share: requests, callers, and a server that gives one canned answer.

use deputize_adapters::mock::{Options, Play, Server};
use deputize_adapters::provider::scripted::Script;
use deputize_adapters::provider::{Config, ConfigError, Limiters, Secret, build_within};
use deputize_core::id::{AgentName, AgentPath, Label, ModelName, RunId, ToolName};
use deputize_core::message::{Message, Request, SentCall, ToolOffer};
use deputize_runtime::TokioClock;
use deputize_runtime::port::{Model, ModelFailure, Reply, Who};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A key that must never be seen again.
pub(crate) const CANARY: &str = "canary-4f1d0a77";

pub(crate) fn who(path: &str, label: &str, attempt: u32) -> Who {
    Who {
        run: RunId::new("run1"),
        agent: AgentName::new("lead"),
        path: AgentPath::new(path),
        label: Label::parse(label).unwrap(),
        attempt,
        permissions: Default::default(),
    }
}

/// A request in the middle of a conversation, with every kind of message.
pub(crate) fn request() -> Request {
    let call = |id: &str| SentCall { id: id.into(), name: "ls".into(), arguments: "{}".into() };
    let result = |id: &str| Message::Tool { call: id.into(), name: "ls".into(), text: "a.txt".into() };
    Request {
        model: ModelName::new("lab:small"),
        tools: vec![ToolOffer {
            name: ToolName::new("ls"),
            description: "Lists.".into(),
            input_schema: json!({"type": "object"}),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: String::new(),
                calls: vec![call("t1.c0"), call("t1.c1")],
                reasoning: Vec::new(),
            },
            result("t1.c0"),
            result("t1.c1"),
        ],
        schema: None,
        max_output: 100,
        temperature: None,
        effort: None,
    }
}

/// Settings that give the mock server what its scripts go by.
pub(crate) fn config(base_url: String, stream: bool) -> Config {
    let headers = [("x-agent-path", "{path}"), ("x-step", "{step}")].map(|(k, v)| (k.to_string(), v.to_string()));
    let streaming = [("small".to_string(), stream)].into();
    Config { base_url, headers: headers.into(), streaming, ..Config::default() }
}

/// The provider of these settings, alone: no test waits for a gate that another one has closed.
pub(crate) fn made(config: &Config, key: Option<Secret>) -> Result<Arc<dyn Model>, ConfigError> {
    let alone = Limiters::new(Arc::new(TokioClock::system()));
    build_within(config, key, std::path::Path::new("."), &alone)
}

pub(crate) async fn server(script: &str) -> Server {
    let script = Script::parse("test.yaml", script).unwrap();
    Server::start(script, Options::default()).await.unwrap()
}

pub(crate) async fn playing(play: Play) -> Server {
    Server::start(play, Options::default()).await.unwrap()
}

pub(crate) fn provider(server: &Server, stream: bool) -> Arc<dyn Model> {
    made(&config(server.base_url(), stream), None).unwrap()
}

pub(crate) async fn call(model: &Arc<dyn Model>, label: &str, attempt: u32) -> Result<Reply, ModelFailure> {
    model.call(&who("lead", label, attempt), &request(), Arc::new(|_| {})).await
}

/// A call and what it said while it was under way.
pub(crate) async fn heard(model: &Arc<dyn Model>, label: &str) -> (Result<Reply, ModelFailure>, Vec<String>) {
    let pieces = Arc::new(Mutex::new(Vec::new()));
    let ear = pieces.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string()));
    let result = model.call(&who("lead", label, 1), &request(), delta).await;
    let pieces = pieces.lock().unwrap().clone();
    (result, pieces)
}

/// A provider whose server gives one answer, byte for byte, and closes the connection. `{request}` in the answer stands for
/// all that was sent.
pub(crate) async fn canned(answer: &'static str, key: Option<Secret>) -> Arc<dyn Model> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = Vec::new();
        while !is_whole(&sent) {
            let before = sent.len();
            stream.read_buf(&mut sent).await.unwrap();
            assert!(sent.len() > before, "the request ended early");
        }
        let answer = answer.replace("{request}", &String::from_utf8_lossy(&sent));
        stream.write_all(answer.as_bytes()).await.unwrap();
    });
    made(&config(base_url, true), key).unwrap()
}

/// The body's end is that of its JSON.
fn is_whole(sent: &[u8]) -> bool {
    let text = String::from_utf8_lossy(sent);
    text.split_once("\r\n\r\n").is_some_and(|(_, body)| serde_json::from_str::<serde_json::Value>(body).is_ok())
}
