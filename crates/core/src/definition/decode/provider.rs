//! Providers of a configuration. Nothing here may be a credential: a file is shared, a variable is not.

use super::{Decoder, Field, Fields};
use crate::definition::message::{Level, Message};
use crate::definition::node::Kind;
use crate::definition::spec::{At, ProviderSpec};
use crate::definition::{RetryPolicy, WhenOverloaded};
use std::collections::BTreeMap;

/// Headers that carry credentials.
const CREDENTIAL_HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"];

impl Decoder {
    pub(super) fn providers(&mut self, field: &Field<'_>) -> BTreeMap<String, At<ProviderSpec>> {
        let mut providers = BTreeMap::new();
        for (name, field) in self.free_map(field) {
            let good = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || !name.chars().all(good) {
                let text = format!("`{}`: a provider's name is letters, digits, `-`, `_` and `.`", field.path);
                self.error("key.value", field.key_at, text);
            }
            let at = field.key_at;
            let value = self.provider(&field);
            providers.insert(name, At { value, at });
        }
        providers
    }

    fn provider(&mut self, field: &Field<'_>) -> ProviderSpec {
        let mut fields = self.fields(field, "providers.NAME");
        let mut spec = ProviderSpec {
            kind: fields.take(self, "kind").and_then(|f| self.words(&f)),
            base_url: fields.take(self, "base_url").and_then(|f| self.url(&f, "use `api_key_env`")),
            api_key_env: fields.take(self, "api_key_env").and_then(|f| self.variable(&f, "`api_key_env: LAB_KEY`")),
            ca_file: fields.take(self, "ca_file").and_then(|f| self.words(&f)),
            proxy: fields.take(self, "proxy").and_then(|f| self.proxy(&f)),
            proxy_auth_env: fields
                .take(self, "proxy_auth_env")
                .and_then(|f| self.variable(&f, "`proxy_auth_env: LAB_PROXY_AUTH`")),
            script: fields.take(self, "script").and_then(|f| self.words(&f)),
            ..ProviderSpec::default()
        };
        if let Some(field) = fields.take(self, "headers") {
            spec.headers = self.headers(&field);
        }
        if let Some(field) = fields.take(self, "body") {
            match self.json(&field) {
                Some(serde_json::Value::Object(map)) => spec.body = map,
                Some(_) => self.expected(&field, "a map"),
                None => {}
            }
        }
        if let Some(field) = fields.take(self, "timeout") {
            let mut inner = self.fields(&field, "providers.NAME.timeout");
            let mut read = |key| inner.take(self, key).and_then(|f| self.duration(&f));
            spec.timeout = [read("connect"), read("first_byte"), read("idle"), read("total")];
        }
        if let Some(field) = fields.take(self, "retry") {
            spec.retry = Some(self.retry(&field));
        }
        if let Some(field) = fields.take(self, "limits") {
            let mut inner = self.fields(&field, "providers.NAME.limits");
            spec.concurrency = inner.take(self, "concurrency").and_then(|f| self.whole(&f));
            let mut count = |key| inner.take(self, key).and_then(|f| self.count(&f));
            spec.requests_per_minute = count("requests_per_minute");
            spec.tokens_per_minute = count("tokens_per_minute");
        }
        spec
    }

    fn retry(&mut self, field: &Field<'_>) -> RetryPolicy {
        let mut fields = self.fields(field, "providers.NAME.retry");
        let mut policy = RetryPolicy::default();
        let time = |d: &mut Decoder, fields: &mut Fields<'_>, key, into: &mut u64| {
            if let Some(ms) = fields.take(d, key).and_then(|f| d.duration(&f)) {
                *into = ms;
            }
        };
        time(self, &mut fields, "delay", &mut policy.delay);
        time(self, &mut fields, "cap", &mut policy.cap);
        time(self, &mut fields, "total", &mut policy.total);
        if let Some(n) = fields.take(self, "attempts").and_then(|f| self.whole(&f)) {
            policy.attempts = n;
        }
        if let Some(field) = fields.take(self, "then") {
            let words = [("fail", WhenOverloaded::Fail), ("park", WhenOverloaded::Park)];
            policy.then = self.one_of(&field, &words).unwrap_or_default();
        }
        policy
    }

    fn proxy(&mut self, field: &Field<'_>) -> Option<At<String>> {
        let text = self.words(field)?;
        if text.value == "none" { Some(text) } else { self.url(field, "use `proxy_auth_env`") }
    }

    fn url(&mut self, field: &Field<'_>, instead: &str) -> Option<At<String>> {
        let text = self.words(field)?;
        match check_url(&text.value) {
            Ok(()) => Some(At { value: text.value.trim_end_matches('/').to_string(), at: text.at }),
            Err(UrlFault::Credential) => {
                // The value is not shown: it is what must not be spread.
                let why = format!("`{}` holds a user or password: a credential never stands in a file", field.path);
                self.push(Message::new(Level::Error, "secret.in_file", why).at(field.at()).hint(instead));
                None
            }
            Err(UrlFault::Form) => {
                self.expected(field, "an address such as `http://127.0.0.1:8080/v1`");
                None
            }
        }
    }

    fn variable(&mut self, field: &Field<'_>, example: &str) -> Option<At<String>> {
        let name = self.words(field)?;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.value.chars().all(good) && !name.value.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(name);
        }
        // Most likely the key itself, so it is not repeated.
        let why = format!("`{}` must be the name of a variable; a key itself never stands in a file", field.path);
        self.push(Message::new(Level::Error, "secret.in_file", why).at(field.at()).hint(example));
        None
    }

    fn headers(&mut self, field: &Field<'_>) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        for (name, field) in self.free_map(field) {
            if CREDENTIAL_HEADERS.contains(&name.to_lowercase().as_str()) {
                let why = format!("`{}` carries a credential, which never stands in a file", field.path);
                self.push(Message::new(Level::Error, "secret.in_file", why).at(field.key_at).hint("use `api_key_env`"));
                continue;
            }
            let token = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            let printable = |c: char| c == '\t' || !c.is_control();
            match &field.node.kind {
                Kind::Scalar { text, .. }
                    if !name.is_empty() && name.chars().all(token) && text.chars().all(printable) =>
                {
                    headers.insert(name, text.clone());
                }
                _ => self.expected(&field, "a header: a plain name and a text of one line"),
            }
        }
        headers
    }
}

/// Why a text is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlFault {
    /// It is no `http` or `https` address.
    Form,
    /// It holds a user or a password.
    Credential,
}

/// Checks the address of a provider.
///
/// # Errors
/// Why it is none.
pub fn check_url(text: &str) -> Result<(), UrlFault> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(UrlFault::Form)?;
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        return Err(UrlFault::Credential);
    }
    let bad = |c: char| c.is_whitespace() || c.is_control();
    if host.is_empty()
        || host.starts_with(':')
        || text.contains('\\')
        || text.contains(bad)
        || text.contains(['?', '#'])
    {
        return Err(UrlFault::Form);
    }
    Ok(())
}
