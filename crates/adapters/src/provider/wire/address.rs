//! Addresses and headers: what the settings say, checked once, in the form that requests use.

use crate::provider::{Config, ConfigError, Secret};
use deputize_runtime::port::Who;
use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use std::net::IpAddr;

/// The address of a provider, checked.
#[derive(Clone, Debug)]
pub(in crate::provider) struct Base(Url);

impl Base {
    /// Reads an address as the settings give it.
    pub(in crate::provider) fn new(base_url: &str) -> Result<Base, ConfigError> {
        let wrong = || ConfigError::BaseUrl(shown_text(base_url));
        let mut url = Url::parse(base_url.trim()).map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(wrong());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfigError::Credentials);
        }
        url.set_fragment(None);
        Ok(Base(url))
    }

    /// The address of a resource below this one; a query is kept.
    pub(in crate::provider) fn at(&self, tail: &[&str]) -> Url {
        let mut url = self.0.clone();
        // Every http address has a path, so there is always one to go on from.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(tail);
        }
        url
    }

    /// The address without this part at the end of its path, if it is there.
    pub(in crate::provider) fn without(&self, last: &str) -> Base {
        let mut url = self.0.clone();
        let path = url.path().trim_end_matches('/');
        if let Some(rest) = path.strip_suffix(last).filter(|rest| rest.ends_with('/')).map(String::from) {
            url.set_path(&rest);
        }
        Base(url)
    }

    /// The name of the machine.
    pub(in crate::provider) fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Whether no TLS is spoken.
    pub(super) fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Whether the address is this machine or one of a private network.
    pub(in crate::provider) fn is_near(&self) -> bool {
        let bare = self.host().trim_start_matches('[').trim_end_matches(']');
        let near = match bare.parse() {
            Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
            Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            Err(_) => false,
        };
        near || self.is_local()
    }

    /// Whether no proxy of the environment is on the way: the address is this machine, or `NO_PROXY` names its host, as a
    /// name, a domain, an address or a network.
    pub(in crate::provider) fn avoids_proxies(&self, no_proxy: &str) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']').to_lowercase();
        let address: Option<IpAddr> = host.parse().ok();
        let names = |entry: &str| {
            let entry = entry.trim().to_lowercase();
            let domain = entry.trim_start_matches('.');
            let below = || host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
            entry == "*" || address.map_or_else(|| !domain.is_empty() && below(), |ip| is_in(ip, &entry))
        };
        self.is_local() || no_proxy.split(',').any(names)
    }

    /// Whether the address is this machine, which no proxy of the environment needs to know about.
    pub(super) fn is_local(&self) -> bool {
        let bare = self.host().trim_start_matches('[').trim_end_matches(']');
        bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

/// Whether an address is this one, or is in this network.
fn is_in(ip: IpAddr, network: &str) -> bool {
    let bits = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => (32, u128::from(u32::from(ip))),
        IpAddr::V6(ip) => (128, u128::from(ip)),
    };
    let (first, length) = network.split_once('/').map_or((network, None), |(first, length)| (first, Some(length)));
    let Ok(first) = first.parse().map(bits) else { return false };
    let (wide, own) = bits(ip);
    let length = length.map_or(Some(wide), |length| length.parse().ok().filter(|length| *length <= wide));
    length.is_some_and(|length: u32| {
        let same = |n: u128| n.checked_shr(wide - length).unwrap_or(0);
        first.0 == wide && same(first.1) == same(own)
    })
}

/// The address as messages show it: no query, which may hold a key.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}

/// A text that is no address, without what may be a password in it.
fn shown_text(text: &str) -> String {
    crate::provider::redact::redact(text, &[])
}

/// The headers of every request.
pub(super) struct Headers {
    fixed: HeaderMap,
    /// Those of the settings, whose values may hold placeholders.
    ours: Vec<(HeaderName, String)>,
}

impl Headers {
    /// `fixed` are those of the protocol.
    pub(super) fn new(config: &Config, mut fixed: HeaderMap) -> Result<Headers, ConfigError> {
        fixed.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        fixed.insert(USER_AGENT, HeaderValue::from_static(concat!("deputize/", env!("CARGO_PKG_VERSION"))));
        let mut ours = Vec::new();
        for (name, value) in &config.headers {
            let wrong = || ConfigError::Header(name.clone());
            let parsed = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            HeaderValue::from_bytes(value.as_bytes()).map_err(|_| wrong())?;
            ours.push((parsed, value.clone()));
        }
        Ok(Headers { fixed, ours })
    }

    /// The headers of a question that no agent asks: those of the settings that speak of none.
    pub(super) fn plain(&self) -> HeaderMap {
        let mut all = self.fixed.clone();
        for (name, text) in self.ours.iter().filter(|(_, text)| !text.contains('{')) {
            all.extend(value(text).map(|value| (name.clone(), value)));
        }
        all
    }

    /// The headers of one call.
    pub(super) fn of(&self, who: &Who) -> HeaderMap {
        let mut all = self.fixed.clone();
        if let Some(key) = value(&who.key()) {
            all.insert(HeaderName::from_static("idempotency-key"), key);
        }
        for (name, template) in &self.ours {
            if let Some(filled) = value(&fill(template, who)) {
                all.insert(name.clone(), filled);
            }
        }
        all
    }
}

/// The value of a header that carries a key; marked, so that the HTTP library does not print it either.
pub(in crate::provider) fn credential(scheme: &str, key: &Secret) -> Result<HeaderValue, ConfigError> {
    let mut value = HeaderValue::from_str(&format!("{scheme}{}", key.expose())).map_err(|_| ConfigError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Names of agents may hold letters of any script; a header takes their bytes, but no control characters.
fn value(text: &str) -> Option<HeaderValue> {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    HeaderValue::from_bytes(clean.as_bytes()).ok()
}

/// Replaces the placeholders in one pass, so that what a name holds is never taken for one.
fn fill(template: &str, who: &Who) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        match after.split_once('}').and_then(|(name, tail)| Some((placeholder(name, who)?, tail))) {
            Some((text, tail)) => {
                filled.push_str(&text);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

fn placeholder(name: &str, who: &Who) -> Option<String> {
    match name {
        "agent" => Some(who.agent.to_string()),
        "path" => Some(who.path.to_string()),
        "run" => Some(who.run.to_string()),
        "step" => Some(who.label.to_string()),
        "attempt" => Some(who.attempt.to_string()),
        _ => None,
    }
}

/// Values of headers whose names say that they are credentials, for the redaction.
pub(super) fn secrets(config: &Config) -> Vec<Secret> {
    const NAMES: [&str; 6] = ["auth", "key", "token", "secret", "cookie", "password"];
    let is_secret = |name: &str| {
        let name = name.to_lowercase();
        NAMES.iter().any(|part| name.contains(part)) && !name.starts_with("idempotency")
    };
    let values = config.headers.iter().filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
    // Of `Bearer abc` the scheme is no secret, `abc` alone may be quoted.
    values.flat_map(|v| [v.as_str(), v.rsplit(' ').next().unwrap_or_default()]).map(Secret::new).collect()
}

#[cfg(test)]
mod tests;
