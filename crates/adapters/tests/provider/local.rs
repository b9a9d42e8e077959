//! What only one kind of provider has: waits in an error's body, models to be pulled, windows, who a server is.

use crate::dialect::all;
use crate::fake::{Fake, Given};
use crate::support::{request, who};
use deputize_adapters::provider::{Config, Kind, Secret, build, context_window, is_ollama, list_models};
use deputize_core::code;
use deputize_core::id::ModelName;
use deputize_core::message::Request;
use deputize_core::step::{Failure, Retry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

fn json(status: u16, body: &Value) -> Given {
    Given::body(status, "application/json", body.to_string())
}

/// Settings for a provider of this kind at the server.
fn config(kind: Kind, fake: &Fake) -> Config {
    let dialect = all().into_iter().find(|dialect| dialect.kind() == kind).unwrap();
    Config { kind, base_url: format!("{}{}", fake.address(), dialect.root()), ..Config::default() }
}

async fn refused(kind: Kind, model: &str, given: Given) -> Failure {
    let fake = Fake::start(vec![given]).await;
    let provider = build(&config(kind, &fake), None, Path::new(".")).unwrap();
    let request = Request { model: ModelName::new(format!("lab:{model}")), ..request() };
    provider.call(&who("lead", "t1", 1), &request, Arc::new(|_| {})).await.unwrap_err().failure
}

#[tokio::test]
async fn gemini_says_how_long_to_wait_in_the_body() {
    // covers U-02
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": "PerMinute"}]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.837906927s"},
    ]);
    let error = json!({"error": {"code": 429, "message": "Quota exceeded", "status": "RESOURCE_EXHAUSTED", "details": details}});
    let failure = refused(Kind::Gemini, "g", json(429, &error)).await;
    assert_eq!((failure.code, failure.retry), (code::MODEL_RATE_LIMITED, Retry::After(Some(45_837))));
    assert!(failure.why.contains("asks to wait 45.837 s") && failure.why.contains("Quota exceeded"), "{}", failure.why);
    // The header, where there is one, is the word of whoever stands in between, and comes first.
    let failure = refused(Kind::Gemini, "g", json(429, &error).header("retry-after", "7")).await;
    assert_eq!(failure.retry, Retry::After(Some(7000)));
    let key = json!({"error": {"code": 400, "message": "API key not valid. Please pass a valid API key.",
        "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}});
    assert_eq!(refused(Kind::Gemini, "g", json(400, &key)).await.code, code::MODEL_AUTH);
}

#[tokio::test]
async fn a_model_that_ollama_lacks_is_one_command_away() {
    let failure = refused(Kind::Ollama, "qwen3:8b", json(404, &json!({"error": "model 'qwen3:8b' not found"}))).await;
    assert_eq!((failure.code, failure.retry), (code::MODEL_NOT_FOUND, Retry::Never));
    assert!(failure.why.contains("`ollama pull qwen3:8b`"), "{}", failure.why);
}

#[tokio::test]
async fn a_prompt_that_ollama_would_have_cut_is_refused() {
    // covers U-12
    let words = "the prompt is longer than the context length currently available to the model; shorten the prompt";
    for words in [words, "the input length exceeds the context length"] {
        let failure = refused(Kind::Ollama, "qwen3:8b", json(400, &json!({ "error": words }))).await;
        assert_eq!((failure.code, failure.retry), (code::CONTEXT_FULL, Retry::Never), "{words}");
    }
}

#[tokio::test]
async fn the_window_is_asked_where_each_kind_tells_it() {
    // covers U-12
    let about = json!({"parameters": "stop \"x\"\nnum_ctx 4096", "model_info": {"llama.context_length": 131_072}});
    let fake = Fake::start(vec![json(200, &about)]).await;
    let config = Config { headers: [("x-lab".to_string(), "7".to_string())].into(), ..config(Kind::Ollama, &fake) };
    assert_eq!(context_window(&config, None, "qwen3:8b").await.unwrap(), Some(4096));
    let sent = &fake.sent()[0];
    assert_eq!((sent.target.as_str(), &sent.body), ("/api/show", &json!({"model": "qwen3:8b"})));
    assert_eq!(sent.headers["x-lab"], "7");

    let fake = Fake::start(vec![json(200, &json!({"name": "models/g", "inputTokenLimit": 1_048_576}))]).await;
    let key = Secret::new("abc");
    let config = self::config(Kind::Gemini, &fake);
    assert_eq!(context_window(&config, Some(&key), "g").await.unwrap(), Some(1_048_576));
    let sent = &fake.sent()[0];
    assert_eq!((sent.target.as_str(), sent.headers["x-goog-api-key"].as_str()), ("/v1beta/models/g", "abc"));

    let fake = Fake::start(vec![json(404, &json!({"error": "model 'x' not found"}))]).await;
    let failure = context_window(&self::config(Kind::Ollama, &fake), None, "x").await.unwrap_err();
    assert!(failure.code == code::MODEL_NOT_FOUND && failure.why.contains("`ollama pull x`"), "{}", failure.why);
}

#[tokio::test]
async fn models_are_listed_by_the_names_that_calls_take() {
    let models = json!({"models": [{"name": "models/g-3", "supportedGenerationMethods": ["generateContent"]},
        {"name": "models/e", "supportedGenerationMethods": ["embedContent"]}]});
    let fake = Fake::start(vec![json(200, &models)]).await;
    assert_eq!(list_models(Kind::Gemini, &config(Kind::Gemini, &fake).base_url, None).await.unwrap(), ["g-3"]);
    assert_eq!(fake.sent()[0].target, "/v1beta/models?pageSize=1000");
    let fake = Fake::start(vec![json(200, &json!({"models": [{"name": "qwen3:8b", "model": "qwen3:8b"}]}))]).await;
    let address = format!("{}/v1", fake.address());
    assert_eq!(list_models(Kind::Ollama, &address, None).await.unwrap(), ["qwen3:8b"]);
    assert_eq!(fake.sent()[0].target, "/api/tags");
}

#[tokio::test]
async fn only_who_says_a_version_is_ollama() {
    let fake = Fake::start(vec![json(200, &json!({"version": "0.33.2"}))]).await;
    assert!(is_ollama(&fake.address()).await);
    assert_eq!(fake.sent()[0].target, "/api/version");
    for other in [json(404, &json!({"error": {"message": "no"}})), json(200, &json!({"models": [], "data": []}))] {
        let fake = Fake::start(vec![other]).await;
        assert!(!is_ollama(&fake.address()).await);
    }
    assert!(!is_ollama("http://127.0.0.1:9").await);
}
