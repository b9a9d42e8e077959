//! What every provider must do with good answers, streamed and not.

use crate::support::{call, canned, config, heard, made, playing, provider, request, server, who};
use deputize_adapters::mock::{Options, Play, Server};
use deputize_adapters::provider::scripted::{Line, Script, Scripted};
use deputize_adapters::provider::{Config, Kind, Router, Secret, build, list_models};
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Message, Request, Stop, Usage};
use deputize_runtime::port::Model;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

const SCRIPT: &str = r#"
lead:
  - text: "Grüße aus der Küche 🦀, in a text of some length."
    usage: {input: 120, cached: 64, output: 9}
  - text: Let me look.
    calls:
      - read_file: {path: "ä.txt", lines: [1, 2]}
      - ls:
      - {tool: grep, raw: '{"pattern": '}
  - calls: [ls: {}]
  - fault: refusal
    text: I will not.
  - {fault: length, text: abcdef}
  - {text: no more, stop: filter}
  - fault: empty
"#;

#[tokio::test]
async fn answers_are_the_same_streamed_whole_and_in_process() {
    // covers L-27
    let server = server(SCRIPT).await;
    let scripted: Arc<dyn Model> = Arc::new(Scripted::new(Script::parse("test.yaml", SCRIPT).unwrap()));
    for label in ["t1", "t2", "t3", "t4", "t5", "t6", "t7"] {
        let (streamed, pieces) = heard(&provider(&server, true), label).await;
        let streamed = streamed.unwrap();
        let whole = call(&provider(&server, false), label, 1).await.unwrap();
        let local = call(&scripted, label, 1).await.unwrap();
        assert_eq!(streamed.turn, whole.turn, "{label}");
        assert_eq!(streamed.turn, local.turn, "{label}");
        if streamed.turn.stop != Stop::Refusal {
            assert_eq!(pieces.concat(), streamed.turn.text, "{label}");
        }
    }
    assert_eq!(server.rejected(), Vec::<String>::new());
    assert!(server.leftovers().is_empty());
    let entries = server.log();
    assert_eq!(entries.len(), 14);
    assert_eq!(entries.iter().map(|e| e.n).collect::<Vec<_>>(), (1..=14).collect::<Vec<_>>());
    assert!(entries.iter().all(|e| e.status == Some(200) && e.agent == "lead"));
    assert_eq!((entries[0].stream, entries[1].stream), (true, false));
}

#[tokio::test]
async fn usage_comes_from_the_provider_or_is_estimated() {
    let server = server(SCRIPT).await;
    for stream in [true, false] {
        let reply = call(&provider(&server, stream), "t1", 1).await.unwrap();
        assert_eq!(reply.usage, Usage { input_tokens: 120, cached_tokens: 64, output_tokens: 9 });
    }
    // This server is told not to count.
    let body = json!({"stream_options": null}).as_object().unwrap().clone();
    let silent = made(&Config { body, ..config(server.base_url(), true) }, None).unwrap();
    let usage = call(&silent, "t1", 1).await.unwrap().usage;
    assert!(usage.input_tokens > 100 && usage.output_tokens > 5 && usage.cached_tokens == 0, "{usage:?}");
}

#[tokio::test]
async fn calls_keep_their_order_and_their_arguments() {
    let server = server(SCRIPT).await;
    for stream in [true, false] {
        let turn = call(&provider(&server, stream), "t2", 1).await.unwrap().turn;
        let names: Vec<&str> = turn.calls.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["read_file", "ls", "grep"]);
        assert_eq!(turn.calls[0].arguments, Arguments::Json(json!({"path": "ä.txt", "lines": [1, 2]})));
        assert_eq!(turn.calls[1].arguments, Arguments::Json(json!({})));
        assert_eq!(turn.calls[2].arguments, Arguments::Malformed("{\"pattern\": ".to_string()));
        assert_eq!(turn.stop, Stop::ToolCalls);
    }
}

#[tokio::test]
async fn the_same_request_is_sent_with_the_same_bytes() {
    // covers U-09
    let server = playing(Play::function(|_| Line::say("ok"))).await;
    let model = provider(&server, true);
    for attempt in [1, 1, 2] {
        call(&model, "t1", attempt).await.unwrap();
    }
    let mut longer = request();
    longer.messages.push(Message::Assistant { text: "ok".into(), calls: Vec::new(), reasoning: Vec::new() });
    longer.messages.push(Message::User { text: "more".into() });
    model.call(&who("lead", "t2", 1), &longer, Arc::new(|_| {})).await.unwrap();
    let sent: Vec<_> = server.requests();
    assert_eq!(sent[0].bytes, sent[1].bytes);
    assert_eq!(sent[0].bytes, sent[2].bytes);
    let log = server.log();
    assert_eq!(log[0].digest, log[2].digest);
    let keys: Vec<&str> = log.iter().map(|e| e.key.as_str()).collect();
    assert_eq!(keys, ["run1/t1#1", "run1/t1#1", "run1/t1#2", "run1/t2#1"]);
    let prefix = String::from_utf8_lossy(&sent[0].bytes).split("],\"stream\"").next().unwrap().to_string();
    assert!(String::from_utf8_lossy(&sent[3].bytes).starts_with(&prefix), "{prefix}");
}

