//! The layers between this program and a model's answer, and how a broken connection tells which of them it was.

use super::ConfigError;
use deputize_core::code;
use deputize_core::step::Failure;
use std::error::Error;
use std::time::Duration;

/// A layer, from the near end to the far one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The settings, or what the address leads to.
    Address,
    /// The proxy on the way.
    Proxy,
    /// The name of the machine.
    Dns,
    /// The connection.
    Connect,
    /// Certificates and encryption.
    Tls,
    /// The credential.
    Auth,
    /// The model.
    Model,
    /// What is answered.
    Answer,
}

impl Layer {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Layer::Address => "address",
            Layer::Proxy => "proxy",
            Layer::Dns => "dns",
            Layer::Connect => "connect",
            Layer::Tls => "tls",
            Layer::Auth => "auth",
            Layer::Model => "model",
            Layer::Answer => "answer",
        }
    }
    /// The layer of settings that cannot be used.
    pub(super) fn of_settings(error: &ConfigError) -> Layer {
        match error {
            ConfigError::CaFile { .. } | ConfigError::Client(_) => Layer::Tls,
            ConfigError::Proxy(_) | ConfigError::ProxyAuth => Layer::Proxy,
            ConfigError::Key => Layer::Auth,
            _ => Layer::Address,
        }
    }
    /// The layer of an error response.
    pub(super) fn of_status(status: u16) -> Layer {
        match status {
            401 | 403 => Layer::Auth,
            407 => Layer::Proxy,
            300..=399 | 404 | 405 => Layer::Address,
            _ => Layer::Answer,
        }
    }
    /// The layer of a failed call.
    pub(super) fn of_failure(failure: &Failure) -> Layer {
        let known = [
            (code::MODEL_AUTH, Layer::Auth),
            (code::MODEL_NOT_FOUND, Layer::Model),
            (code::MODEL_UNAVAILABLE, Layer::Connect),
        ];
        known.into_iter().find(|(code, _)| *code == failure.code).map_or(Layer::Answer, |(_, layer)| layer)
    }
    /// The layer at which a connection broke; `proxied`: by a proxy.
    pub(super) fn of_broken(error: &reqwest::Error, proxied: bool) -> Layer {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        let mut said = String::new();
        while let Some(cause) = next {
            if cause.is::<rustls::Error>() {
                return Layer::Tls;
            }
            said.push_str(&cause.to_string());
            said.push('\n');
            next = inside(cause).or_else(|| cause.source());
        }
        match () {
            () if said.contains("tunnel error") || (proxied && error.is_connect()) => Layer::Proxy,
            () if said.contains("dns error") => Layer::Dns,
            () if error.is_connect() => Layer::Connect,
            () => Layer::Answer,
        }
    }
}

/// What an I/O error was made of. It is not its source: the library gives the source of that.
fn inside<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = cause.downcast_ref::<std::io::Error>()?.get_ref()?;
    Some(inner)
}

/// What keeps a provider from answering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Where.
    pub layer: Layer,
    /// Why: one sentence, free of secrets.
    pub why: String,
}

impl Trouble {
    pub(super) fn new(layer: Layer, why: impl Into<String>) -> Trouble {
        Trouble { layer, why: why.into() }
    }
}

/// How a provider is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Whether the environment sends the connection through a proxy.
    pub proxied: bool,
    /// How long it may take, all in all.
    pub patience: Duration,
}
