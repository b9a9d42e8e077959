//! Chat completions: a thin adapter of our own, since the bytes of a request are what the product promises (see
//! docs/adr/0001-thin-provider-adapters.md). One call is one HTTP request; nothing is tried again here.

mod address;
mod answer;
mod body;
mod failure;
mod sse;
mod stream;

use super::redact::redact;
use super::{Config, ConfigError, Secret, Timeouts};
use address::Headers;
use answer::Answer;
use body::Body;
use deputize_core::code;
use deputize_core::message::Request;
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Model, ModelFailure, Pending, Reply, Who};
use failure::Asked;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;
use stream::Reader;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How much of an error's body is read: enough for any message.
const ERROR_BODY: usize = 64 * 1024;
/// How long discovery waits for the list of models, all in all.
const DISCOVERY: Duration = Duration::from_secs(3);

/// One provider that speaks chat completions.
pub struct OpenAi {
    client: Client,
    url: Url,
    address: String,
    headers: Headers,
    body: Map<String, Value>,
    limit: &'static str,
    times: Timeouts,
    streaming: BTreeMap<String, bool>,
    slots: Semaphore,
    secrets: Vec<Secret>,
}

impl OpenAi {
    /// The provider of these settings. `key` is sent to `base_url` as a bearer token, wherever that is: whether it may go
    /// there is the caller's decision. Without a key no credential is sent.
    ///
    /// # Errors
    /// The address, a header, the extra body or the key cannot be used.
    pub fn new(config: &Config, key: Option<Secret>) -> Result<OpenAi, ConfigError> {
        if let Some(own) = body::OWN.iter().find(|own| config.body.contains_key(**own)) {
            return Err(ConfigError::Body((*own).to_string()));
        }
        let url = address::join(&config.base_url, &["chat", "completions"])?;
        let headers = Headers::new(config, key.as_ref())?;
        let mut secrets = address::secrets(config);
        secrets.extend(key);
        Ok(OpenAi {
            client: client(&url, config.timeouts.connect)?,
            address: address::shown(&url),
            // OpenAI itself has renamed the limit; every other server knows the old name, few the new one.
            limit: if url.host_str() == Some("api.openai.com") { "max_completion_tokens" } else { "max_tokens" },
            url,
            headers,
            body: config.body.clone(),
            times: config.timeouts,
            streaming: config.streaming.clone(),
            slots: Semaphore::new(config.limits.concurrency.clamp(1, Semaphore::MAX_PERMITS)),
            secrets,
        })
    }

    async fn answer(&self, who: &Who, request: &Request, delta: Delta) -> Result<Reply, ModelFailure> {
        let model = request.model.model();
        let stream = self.streaming.get(model).copied().unwrap_or(true);
        let body = Body { request, stream, limit: self.limit, extra: &self.body }.bytes();
        let body = body.map_err(|e| self.clean(Failure::fixed(code::MODEL_REQUEST, e.to_string())))?;
        // The semaphore is never closed; if it were, going on without a slot would do no harm.
        let _slot = self.slots.acquire().await.ok();
        let mut answer = Answer::new(body.len(), delta);
        let asked = Asked { model, address: &self.address };
        let exchange = self.exchange(who, body, stream, &asked, &mut answer);
        let result = match timeout(self.times.total, exchange).await {
            Ok(result) => result,
            Err(_) => Err(failure::late("complete answer", self.times.total)),
        };
        let usage = answer.paid();
        let result = result.and_then(|()| answer.close());
        result.map_err(|failure| ModelFailure { failure: self.clean(failure), usage })
    }

    /// Sends the request and reads the answer.
    async fn exchange(
        &self,
        who: &Who,
        body: Vec<u8>,
        stream: bool,
        asked: &Asked<'_>,
        answer: &mut Answer,
    ) -> Result<(), Failure> {
        let sent = self.client.post(self.url.clone()).headers(self.headers.of(who)).body(body).send();
        let response = match timeout(self.times.first_byte, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(e)) => return Err(failure::of_send(&e, asked)),
            Err(_) => return Err(failure::late("answer", self.times.first_byte)),
        };
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = Reader::new(response.bytes_stream(), &self.times, ERROR_BODY).beginning().await;
            return Err(failure::of_response(status.as_u16(), &headers, &body, asked));
        }
        let events = is_events(&response, stream);
        let reader = Reader::new(response.bytes_stream(), &self.times, stream::LONGEST);
        if events {
            return reader.events(answer).await;
        }
        answer.absorb(&reader.whole().await?)
    }

    /// The one door through which failures leave.
    fn clean(&self, failure: Failure) -> Failure {
        Failure { why: redact(&failure.why, &self.secrets), ..failure }
    }
}

impl Model for OpenAi {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.answer(who, request, delta))
    }
}

/// Whether the answer is a stream of events. Some servers do not do what they were asked, so their word comes first.
fn is_events(response: &Response, asked: bool) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.contains("event-stream") || (asked && !kind.contains("json"))
}

fn client(url: &Url, connect: Duration) -> Result<Client, ConfigError> {
    static TLS: OnceLock<()> = OnceLock::new();
    // An embedding program may have installed a provider of its own; then that one is used.
    TLS.get_or_init(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder().redirect(Policy::none()).connect_timeout(connect);
    if url.scheme() == "http" {
        // No TLS will be spoken, so the system's certificates need not be read, nor even exist.
        builder = builder.tls_certs_only([]);
    }
    if address::is_local(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| ConfigError::Client(failure::causes(&e)))
}

/// The names of the models behind an address, in its own order. For discovery: waits three seconds at most.
///
/// # Errors
/// The address cannot be used, does not answer in time, or answers with something else than a list of models.
pub async fn list_models(base_url: &str, key: Option<&Secret>) -> Result<Vec<String>, Failure> {
    let secrets: Vec<Secret> = key.cloned().into_iter().collect();
    let listed = match timeout(DISCOVERY, list(base_url, key)).await {
        Ok(listed) => listed,
        Err(_) => Err(failure::late("list of models", DISCOVERY)),
    };
    listed.map_err(|failure| Failure { why: redact(&failure.why, &secrets), ..failure })
}

async fn list(base_url: &str, key: Option<&Secret>) -> Result<Vec<String>, Failure> {
    let unusable = |e: ConfigError| Failure::fixed(code::MODEL_REQUEST, e.to_string());
    let url = address::join(base_url, &["models"]).map_err(unusable)?;
    let shown = address::shown(&url);
    let asked = Asked { model: "", address: &shown };
    let mut request = client(&url, DISCOVERY).map_err(unusable)?.get(url);
    if let Some(key) = key {
        request = request.header(AUTHORIZATION, address::bearer(key).map_err(unusable)?);
    }
    let response = request.send().await.map_err(|e| failure::of_send(&e, &asked))?;
    let (status, headers, times) = (response.status(), response.headers().clone(), Timeouts::default());
    let reader = Reader::new(response.bytes_stream(), &times, stream::LONGEST);
    if !status.is_success() {
        return Err(failure::of_response(status.as_u16(), &headers, &reader.beginning().await, &asked));
    }
    let whole: Value = serde_json::from_slice(&reader.whole().await?).unwrap_or_default();
    let list = whole.get("data").and_then(Value::as_array);
    let names = list.map(|l| l.iter().filter_map(|m| m.get("id")?.as_str().map(String::from)).collect());
    names.ok_or_else(|| Failure::fixed(code::MODEL_MALFORMED, format!("{shown} does not answer with a list of models")))
}
