//! The HTTP client of a provider: whom it trusts and by which way it goes.

use super::address::Base;
use super::failure;
use crate::provider::{Config, ConfigError, Secret};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Proxy};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The value of `proxy` that means a direct connection, whatever the environment says.
pub(super) const NO_PROXY: &str = "none";

/// A client for the address of these settings. Redirects are not followed: a key would go with them.
pub(super) fn new(config: &Config, base: &Base, connect: Duration) -> Result<Client, ConfigError> {
    static TLS: OnceLock<()> = OnceLock::new();
    // An embedding program may have installed a provider of its own; then that one is used.
    TLS.get_or_init(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder().redirect(Policy::none()).connect_timeout(connect);
    let proxy = config.proxy.as_deref().filter(|proxy| *proxy != NO_PROXY);
    if base.is_plain() && proxy.is_none_or(|proxy| proxy.starts_with("http://")) {
        // No TLS will be spoken, so the system's certificates need not be read, nor even exist.
        builder = builder.tls_certs_only([]);
    } else if let Some(file) = &config.ca_file {
        builder = builder.tls_certs_merge(certificates(file)?);
    }
    if config.proxy.is_some() || base.is_local() {
        // Nothing of the environment: the settings have the word, or the address is this machine.
        builder = builder.no_proxy();
    }
    if let Some(proxy) = proxy {
        builder = builder.proxy(through(proxy, config.proxy_auth.as_ref())?);
    }
    builder.build().map_err(|e| ConfigError::Client(failure::causes(&e)))
}

fn certificates(file: &Path) -> Result<Vec<Certificate>, ConfigError> {
    let wrong = |why: String| ConfigError::CaFile { file: file.to_path_buf(), why };
    let pem = std::fs::read(file).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    let all =
        Certificate::from_pem_bundle(&pem).map_err(|e| wrong(format!("is no PEM file: {}", failure::causes(&e))))?;
    if all.is_empty() {
        return Err(wrong("holds no certificate: it must be PEM, with BEGIN CERTIFICATE".to_string()));
    }
    Ok(all)
}

fn through(address: &str, auth: Option<&Secret>) -> Result<Proxy, ConfigError> {
    let proxy = Proxy::all(address).map_err(|_| ConfigError::Proxy(crate::provider::redact::redact(address, &[])))?;
    let Some(auth) = auth else { return Ok(proxy) };
    let (user, password) = auth.expose().split_once(':').ok_or(ConfigError::ProxyAuth)?;
    Ok(proxy.basic_auth(user, password))
}
