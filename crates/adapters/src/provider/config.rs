//! The settings of a provider: what `deputize.yaml` says under `providers`, in the form that is stored with a run.

use super::Secret;
use super::scripted::ScriptError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Which protocol a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// OpenAI's chat completions, which most servers speak.
    #[default]
    Openai,
    /// Google's `generateContent`.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
    /// Anthropic's Messages API.
    Anthropic,
    /// No provider: a file says what the model answers.
    Scripted,
}

/// The settings of one provider. Holds the *name* of a key's variable and never a key, so that it can be stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Config {
    /// The name before the colon of `provider:model`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The protocol.
    pub kind: Kind,
    /// The address, `/v1` included; a final `/` makes no difference.
    pub base_url: String,
    /// The variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// A PEM file with certificates that are trusted beside those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
    /// The proxy on the way, or `none` for a direct connection; absent: as the environment says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// `USER:PASSWORD` for the proxy. The one secret of the settings, and therefore never stored with them.
    #[serde(skip)]
    pub proxy_auth: Option<Secret>,
    /// Headers of every request. Values may hold `{agent}`, `{path}`, `{run}`, `{step}` and `{attempt}`.
    pub headers: BTreeMap<String, String>,
    /// Fields of every request body. One that the adapter also writes is replaced; `null` takes it out.
    pub body: Map<String, Value>,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// How much at once.
    pub limits: Limits,
    /// Models that are streamed or not; every other one is streamed.
    pub streaming: BTreeMap<String, bool>,
    /// Context windows of models, in tokens, where somebody said them. Only Ollama is told.
    pub context: BTreeMap<String, u64>,
    /// The script of a scripted provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            name: String::new(),
            kind: Kind::Openai,
            base_url: "https://api.openai.com/v1".to_string(),
            api_key_env: None,
            ca_file: None,
            proxy: None,
            proxy_auth: None,
            headers: BTreeMap::new(),
            body: Map::new(),
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            streaming: BTreeMap::new(),
            context: BTreeMap::new(),
            script: None,
        }
    }
}

/// How long to wait for what. Stored in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timeouts {
    /// For the connection.
    #[serde(with = "millis")]
    pub connect: Duration,
    /// From the request to the first byte of the answer.
    #[serde(with = "millis")]
    pub first_byte: Duration,
    /// From one piece of the answer to the next.
    #[serde(with = "millis")]
    pub idle: Duration,
    /// For the whole call.
    #[serde(with = "millis")]
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

/// How much a provider is asked at once and in a minute, by all of the process. Calls over it wait; their time-outs begin
/// when they no longer do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Calls at the same time.
    pub concurrency: usize,
    /// Requests in any minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    /// Tokens in any minute: what a call may use at most while it is under way, then what it used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u64>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { concurrency: 8, requests_per_minute: None, tokens_per_minute: None }
    }
}

/// Why a provider cannot be made from its settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The address is none.
    #[error("base_url `{0}` is no http or https address: write it like http://127.0.0.1:8080/v1")]
    BaseUrl(String),
    /// A user or password stands in the address, which is stored and shown.
    #[error("base_url must not hold a user or password: name a variable with api_key_env, or add a header")]
    Credentials,
    /// A header cannot be sent.
    #[error("header `{0}` cannot be sent: names are letters, digits and `-`, values hold no line breaks")]
    Header(String),
    /// A field of the body is the adapter's own.
    #[error("body.{0} is written by the program: take it out of `body`")]
    Body(String),
    /// The key holds bytes that no header can.
    #[error("the key holds characters that cannot be sent: check the variable it comes from")]
    Key,
    /// The file with certificates.
    #[error("ca_file {} {why}", .file.display())]
    CaFile {
        /// The file.
        file: PathBuf,
        /// Why it cannot be used.
        why: String,
    },
    /// The proxy's address.
    #[error("proxy `{0}` is no address: write it like http://127.0.0.1:3128, or none")]
    Proxy(String),
    /// The proxy's credential.
    #[error("the credential of the proxy is not USER:PASSWORD: check the variable that proxy_auth_env names")]
    ProxyAuth,
    /// Certificates or the like.
    #[error("the HTTP client cannot be made: {0}")]
    Client(String),
    /// A scripted provider without a script.
    #[error("a scripted provider needs `script: FILE`")]
    NoScript,
    /// The script cannot be read.
    #[error(transparent)]
    Script(#[from] ScriptError),
}

/// Durations as whole milliseconds, so that the stored form has one unit.
mod millis {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).serialize(to)
    }
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
