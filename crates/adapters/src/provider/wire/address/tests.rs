//! Tests of addresses and headers.

use super::{Base, Headers, fill, secrets, shown};
use crate::provider::openai::Chat;
use crate::provider::wire::{Http, Protocol};
use crate::provider::{Config, ConfigError, Secret};
use deputize_core::id::{AgentName, AgentPath, Label, RunId};
use deputize_runtime::port::Who;
use reqwest::Url;
use serde_json::json;

fn who() -> Who {
    Who {
        run: RunId::new("r1/t1/c0"),
        agent: AgentName::new("läser{run}"),
        path: AgentPath::new("lead/läser{run}#2"),
        label: Label::parse("t3").unwrap(),
        attempt: 4,
        permissions: Default::default(),
    }
}

#[test]
fn a_base_url_is_used_as_given() {
    let table = [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions"),
        (" https://h/a/b/v4 ", "https://h/a/b/v4/chat/completions"),
        ("https://h", "https://h/chat/completions"),
        ("https://h/v1?api-version=2#x", "https://h/v1/chat/completions?api-version=2"),
    ];
    for (base, expect) in table {
        assert_eq!(Base::new(base).unwrap().at(&["chat", "completions"]).as_str(), expect);
    }
    for base in ["", "h/v1", "ftp://h", "mailto:x", "unix:/x"] {
        assert!(matches!(Base::new(base), Err(ConfigError::BaseUrl(_))), "{base}");
    }
    assert!(matches!(Base::new("https://u:p@h/v1"), Err(ConfigError::Credentials)));
    let text = Base::new("u:canary1@h").unwrap_err().to_string();
    assert!(text.contains("http://127.0.0.1:8080/v1"), "{text}");
}

#[test]
fn messages_show_no_query_and_proxies_see_no_local_call() {
    assert_eq!(shown(&Url::parse("https://h/v1?key=x").unwrap()), "https://h/v1");
    let table =
        [("http://localhost:1/", true), ("http://127.0.0.2/", true), ("http://[::1]/", true), ("http://h/", false)];
    for (url, expect) in table {
        assert_eq!(Base::new(url).unwrap().is_local(), expect, "{url}");
    }
}

#[test]
fn placeholders_are_filled_once() {
    let table = [
        ("{run}|{step}|{attempt}", "r1/t1/c0|t3|4"),
        ("{agent}", "läser{run}"),
        ("{path}", "lead/läser{run}#2"),
        ("{other} { {{step}} {", "{other} { {t3} {"),
        ("plain", "plain"),
    ];
    for (template, expect) in table {
        assert_eq!(fill(template, &who()), expect);
    }
}

#[test]
fn headers_of_a_call() {
    let headers = [("x-path", "{path}"), ("X-Team", "docs")].map(|(k, v)| (k.to_string(), v.to_string()));
    let config = Config { headers: headers.into(), ..Config::default() };
    let all = Headers::new(&config, Chat::headers(Some(&Secret::new("canary1"))).unwrap()).unwrap().of(&who());
    assert_eq!(all["idempotency-key"], "r1/t1/c0/t3#4");
    assert_eq!(all["authorization"], "Bearer canary1");
    assert!(all["authorization"].is_sensitive());
    assert_eq!(all["x-path"].as_bytes(), "lead/läser{run}#2".as_bytes());
    assert_eq!(all["x-team"], "docs");
    assert!(Headers::new(&config, Chat::headers(None).unwrap()).unwrap().of(&who()).get("authorization").is_none());
}

#[test]
fn settings_that_cannot_be_sent_are_refused() {
    let with = |name: &str, value: &str| Config {
        headers: [(name.to_string(), value.to_string())].into(),
        ..Config::default()
    };
    for config in [with("a b", "x"), with("a", "x\ny"), with("", "x")] {
        assert!(matches!(Http::<Chat>::new(&config, None), Err(ConfigError::Header(_))));
    }
    assert!(matches!(Http::<Chat>::new(&Config::default(), Some(Secret::new("a\nb"))), Err(ConfigError::Key)));
    let body = json!({"messages": []}).as_object().unwrap().clone();
    assert!(matches!(Http::<Chat>::new(&Config { body, ..Config::default() }, None), Err(ConfigError::Body(_))));
}

#[test]
fn values_of_headers_that_are_credentials_are_secrets() {
    let headers = [("X-Api-Key", "abcd"), ("Authorization", "Bearer efgh"), ("x-team", "docs")];
    let headers = headers.map(|(k, v)| (k.to_string(), v.to_string())).into();
    let found = secrets(&Config { headers, ..Config::default() });
    let texts: Vec<&str> = found.iter().map(Secret::expose).collect();
    assert!(texts.contains(&"abcd") && texts.contains(&"efgh") && !texts.contains(&"docs"), "{texts:?}");
}

#[test]
fn a_client_for_tls_can_be_made() {
    // On a machine without any certificates it says so; it never panics for want of a crypto provider.
    match Http::<Chat>::new(&Config::default(), None) {
        Ok(_) | Err(ConfigError::Client(_)) => {}
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn hosts_that_the_environment_excepts_take_no_proxy() {
    let table = [
        ("http://127.0.0.1:8080/v1", "", true),
        ("http://[::1]:8080/v1", "", true),
        ("https://api.example.com/v1", "", false),
        ("https://api.example.com/v1", " other.org, .Example.com", true),
        ("https://api.example.com/v1", "example.com", true),
        ("https://api.example.com/v1", "ample.com", false),
        ("https://api.example.com/v1", "*", true),
        ("http://10.1.2.3/v1", "10.1.2.3", true),
        ("http://10.1.2.3/v1", "10.0.0.0/8", true),
        ("http://10.1.2.3/v1", "0.0.0.0/0", true),
        ("http://10.1.2.3/v1", "11.0.0.0/8,10.1.2.3/33,10.1.2.4/32", false),
        ("http://[fd00::9]/v1", "fd00::/8", true),
        ("http://[fd00::9]/v1", "10.0.0.0/8", false),
    ];
    for (address, no_proxy, avoids) in table {
        assert_eq!(Base::new(address).unwrap().avoids_proxies(no_proxy), avoids, "{address} {no_proxy}");
    }
}
