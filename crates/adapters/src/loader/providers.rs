//! Providers: merged from project, person, environment and flags, with one rule above all: a key of the environment goes
//! only to the public address, to the address of the same environment, or to one that the person configured.

use super::config::Config;
use super::findings::Findings;
use super::kinds::{self, Facts, KINDS};
use super::paths;
use super::request::LoadRequest;
use super::setup::{Limits, Origin, Provider, ProviderKind, Timeouts};
use deputize_core::definition::RetryPolicy;
use deputize_core::definition::decode::check_url;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use deputize_core::definition::spec::{At, ProviderSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Variables that hold keys for public providers on most machines. A project may not direct them elsewhere.
const WELL_KNOWN: [&str; 3] = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
/// The value of `proxy` for a direct connection.
const DIRECT: &str = "none";
/// What every certificate in PEM form begins with.
const PEM: &[u8] = b"-----BEGIN CERTIFICATE-----";
/// The name under which `--script` is a provider.
pub(super) const SCRIPTED: &str = "scripted";

/// Providers and their retries.
#[derive(Default)]
pub(super) struct Providers {
    pub(super) all: BTreeMap<String, Provider>,
    pub(super) retry: BTreeMap<String, RetryPolicy>,
    /// Every name that somebody gave to a provider, whether it can be used or not: what is wrong with it was said.
    pub(super) named: BTreeSet<String>,
}

/// One provider as both files say it.
struct Both<'a> {
    name: &'a str,
    project: ProviderSpec,
    user: ProviderSpec,
    /// The folders of both files, which paths in them are relative to.
    folders: [&'a Path; 2],
    /// File and place for complaints: of the project if it speaks of the provider.
    file: &'a str,
    at: Place,
}

/// Merges all providers. One of each kind of server is always there.
pub(super) fn merge(request: &LoadRequest, project: &Config, user: &Config, findings: &mut Findings) -> Providers {
    let mut names: BTreeSet<&str> = KINDS.iter().map(|facts| facts.name).collect();
    names.extend(project.spec.providers.keys().chain(user.spec.providers.keys()).map(String::as_str));
    names.extend(request.overrides.script.as_ref().map(|_| SCRIPTED));
    let named = names.iter().map(ToString::to_string).collect();
    let mut providers = Providers { named, ..Providers::default() };
    for name in names {
        let ours = project.spec.providers.get(name);
        let theirs = user.spec.providers.get(name);
        let file = if ours.is_some() || theirs.is_none() { &project.file } else { &user.file };
        let at = ours.or(theirs).map(|p| p.at).unwrap_or_default();
        let of = |spec: Option<&At<ProviderSpec>>| spec.map(|s| s.value.clone()).unwrap_or_default();
        let folders = [project.folder.as_path(), user.folder.as_path()];
        let both = Both { name, project: of(ours), user: of(theirs), folders, file, at };
        let Some(kind) = both.kind(findings) else { continue };
        if let Some(retry) = both.project.retry.or(both.user.retry) {
            providers.retry.insert(name.to_string(), retry);
        }
        let provider = match kind.facts() {
            Some(facts) => both.server(facts, request, findings),
            None => both.scripted(request, project, user, findings),
        };
        if let Some(provider) = provider {
            providers.all.insert(name.to_string(), provider);
        }
    }
    providers
}

impl Both<'_> {
    fn message(&self, level: Level, code: &str, at: Place, text: String) -> Message {
        let message = Message::new(level, code, text);
        if self.file.is_empty() { message } else { message.file(self.file).at(at) }
    }

    fn kind(&self, findings: &mut Findings) -> Option<ProviderKind> {
        let written = self.project.kind.as_ref().or(self.user.kind.as_ref());
        let at = written.map_or(self.at, |w| w.at);
        match written.map_or(self.name, |w| w.value.as_str()) {
            SCRIPTED => Some(ProviderKind::Scripted),
            name => {
                let facts = kinds::named(name);
                if facts.is_none() {
                    let known = kinds::known();
                    let text = match written {
                        Some(_) => format!("`providers.{}.kind` must be {known}, not `{name}`", self.name),
                        None => format!("`providers.{name}` needs a `kind`: {known}"),
                    };
                    findings.push(self.message(Level::Error, "key.value", at, text));
                }
                facts.map(|facts| facts.kind)
            }
        }
    }

    /// The address and who gave it. The environment is the person at the keyboard and wins over files.
    fn address(&self, facts: &Facts, request: &LoadRequest, findings: &mut Findings) -> Option<(String, Origin)> {
        let variable = facts.url_variable.unwrap_or_default();
        let env = request.env.get(variable).map(String::as_str).filter(|u| !u.trim().is_empty());
        let written = |at: &At<String>, origin| Some((at.value.clone(), origin));
        let from_files = match (&self.project.base_url, &self.user.base_url) {
            (Some(url), _) => written(url, Origin::Project),
            (None, Some(url)) => written(url, Origin::User),
            (None, None) => None,
        };
        let Some(url) = env.filter(|_| self.name == facts.name || from_files.is_none()) else {
            return from_files.or_else(|| Some((facts.address.to_string(), Origin::Default)));
        };
        if check_url(url.trim()).is_err() {
            // Not shown: it may hold a password.
            let text = format!("the variable `{variable}` holds no address such as `http://127.0.0.1:8080/v1`");
            findings.error("env.base_url", text);
            return None;
        }
        let mut url = url.trim().trim_end_matches('/').to_string();
        if !url.ends_with(facts.url_end) {
            url.push_str(facts.url_end);
        }
        if let Some((other, _)) = from_files.filter(|(other, _)| *other != url) {
            findings.info("provider.address", format!("`{variable}` of the environment is used instead of {other}"));
        }
        Some((url, Origin::Env))
    }

    /// The variable whose key may go to the address.
    fn key(
        &self,
        facts: &Facts,
        (url, from): (&str, Origin),
        request: &LoadRequest,
        findings: &mut Findings,
    ) -> Option<String> {
        let diverted = self.diverted(url);
        let elsewhere = diverted || (from == Origin::Project && !is_public(url, facts));
        let by = if diverted { "by a proxy or under a certificate" } else { "an address" };
        let set = |name: &str| request.env.get(name).is_some_and(|v| !v.is_empty());
        if let Some(named) = &self.project.api_key_env {
            if elsewhere && WELL_KNOWN.contains(&named.value.as_str()) && (diverted || !is_loopback(url)) {
                let text = format!("`{}` would be sent to {url}, {by} that this project chose", named.value);
                let message = self.message(Level::Error, "secret.elsewhere", named.at, text);
                let hint = "name a variable of its own, or put `base_url` into your own configuration";
                findings.push(message.hint(hint));
                return None;
            }
            if elsewhere && set(&named.value) {
                let text = format!("`{}` is sent to {url}, as this project says", named.value);
                let level = if is_loopback(url) { Level::Info } else { Level::Warning };
                findings.push(self.message(level, "secret.sent", named.at, text));
            }
            return Some(named.value.clone());
        }
        let name = self.user.api_key_env.as_ref().map(|k| k.value.as_str()).or(facts.key_variable)?;
        if !elsewhere {
            return Some(name.to_string());
        }
        if set(name) {
            let at = self.project.base_url.as_ref().map_or(self.at, |u| u.at);
            let text = format!("`{name}` is not sent to {url}, {by} that this project chose");
            let message = self.message(Level::Warning, "secret.elsewhere", at, text);
            findings.push(message.hint("if the server needs a key, name its variable: `api_key_env: LAB_KEY`"));
        }
        None
    }

    fn server(&self, facts: &Facts, request: &LoadRequest, findings: &mut Findings) -> Option<Provider> {
        if let Some(script) = self.project.script.as_ref().or(self.user.script.as_ref()) {
            let text = "`script` is for kind `scripted` only".to_string();
            findings.push(self.message(Level::Error, "key.value", script.at, text));
        }
        let (base_url, base_url_from) = self.address(facts, request, findings)?;
        let api_key_env = self.key(facts, (&base_url, base_url_from), request, findings);
        // What the person adds may be meant for their own server's eyes only.
        let elsewhere = base_url_from == Origin::Project || self.diverted(&base_url);
        let ca_file = self.ca_file(findings)?;
        let (proxy, proxy_auth_env) = self.proxy(request, findings)?;
        let (mut headers, mut body) = match elsewhere {
            true => Default::default(),
            false => (self.user.headers.clone(), self.user.body.clone()),
        };
        headers.extend(self.project.headers.clone());
        body.extend(self.project.body.clone());
        let default = Timeouts::default();
        let [connect, first_byte, idle, total] = self.project.timeout;
        let [u_connect, u_first_byte, u_idle, u_total] = self.user.timeout;
        let timeout = Timeouts {
            connect: connect.or(u_connect).unwrap_or(default.connect),
            first_byte: first_byte.or(u_first_byte).unwrap_or(default.first_byte),
            idle: idle.or(u_idle).unwrap_or(default.idle),
            total: total.or(u_total).unwrap_or(default.total),
        };
        let limits = self.limits();
        let kind = facts.kind;
        Some(Provider {
            kind,
            base_url,
            base_url_from,
            api_key_env,
            headers,
            body,
            script: None,
            ca_file,
            proxy,
            proxy_auth_env,
            timeout,
            limits,
        })
    }

    /// Whether the project decides who can read what goes to this address: by a certificate of its own it can pretend to be
    /// anybody, and a proxy reads what is not encrypted.
    fn diverted(&self, url: &str) -> bool {
        let proxy = self.project.proxy.as_ref().is_some_and(|proxy| proxy.value != DIRECT);
        self.project.ca_file.is_some() || (proxy && !url.starts_with("https://"))
    }

    /// The file with further certificates; outer none: it cannot be used.
    fn ca_file(&self, findings: &mut Findings) -> Option<Option<PathBuf>> {
        let [ours, theirs] = self.folders;
        let written = self.project.ca_file.as_ref().map(|file| (file, ours));
        let Some((file, folder)) = written.or_else(|| self.user.ca_file.as_ref().map(|file| (file, theirs))) else {
            return Some(None);
        };
        let path = paths::join(folder, &file.value);
        let why = match std::fs::read(&path) {
            Ok(bytes) if bytes.windows(PEM.len()).any(|part| part == PEM) => return Some(Some(path)),
            Ok(_) => "holds no certificate in PEM form (BEGIN CERTIFICATE)".to_string(),
            Err(e) => format!("cannot be read: {e}"),
        };
        let text = format!("`providers.{}.ca_file`: {} {why}", self.name, findings.shown(&path));
        findings.push(self.message(Level::Error, "path.missing", file.at, text));
        None
    }

    /// The proxy and the variable of its credential, both by the same file; outer none: it may not be so.
    fn proxy(&self, request: &LoadRequest, findings: &mut Findings) -> Option<(Option<String>, Option<String>)> {
        let by_project = self.project.proxy.is_some();
        let spec = if by_project { &self.project } else { &self.user };
        let Some(proxy) = &spec.proxy else { return Some((None, None)) };
        let Some(auth) = &spec.proxy_auth_env else { return Some((Some(proxy.value.clone()), None)) };
        if by_project && WELL_KNOWN.contains(&auth.value.as_str()) {
            let text = format!("`{}` would be sent to the proxy {}, which this project chose", auth.value, proxy.value);
            let message = self.message(Level::Error, "secret.elsewhere", auth.at, text);
            findings.push(message.hint("name a variable that holds USER:PASSWORD of the proxy and nothing else"));
            return None;
        }
        if by_project && request.env.get(&auth.value).is_some_and(|value| !value.is_empty()) {
            let text = format!("`{}` is sent to the proxy {}, as this project says", auth.value, proxy.value);
            findings.push(self.message(Level::Warning, "secret.sent", auth.at, text));
        }
        Some((Some(proxy.value.clone()), Some(auth.value.clone())))
    }

    /// Each limit: the project's word before the person's.
    fn limits(&self) -> Limits {
        let (ours, theirs) = (&self.project, &self.user);
        Limits {
            concurrency: ours.concurrency.or(theirs.concurrency).unwrap_or(Limits::default().concurrency),
            requests_per_minute: ours.requests_per_minute.or(theirs.requests_per_minute),
            tokens_per_minute: ours.tokens_per_minute.or(theirs.tokens_per_minute),
        }
    }

    fn scripted(
        &self,
        request: &LoadRequest,
        project: &Config,
        user: &Config,
        findings: &mut Findings,
    ) -> Option<Provider> {
        let flag = request.overrides.script.as_ref().filter(|_| self.name == SCRIPTED);
        let file = flag.map(|f| (paths::join(&request.cwd, f), None));
        let in_file = |spec: &ProviderSpec, config: &Config| {
            spec.script.as_ref().map(|s| (paths::join(&config.folder, &s.value), Some(s.at)))
        };
        let found = file.or_else(|| in_file(&self.project, project)).or_else(|| in_file(&self.user, user));
        let Some((script, at)) = found else {
            let text = format!("`providers.{}` is scripted and needs a `script`", self.name);
            findings.push(self.message(Level::Error, "key.value", self.at, text));
            return None;
        };
        if !script.is_file() {
            let text = format!("there is no script {}", findings.shown(&script));
            findings.push(match at {
                Some(at) => self.message(Level::Error, "path.missing", at, text),
                None => Message::new(Level::Error, "path.missing", text),
            });
            return None;
        }
        Some(Provider {
            kind: ProviderKind::Scripted,
            base_url: String::new(),
            base_url_from: Origin::Default,
            api_key_env: None,
            headers: BTreeMap::new(),
            body: serde_json::Map::new(),
            script: Some(script),
            ca_file: None,
            proxy: None,
            proxy_auth_env: None,
            timeout: Timeouts::default(),
            limits: self.limits(),
        })
    }
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

fn is_public(url: &str, facts: &Facts) -> bool {
    url.starts_with("https://") && host(url) == host(facts.address)
}

fn is_loopback(url: &str) -> bool {
    let host = host(url);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests;
