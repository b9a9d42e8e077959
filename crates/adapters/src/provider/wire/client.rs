//! The HTTP client of a provider.

use super::address::Base;
use super::failure;
use crate::provider::ConfigError;
use reqwest::Client;
use reqwest::redirect::Policy;
use std::sync::OnceLock;
use std::time::Duration;

/// A client for this address. Redirects are not followed: a key would go with them.
pub(super) fn new(base: &Base, connect: Duration) -> Result<Client, ConfigError> {
    static TLS: OnceLock<()> = OnceLock::new();
    // An embedding program may have installed a provider of its own; then that one is used.
    TLS.get_or_init(|| drop(rustls::crypto::ring::default_provider().install_default()));
    let mut builder = Client::builder().redirect(Policy::none()).connect_timeout(connect);
    if base.is_plain() {
        // No TLS will be spoken, so the system's certificates need not be read, nor even exist.
        builder = builder.tls_certs_only([]);
    }
    if base.is_local() {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|e| ConfigError::Client(failure::causes(&e)))
}
