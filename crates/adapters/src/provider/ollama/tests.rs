//! Tests of addresses and of the request as a whole.

use super::Native;
use crate::provider::Config;
use crate::provider::wire::{self, Asking, Protocol};
use deputize_core::id::ModelName;
use deputize_core::message::{Message, Request};
use serde_json::{Map, Value, json};

fn config(base_url: &str) -> Config {
    Config { base_url: base_url.to_string(), context: [("qwen3:8b".to_string(), 20_000)].into(), ..Config::default() }
}

#[test]
fn the_v1_of_the_other_interface_is_taken_off_and_nothing_else() {
    let table = [
        ("http://h:11434", "http://h:11434/api/chat"),
        ("http://h:11434/", "http://h:11434/api/chat"),
        ("http://h:11434/v1", "http://h:11434/api/chat"),
        ("http://h:11434/v1/", "http://h:11434/api/chat"),
        ("http://h/ollama/v1?a=1", "http://h/ollama/api/chat?a=1"),
        ("http://v1", "http://v1/api/chat"),
        ("http://h/xv1", "http://h/xv1/api/chat"),
    ];
    for (base_url, expect) in table {
        let config = config(base_url);
        let base = wire::base(&config).unwrap();
        assert_eq!(Native::new(&config, &base).url(&base, "m", true).as_str(), expect, "{base_url}");
    }
}

#[test]
fn a_request_names_the_window_it_needs() {
    let config = config("http://h");
    let native = Native::new(&config, &wire::base(&config).unwrap());
    let sent = |text: String| -> Value {
        let request = Request {
            model: ModelName::new("ollama:qwen3:8b"),
            tools: Vec::new(),
            system: String::new(),
            messages: vec![Message::User { text }],
            schema: None,
            max_output: 1000,
            temperature: None,
            effort: None,
        };
        let asking = Asking { request: &request, stream: true, extra: &Map::new() };
        serde_json::from_slice(&native.body(&asking).unwrap()).unwrap()
    };
    assert_eq!(sent("go".into())["options"], json!({"num_ctx": 16_384, "num_predict": 1000}));
    assert_eq!(sent("x".repeat(60_000))["options"]["num_ctx"], 20_000);
    assert_eq!(sent("go".into())["options"]["num_ctx"], 20_000, "as the model was loaded last");
}
