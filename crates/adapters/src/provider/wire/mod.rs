//! What all providers over HTTP share: the client, addresses, headers, time-outs, bodies in pieces, the meaning of errors,
//! the redaction. Owns one call as one request; a [`Protocol`] owns the bytes of the request and how an answer is read.
//!
//! A provider is one module that implements [`Protocol`] and [`Answer`], and a line in [`super::build`].

mod address;
mod ask;
mod client;
mod examine;
pub(super) mod failure;
mod read;
mod sse;
mod stream;
mod tally;

pub use sse::Sse;

pub(super) use address::{Base, credential};
pub(super) use ask::{ask, base, list_models};
pub(super) use examine::examine;
pub(super) use failure::now;
pub(super) use read::{arguments, count, read};
pub(super) use tally::Tally;

use super::redact::redact;
use super::{Config, ConfigError, Secret, Timeouts};
use address::Headers;
use deputize_core::code;
use deputize_core::message::{Request, Usage};
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Model, ModelFailure, Pending, Reply, Who};
use failure::Asked;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, Url};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use stream::{Frames, Reader};
use tokio::time::timeout;

/// How much of an error's body is read: enough for any message.
const ERROR_BODY: usize = 64 * 1024;

/// The dialect of one kind of provider.
pub(super) trait Protocol: Sized + Send + Sync + 'static {
    /// How its answers are read.
    type Answer: Answer;
    /// Fields of a request's body that the settings may not replace: the answer could not be read any more.
    const OWN: &'static [&'static str];
    /// Whether a stream without a type is one JSON object a line instead of server-sent events.
    const LINES: bool = false;

    /// The dialect under these settings.
    fn new(config: &Config, base: &Base) -> Self;
    /// Headers of every request besides the usual ones: the credential, the version of the protocol.
    fn headers(key: Option<&Secret>) -> Result<HeaderMap, ConfigError>;
    /// Where a call goes.
    fn url(&self, base: &Base, model: &str, stream: bool) -> Url;
    /// The bytes of a call: the same for the same request, what changes least first.
    fn body(&self, asking: &Asking<'_>) -> Result<Vec<u8>, serde_json::Error>;
    /// An answer that is about to come; `sent` is the length of the request's body.
    fn answer(&self, request: &Request, sent: usize, delta: Delta) -> Self::Answer;
    /// How long an error response asks to wait, where the usual headers do not say it.
    fn wait(_headers: &HeaderMap, _body: &[u8]) -> Option<Duration> {
        None
    }
    /// What may be wrong when the address answers that there is nothing: `model` is the one that was asked for.
    fn hint(_model: &str) -> String {
        "is its /v1 missing?".to_string()
    }
    /// Where models are listed.
    fn list(base: &Base) -> Url {
        base.at(&["models"])
    }
    /// The names in a list of models.
    fn names(list: &Value) -> Option<Vec<String>>;
}

/// What a body is made of.
pub(super) struct Asking<'a> {
    pub(super) request: &'a Request,
    pub(super) stream: bool,
    /// The fields that the settings add.
    pub(super) extra: &'a Map<String, Value>,
}

/// An answer on its way.
pub(super) trait Answer: Send {
    /// Takes in one event of a stream, or a whole answer.
    fn absorb(&mut self, json: &[u8]) -> Result<(), Failure>;
    /// Whether the model has said all; only the count of tokens may follow.
    fn finished(&self) -> bool;
    /// Whether the provider has said that nothing follows.
    fn complete(&self) -> bool {
        false
    }
    /// Tokens that are known to be paid for, when the call fails after all.
    fn paid(&self) -> Usage;
    /// The answer is at its end.
    fn close(self) -> Result<Reply, Failure>;
}

/// A provider over HTTP.
pub(super) struct Http<P> {
    protocol: P,
    client: Client,
    base: Base,
    headers: Headers,
    body: Map<String, Value>,
    times: Timeouts,
    streaming: BTreeMap<String, bool>,
    secrets: Vec<Secret>,
}

impl<P: Protocol> Http<P> {
    /// The provider of these settings. `key` is sent to `base_url`, wherever that is: whether it may go there is the caller's
    /// decision. Without a key no credential is sent.
    ///
    /// # Errors
    /// The address, a header, the extra body or the key cannot be used.
    pub(super) fn new(config: &Config, key: Option<Secret>) -> Result<Http<P>, ConfigError> {
        if let Some(own) = P::OWN.iter().find(|own| config.body.contains_key(**own)) {
            return Err(ConfigError::Body((*own).to_string()));
        }
        let base = Base::new(&config.base_url)?;
        let headers = Headers::new(config, P::headers(key.as_ref())?)?;
        let mut secrets = address::secrets(config);
        secrets.extend(key);
        secrets.extend(config.proxy_auth.clone());
        Ok(Http {
            protocol: P::new(config, &base),
            client: client::new(config, &base, config.timeouts.connect)?,
            base,
            headers,
            body: config.body.clone(),
            times: config.timeouts,
            streaming: config.streaming.clone(),
            secrets,
        })
    }

    async fn answer(&self, who: &Who, request: &Request, delta: Delta) -> Result<Reply, ModelFailure> {
        let model = request.model.model();
        let stream = self.streaming.get(model).copied().unwrap_or(true);
        let body = self.protocol.body(&Asking { request, stream, extra: &self.body });
        let body = body.map_err(|e| self.clean(Failure::fixed(code::MODEL_REQUEST, e.to_string())))?;
        let mut answer = self.protocol.answer(request, body.len(), delta);
        let url = self.protocol.url(&self.base, model, stream);
        let address = address::shown(&url);
        let asked = Asked { model, address: &address, hint: &P::hint(model) };
        let exchange = self.exchange(who, url, body, stream, &asked, &mut answer);
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
        url: Url,
        body: Vec<u8>,
        stream: bool,
        asked: &Asked<'_>,
        answer: &mut P::Answer,
    ) -> Result<(), Failure> {
        let sent = self.client.post(url).headers(self.headers.of(who)).body(body).send();
        let response = match timeout(self.times.first_byte, sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(e)) => return Err(failure::of_send(&e, asked)),
            Err(_) => return Err(failure::late("answer", self.times.first_byte)),
        };
        let status = response.status();
        if !status.is_success() {
            let headers = response.headers().clone();
            let body = Reader::new(response.bytes_stream(), &self.times, ERROR_BODY).beginning().await;
            let wait = failure::wait(&headers).or_else(|| P::wait(&headers, &body));
            return Err(failure::of_response(status.as_u16(), &headers, &body, wait, asked));
        }
        let frames = frames(&response, stream, P::LINES);
        let reader = Reader::new(response.bytes_stream(), &self.times, stream::LONGEST);
        match frames {
            Some(frames) => reader.events(frames, answer).await,
            None => answer.absorb(&reader.whole().await?),
        }
    }

    /// The one door through which failures leave.
    fn clean(&self, failure: Failure) -> Failure {
        Failure { why: redact(&failure.why, &self.secrets), ..failure }
    }
}

impl<P: Protocol> Model for Http<P> {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.answer(who, request, delta))
    }
}

/// How the pieces of an answer are told apart; none for a whole one. Some servers do not do what they were asked, so their
/// word comes first.
fn frames(response: &Response, asked: bool, lines: bool) -> Option<Frames> {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if kind.contains("event-stream") {
        return Some(Frames::events());
    }
    if kind.contains("ndjson") || kind.contains("jsonl") {
        return Some(Frames::lines());
    }
    let typed = kind.contains("json");
    (asked && !typed).then(|| if lines { Frames::lines() } else { Frames::events() })
}
