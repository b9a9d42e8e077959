//! The conformance suite: what every kind of provider must do, over a server that says it in the provider's own form. Every
//! scenario looks at what was sent too.

mod answers;
mod errors;
mod requests;
mod streams;

use crate::dialect::{Dialect, Said, Seen, Spoken};
use crate::fake::{Fake, Given, Sent};
use crate::support::who;
use deputize_adapters::provider::{Config, Secret, Timeouts, build};
use deputize_core::id::{ModelName, ToolName};
use deputize_core::message::{Message, Request, SentCall, Stop, ToolOffer, Usage};
use deputize_runtime::port::{ModelFailure, Reply};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// What the server counts unless a test says otherwise.
const USAGE: Usage = Usage { input_tokens: 120, cached_tokens: 64, output_tokens: 9 };

/// A text, and nothing unusual.
fn says(pieces: &[&'static str]) -> Spoken {
    let usage = [json!(USAGE.input_tokens), json!(USAGE.cached_tokens), json!(USAGE.output_tokens)];
    Spoken { pieces: pieces.to_vec(), calls: Vec::new(), reasoning: false, stop: Stop::End, usage: Some(usage) }
}

fn calls(list: &[(&'static str, Value)]) -> Spoken {
    Spoken { calls: list.to_vec(), stop: Stop::ToolCalls, ..says(&[]) }
}

/// A conversation with two calls and their results, and a user message right behind them.
fn request(dialect: &dyn Dialect) -> Request {
    let call = |id: &str, path: &str| SentCall {
        id: id.into(),
        name: "ls".into(),
        arguments: json!({ "path": path }).to_string(),
    };
    let result = |id: &str, text: &str| Message::Tool { call: id.into(), name: "ls".into(), text: text.into() };
    Request {
        model: ModelName::new(format!("lab:{}", dialect.model())),
        tools: vec![ToolOffer {
            name: ToolName::new("ls"),
            description: "Lists.".into(),
            input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        system: "Be brief.".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: "I look.".into(),
                calls: vec![call("t1_c0", "b"), call("t1_c1", "a")],
                reasoning: Vec::new(),
            },
            result("t1_c0", "first"),
            result("t1_c1", "second"),
            Message::User { text: "and now?".into() },
        ],
        schema: None,
        max_output: 100,
        temperature: None,
        effort: None,
    }
}

/// What [`request`] says.
fn seen(dialect: &dyn Dialect, stream: bool) -> Seen {
    let call = |path: &str| ("ls".to_string(), json!({ "path": path }));
    let result = |text: &str| Said::Result { name: "ls".to_string(), text: text.to_string() };
    Seen {
        model: dialect.model().to_string(),
        stream,
        system: "Be brief.".to_string(),
        tools: vec!["ls".to_string()],
        talk: vec![
            Said::User("go".to_string()),
            Said::Assistant { text: "I look.".to_string(), calls: vec![call("b"), call("a")], reasoning: Vec::new() },
            result("first"),
            result("second"),
            Said::User("and now?".to_string()),
        ],
        schema: None,
        most: Some(100),
    }
}

/// One call: what came of it, what was heard on the way, and what was sent.
struct Called {
    result: Result<Reply, ModelFailure>,
    heard: Vec<String>,
    sent: Sent,
}

impl Called {
    fn reply(self) -> Reply {
        self.result.unwrap()
    }
    fn failure(&self) -> &ModelFailure {
        self.result.as_ref().unwrap_err()
    }
}

/// A key that must never be seen again.
const KEY: &str = "canary-4f1d0a77";

fn config(dialect: &dyn Dialect, address: &str, stream: bool) -> Config {
    let streaming = [(dialect.model().to_string(), stream)].into();
    let base_url = format!("{address}{}", dialect.root());
    Config { kind: dialect.kind(), base_url, streaming, ..Config::default() }
}

/// Calls a server that answers so; the request must keep to the protocol.
async fn call(dialect: &dyn Dialect, given: Given, stream: bool) -> Called {
    call_with(dialect, given, stream, &request(dialect), Timeouts::default()).await
}

async fn call_with(dialect: &dyn Dialect, given: Given, stream: bool, request: &Request, timeouts: Timeouts) -> Called {
    let fake = Fake::start(vec![given]).await;
    let config = Config { timeouts, ..config(dialect, &fake.address(), stream) };
    let model = build(&config, Some(Secret::new(KEY)), Path::new(".")).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ear = heard.clone();
    let delta = Arc::new(move |piece: &str| ear.lock().unwrap().push(piece.to_string()));
    let result = model.call(&who("lead", "t2", 1), request, delta).await;
    let [sent] = <[Sent; 1]>::try_from(fake.sent()).unwrap();
    let (name, value) = dialect.credential(KEY);
    assert_eq!(sent.headers.get(name), Some(&value), "{:?}", dialect.kind());
    assert_eq!(dialect.check(&sent), Ok(()), "{:?}", dialect.kind());
    let heard = heard.lock().unwrap().clone();
    Called { result, heard, sent }
}
