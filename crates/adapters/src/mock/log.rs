//! The access log: in memory, and in a file that is complete even if the process is killed.

use super::Asked;
use deputize_core::id::Digest;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One request in the access log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1.
    pub n: u64,
    /// The path of the request.
    pub path: String,
    /// The idempotency key: run, step and attempt.
    pub key: String,
    /// The agent's path.
    pub agent: String,
    /// SHA-256 of the body.
    pub digest: Digest,
    /// The status of the answer; null when there is none.
    pub status: Option<u16>,
    /// Whether a stream was asked for.
    pub stream: bool,
}

pub(super) struct Log {
    inner: Mutex<Inner>,
    keep: bool,
}

struct Inner {
    next: u64,
    entries: Vec<Entry>,
    requests: Vec<Asked>,
    rejected: Vec<String>,
    file: Option<File>,
}

impl Log {
    pub(super) fn open(file: Option<&Path>, keep: bool) -> io::Result<Log> {
        let file = file.map(|path| OpenOptions::new().create(true).append(true).open(path)).transpose()?;
        let (entries, requests, rejected) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Log { inner: Mutex::new(Inner { next: 1, entries, requests, rejected, file }), keep })
    }

    /// The number of a new request.
    pub(super) fn number(&self) -> u64 {
        let mut inner = self.inner();
        let n = inner.next;
        inner.next += 1;
        n
    }

    /// Notes a request and what it is answered, before it is.
    pub(super) fn note(&self, asked: Asked, status: Option<u16>, rejected: Option<String>) -> io::Result<()> {
        let entry = Entry {
            n: asked.n,
            path: "/v1/chat/completions".to_string(),
            key: asked.key().to_string(),
            agent: asked.path.clone(),
            digest: asked.digest(),
            status,
            stream: asked.stream(),
        };
        let mut inner = self.inner();
        if let Some(file) = &mut inner.file {
            let mut line = serde_json::to_vec(&entry)?;
            line.push(b'\n');
            // One write to an unbuffered file: once it returns, the line outlives this process.
            file.write_all(&line)?;
        }
        inner.entries.push(entry);
        inner.rejected.extend(rejected);
        if self.keep {
            inner.requests.push(asked);
        }
        Ok(())
    }

    pub(super) fn entries(&self) -> Vec<Entry> {
        self.inner().entries.clone()
    }

    pub(super) fn requests(&self) -> Vec<Asked> {
        self.inner().requests.clone()
    }

    pub(super) fn rejected(&self) -> Vec<String> {
        self.inner().rejected.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
