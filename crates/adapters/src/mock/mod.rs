//! A mock model server on this machine: chat completions over HTTP, played from the same scripts as the scripted provider.
//!
//! It is strict where real servers are: a request that breaks a rule of the protocol is answered 400 with the reason, and
//! counted. It is part of the program because `demo --prove` runs against it; it never listens beyond 127.0.0.1.

mod answer;
mod log;
mod serve;
mod valid;
mod wire;

pub use log::Entry;

use crate::provider::scripted::{Line, Player, Script};
use bytes::Bytes;
use deputize_core::id::Digest;
use log::Log;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinHandle};

/// What the server answers.
pub struct Play(Source);

enum Source {
    Script(Player),
    Function(Box<dyn Fn(&Asked) -> Line + Send + Sync>),
}

impl Play {
    /// By a function of the request, for answers that no script can give.
    pub fn function(answer: impl Fn(&Asked) -> Line + Send + Sync + 'static) -> Play {
        Play(Source::Function(Box::new(answer)))
    }
}

impl From<Script> for Play {
    fn from(script: Script) -> Play {
        Play(Source::Script(Player::new(script)))
    }
}

/// How the server is set up.
#[derive(Clone, Debug)]
pub struct Options {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// A file to which the access log is written too, one JSON object a line, each before its request is answered.
    pub log_file: Option<PathBuf>,
    /// The names that `GET /v1/models` lists.
    pub models: Vec<String>,
    /// Whether whole requests are kept for [`Server::requests`].
    pub keep_requests: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { port: 0, log_file: None, models: vec!["mock".to_string()], keep_requests: true }
    }
}

/// One request for an answer, as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its number, from 1.
    pub n: u64,
    /// Headers by lower-case name.
    pub headers: BTreeMap<String, String>,
    /// The body, byte for byte.
    pub bytes: Bytes,
    /// The body as JSON; null when it is none.
    pub body: Value,
    /// The agent's path, from `x-agent-path`.
    pub path: String,
    /// The step's label, from `x-step`, else the last part of the idempotency key.
    pub step: String,
    /// The attempt, from `x-attempt`, else the number of the idempotency key, else 1.
    pub attempt: u32,
}

impl Asked {
    fn read(n: u64, headers: BTreeMap<String, String>, bytes: Bytes) -> Asked {
        let header = |name: &str| headers.get(name).map(String::as_str);
        let (id, number) = header("idempotency-key").and_then(|key| key.rsplit_once('#')).unwrap_or_default();
        let step = header("x-step").unwrap_or_else(|| id.rsplit('/').next().unwrap_or_default()).to_string();
        let attempt = header("x-attempt").unwrap_or(number).parse().unwrap_or(1);
        let path = header("x-agent-path").unwrap_or_default().to_string();
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Asked { n, headers, bytes, body, path, step, attempt }
    }

    /// The idempotency key; empty when there is none.
    pub fn key(&self) -> &str {
        self.headers.get("idempotency-key").map_or("", String::as_str)
    }

    /// Whether a stream is asked for.
    pub fn stream(&self) -> bool {
        self.body.get("stream") == Some(&Value::Bool(true))
    }

    /// Digest of the body's bytes.
    pub fn digest(&self) -> Digest {
        deputize_core::digest::of_bytes(&self.bytes)
    }
}

/// What all connections share.
struct Shared {
    play: Play,
    models: Vec<String>,
    log: Log,
}

/// A running server; dropping it ends it and breaks its connections.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    abort: AbortHandle,
}

impl Server {
    /// Starts a server on 127.0.0.1.
    ///
    /// # Errors
    /// The port is taken, or the log file cannot be opened.
    pub async fn start(play: impl Into<Play>, options: Options) -> io::Result<Server> {
        let log = Log::open(options.log_file.as_deref(), options.keep_requests)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { play: play.into(), models: options.models, log });
        let task = tokio::spawn(serve::accept(listener, shared.clone()));
        let abort = task.abort_handle();
        Ok(Server { address, shared, task, abort })
    }

    /// The address for a provider's `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The access log so far.
    pub fn log(&self) -> Vec<Entry> {
        self.shared.log.entries()
    }

    /// The requests so far, whole.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.log.requests()
    }

    /// Why requests were answered 400, in order; empty when all kept to the protocol and the script had a line for each.
    pub fn rejected(&self) -> Vec<String> {
        self.shared.log.rejected()
    }

    /// Lines of the script that were never played; none for a function.
    pub fn leftovers(&self) -> Vec<String> {
        match &self.shared.play.0 {
            Source::Script(player) => player.leftovers(),
            Source::Function(_) => Vec::new(),
        }
    }

    /// Serves until the task is ended from outside.
    pub async fn wait(mut self) {
        // An error here is the abort of the task: then there is nothing left to wait for.
        (&mut self.task).await.ok();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

/// Serves a script until the process ends; `ready` is told the address once connections are accepted.
///
/// # Errors
/// The script cannot be read, the port is taken, or the log file cannot be opened.
pub async fn serve_forever(
    port: u16,
    script: &Path,
    log_file: Option<PathBuf>,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let script = Script::load(script).map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
    let options = Options { port, log_file, keep_requests: false, ..Options::default() };
    let server = Server::start(script, options).await?;
    ready(server.address());
    server.wait().await;
    Ok(())
}
