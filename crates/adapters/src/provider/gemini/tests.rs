//! Tests of addresses, lists and waits.

use super::{Generate, wait};
use crate::provider::Config;
use crate::provider::wire::{self, Protocol};
use reqwest::header::HeaderMap;
use serde_json::json;
use std::time::Duration;

#[test]
fn addresses_name_the_model_and_keep_the_query() {
    let table = [
        ("https://h/v1beta", "g-3", false, "https://h/v1beta/models/g-3:generateContent"),
        ("https://h/v1beta/", "g-3", true, "https://h/v1beta/models/g-3:streamGenerateContent?alt=sse"),
        ("https://h/v1beta?a=1", "models/g-3", true, "https://h/v1beta/models/g-3:streamGenerateContent?a=1&alt=sse"),
        ("https://h/v1beta", "tunedModels/mine", false, "https://h/v1beta/tunedModels/mine:generateContent"),
    ];
    for (base_url, model, stream, expect) in table {
        let config = Config { base_url: base_url.to_string(), ..Config::default() };
        let base = wire::base(&config).unwrap();
        assert_eq!(Generate.url(&base, model, stream).as_str(), expect);
    }
}

#[test]
fn only_models_that_answer_are_listed_under_their_short_names() {
    let list = json!({"models": [
        {"name": "models/g-3", "supportedGenerationMethods": ["generateContent", "countTokens"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        {"name": "tunedModels/mine"},
    ]});
    assert_eq!(Generate::names(&list).unwrap(), ["g-3", "tunedModels/mine"]);
    assert_eq!(Generate::names(&json!({"data": []})), None);
}

#[test]
fn the_wait_stands_in_the_details_of_the_error() {
    let detail = |delay: &str| json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay});
    let error = |delay: &str| json!({"code": 429, "details": [{"@type": "x"}, detail(delay)]});
    for (delay, expect) in
        [("45.5s", Some(Duration::from_millis(45_500))), ("0s", Some(Duration::ZERO)), ("soon", None), ("-1s", None)]
    {
        assert_eq!(wait(&error(delay)), expect, "{delay}");
        let body = json!({"error": error(delay)});
        assert_eq!(Generate::wait(&HeaderMap::new(), body.to_string().as_bytes()), expect, "{delay}");
        assert_eq!(Generate::wait(&HeaderMap::new(), json!([body]).to_string().as_bytes()), expect, "{delay}");
    }
    assert_eq!(Generate::wait(&HeaderMap::new(), b"<html>"), None);
}