#[tokio::test]
async fn headers_body_and_key_are_sent_as_set() {
    let server = playing(Play::function(|_| Line::say("ok"))).await;
    let headers = [("x-who", "{agent} {run} {step} {attempt}"), ("x-agent-path", "{path}")];
    let config = Config {
        headers: headers.map(|(k, v)| (k.to_string(), v.to_string())).into(),
        body: json!({"top_k": 20}).as_object().unwrap().clone(),
        ..config(format!("{}/", server.base_url()), true)
    };
    let model = made(&config, Some(Secret::new("abc"))).unwrap();
    model.call(&who("lead/läser#2", "t1", 3), &request(), Arc::new(|_| {})).await.unwrap();
    let sent = &server.requests()[0];
    assert_eq!(sent.headers["x-who"], "lead run1 t1 3");
    assert_eq!(sent.headers["authorization"], "Bearer abc");
    assert_eq!((sent.path.as_str(), sent.attempt), ("lead/läser#2", 3));
    assert_eq!(sent.body["top_k"], 20);
    assert_eq!(sent.body["max_tokens"], 100);
    call(&provider(&server, true), "t1", 1).await.unwrap();
    assert!(!server.requests()[1].headers.contains_key("authorization"), "no key, no credential");
}

#[tokio::test]
async fn servers_that_do_not_do_what_they_were_asked_are_understood() {
    let whole = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n\
        {\"choices\":[{\"message\":{\"content\":\"whole\"},\"finish_reason\":\"stop\"}]}";
    let untyped = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"untyped\"},\"finish_reason\":\"stop\"}]}\r\n\r\n";
    for (answer, expect) in [(whole, "whole"), (untyped, "untyped")] {
        assert_eq!(call(&canned(answer, None).await, "t1", 1).await.unwrap().turn.text, expect);
    }
}

#[tokio::test]
async fn no_more_calls_at_once_than_allowed() {
    let server = server("lead: [{fault: hang}, {text: second}]").await;
    let mut config = config(server.base_url(), true);
    config.limits.concurrency = 1;
    let model = made(&config, None).unwrap();
    let mut first = Box::pin(call(&model, "t1", 1));
    let brief = Duration::from_millis(200);
    assert!(tokio::time::timeout(brief, &mut first).await.is_err());
    assert!(tokio::time::timeout(brief, call(&model, "t2", 1)).await.is_err());
    assert!(server.log().iter().all(|e| e.key == "run1/t1#1"), "the second waits");
    drop(first);
    assert_eq!(call(&model, "t2", 1).await.unwrap().turn.text, "second");
}

#[tokio::test]
async fn the_provider_is_chosen_by_the_models_name() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), "lead: [{text: from a}]").unwrap();
    let config = Config { kind: Kind::Scripted, script: Some("a.yaml".to_string()), ..Config::default() };
    let lab = build(&config, None, folder.path()).unwrap();
    let router: Arc<dyn Model> = Arc::new(Router::new([("lab".to_string(), lab)].into()));
    assert_eq!(call(&router, "t1", 1).await.unwrap().turn.text, "from a");
    let other = Request { model: ModelName::new("far:big"), ..request() };
    let failure = router.call(&who("lead", "t1", 1), &other, Arc::new(|_| {})).await.unwrap_err().failure;
    assert_eq!(failure.code, code::MODEL_UNKNOWN);
    assert!(failure.why.contains("far:big") && failure.why.contains("lab"), "{}", failure.why);
    for (config, expect) in [
        (Config { script: None, ..config.clone() }, "script: FILE"),
        (Config { script: Some("b.yaml".to_string()), ..config }, "b.yaml"),
    ] {
        let error = build(&config, None, folder.path()).err().unwrap().to_string();
        assert!(error.contains(expect), "{error}");
    }
}

#[tokio::test]
async fn models_are_listed_for_discovery() {
    let options = Options { models: vec!["b".to_string(), "a".to_string()], ..Options::default() };
    let server = Server::start(Play::function(|_| Line::say("ok")), options).await.unwrap();
    assert_eq!(list_models(Kind::Openai, &server.base_url(), None).await.unwrap(), ["b", "a"]);
    let address = server.base_url();
    let wrong = list_models(Kind::Openai, &address.replace("/v1", "/v2"), None).await.unwrap_err();
    assert_eq!(wrong.code, code::MODEL_NOT_FOUND);
    assert_eq!(list_models(Kind::Openai, "nonsense", None).await.unwrap_err().code, code::MODEL_REQUEST);
    drop(server);
    assert_eq!(
        list_models(Kind::Openai, "http://127.0.0.1:9/v1", None).await.unwrap_err().code,
        code::MODEL_UNAVAILABLE
    );
}

#[test]
fn settings_are_stored_and_read_back() {
    let config = config("http://h/v1".to_string(), false);
    let text = serde_json::to_string(&config).unwrap();
    assert!(text.contains("\"first_byte\":120000"), "{text}");
    assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
    assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), Config::default());
}
