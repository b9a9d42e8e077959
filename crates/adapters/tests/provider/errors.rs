//! What goes wrong, over real connections: every fault has its code, and no text has a secret.

use crate::support::{CANARY, call, canned, config, heard, made, provider, server};
use deputize_adapters::provider::{Config, Secret, Timeouts};
use deputize_core::code::{self, Code};
use deputize_core::message::Usage;
use deputize_core::step::Retry;
use deputize_runtime::port::Model;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn every_fault_has_its_code_streamed_and_not() {
    // covers F-07
    let again = Retry::After(None);
    let table: [(&str, Code, Retry, Option<u16>); 12] = [
        ("overloaded", code::MODEL_OVERLOADED, again, Some(529)),
        ("server_error", code::MODEL_OVERLOADED, again, Some(500)),
        ("panic", code::MODEL_OVERLOADED, again, Some(500)),
        ("rate_limited, retry_after: 7s", code::MODEL_RATE_LIMITED, Retry::After(Some(7000)), Some(429)),
        ("overloaded, retry_after: 20ms", code::MODEL_OVERLOADED, Retry::After(Some(20)), Some(529)),
        ("unavailable", code::MODEL_UNAVAILABLE, again, None),
        ("auth", code::MODEL_AUTH, Retry::Never, Some(401)),
        ("not_found", code::MODEL_NOT_FOUND, Retry::Never, Some(404)),
        ("context_full", code::CONTEXT_FULL, Retry::Never, Some(400)),
        ("malformed", code::MODEL_MALFORMED, again, Some(200)),
        ("cut, text: some words to cut", code::MODEL_CUT, again, Some(200)),
        ("rate_limited", code::MODEL_RATE_LIMITED, again, Some(429)),
    ];
    for (fault, code, retry, status) in table {
        let server = server(&format!("lead: [{{fault: {fault}, times: 2}}]")).await;
        for stream in [true, false] {
            let model = provider(&server, stream);
            let failure = call(&model, "t1", 2).await.unwrap_err().failure;
            assert_eq!(
                (failure.code, failure.retry),
                (code.clone(), retry),
                "{fault} stream={stream}: {}",
                failure.why
            );
            // Another provider: this one may have said that it takes no calls for seven seconds.
            call(&provider(&server, stream), "t1", 3).await.unwrap();
        }
        assert!(server.log().iter().filter(|e| e.key.ends_with("#2")).all(|e| e.status == status), "{fault}");
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_has_been_heard_and_is_paid_for() {
    let server = server("lead: [{fault: cut, text: one two three four five six}]").await;
    let (result, pieces) = heard(&provider(&server, true), "t1").await;
    let failure = result.unwrap_err();
    assert_eq!(failure.failure.code, code::MODEL_CUT);
    assert!(!pieces.is_empty());
    assert!(failure.usage.input_tokens > 100 && failure.usage.output_tokens > 0, "{:?}", failure.usage);
}

fn impatient(base_url: String, stream: bool, timeouts: Timeouts) -> Arc<dyn Model> {
    made(&Config { timeouts, ..config(base_url, stream) }, None).unwrap()
}

#[tokio::test]
async fn each_time_out_is_ambiguous_and_says_which_it_was() {
    let server = server("lead: [{fault: hang}, {fault: stall, text: a b c d e f}]").await;
    let short = Duration::from_millis(150);
    let patient = Timeouts::default();
    let table = [
        ("t1", Timeouts { first_byte: short, ..patient }, "no answer"),
        ("t1", Timeouts { total: short, ..patient }, "no complete answer"),
        ("t2", Timeouts { idle: short, ..patient }, "no further part"),
    ];
    for (label, timeouts, expect) in table {
        for stream in [true, false] {
            let failure = call(&impatient(server.base_url(), stream, timeouts), label, 1).await.unwrap_err();
            assert_eq!(failure.failure.code, code::MODEL_TIMEOUT, "{label} {stream}");
            assert_eq!(failure.failure.retry, Retry::Ambiguous);
            assert!(failure.failure.why.contains(expect), "{}", failure.failure.why);
            let paid = failure.usage != Usage::default();
            assert_eq!(paid, label == "t2" && stream, "only a stream that had begun is known to be paid for");
        }
    }
}

#[tokio::test]
async fn a_scripted_time_out_passes_over_http_too() {
    let server = server("lead: [{fault: timeout, times: 1, text: fine}]").await;
    let timeouts = Timeouts { first_byte: Duration::from_millis(150), ..Timeouts::default() };
    let model = impatient(server.base_url(), true, timeouts);
    assert_eq!(call(&model, "t1", 1).await.unwrap_err().failure.retry, Retry::Ambiguous);
    assert_eq!(call(&model, "t1", 1).await.unwrap().turn.text, "fine");
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", taken.local_addr().unwrap());
    drop(taken);
    for address in [address, "http://name.invalid/v1".to_string()] {
        let model = made(&config(address.clone(), true), None).unwrap();
        let failure = call(&model, "t1", 1).await.unwrap_err().failure;
        assert_eq!((failure.code, failure.retry), (code::MODEL_UNAVAILABLE, Retry::After(None)));
        assert!(failure.why.contains(&address), "{}", failure.why);
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let answer = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/elsewhere\r\ncontent-length: 0\r\n\r\n";
    let failure = call(&canned(answer, Some(Secret::new(CANARY))).await, "t1", 1).await.unwrap_err().failure;
    assert_eq!((failure.code, failure.retry), (code::MODEL_NOT_FOUND, Retry::Never));
    assert!(failure.why.contains("/elsewhere"), "{}", failure.why);
}

#[tokio::test]
async fn no_error_gives_a_secret_away() {
    // covers F-07
    let answers = [
        // Servers and gateways that print all they were sent.
        "HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\n{request}",
        "HTTP/1.1 401 No\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"bad key canary-4f1d0a77\"}}",
        "HTTP/1.1 404 No\r\nconnection: close\r\n\r\n{\"error\":{\"message\":\"?api_key=canary-4f1d0a77\"}}",
        "HTTP/1.1 302 Go\r\nconnection: close\r\nlocation: http://h/?k=canary-4f1d0a77\r\n\r\n",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"error\":{\"message\":\"canary-4f1d0a77\"}}\n\n",
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata: {\"choices\":\"canary-4f1d0a77\"}\n\n",
        "HTTP/1.1 canary-4f1d0a77\r\n\r\n",
    ];
    for answer in answers {
        let model = canned(answer, Some(Secret::new(CANARY))).await;
        let failure = call(&model, "t1", 1).await.unwrap_err();
        let shown = format!("{failure:?}");
        assert!(!shown.contains(CANARY) && shown.chars().count() < 900, "{answer}\n{shown}");
    }
}
