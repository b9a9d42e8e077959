//! A server that answers what a test says, byte for byte, and keeps what it was asked. Knows nothing of any provider.

use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;

/// What follows the last piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The proper end.
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing, for ever.
    Stall,
}

/// One answer.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) pieces: Vec<Vec<u8>>,
    pub(crate) end: End,
}

impl Given {
    /// A whole body of this type.
    pub(crate) fn body(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Given {
        let headers = vec![("content-type", kind.to_string())];
        Given { status, headers, pieces: vec![body.into()], end: End::Whole }
    }
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Given {
        self.headers.push((name, value.into()));
        self
    }
}

/// One request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) text: String,
    pub(crate) body: Value,
}

pub(crate) struct Fake {
    address: String,
    sent: Arc<Mutex<Vec<Sent>>>,
    abort: AbortHandle,
}

impl Fake {
    /// A server that gives these answers in order, and the last of them for ever.
    pub(crate) async fn start(answers: Vec<Given>) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let sent: Arc<Mutex<Vec<Sent>>> = Arc::default();
        let kept = sent.clone();
        let task = tokio::spawn(async move {
            let mut answers: VecDeque<Given> = answers.into();
            let mut open = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let next = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                open.spawn(serve(stream, next.unwrap(), kept.clone()));
            }
        });
        Fake { address, sent, abort: task.abort_handle() }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.abort.abort();
    }
}

async fn serve(mut stream: TcpStream, given: Given, sent: Arc<Mutex<Vec<Sent>>>) {
    stream.set_nodelay(true).unwrap();
    let mut bytes = Vec::new();
    let request = loop {
        match whole(&bytes) {
            Some(request) => break request,
            // The client gave up before it had said all.
            None if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 => return,
            None => {}
        }
    };
    sent.lock().unwrap().push(request);
    let mut head = format!("HTTP/1.1 {} Said\r\nconnection: close\r\ntransfer-encoding: chunked\r\n", given.status);
    for (name, value) in &given.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    // Whoever has heard enough hangs up: no failure of the server's.
    let _ = write(&mut stream, head.as_bytes()).await;
    for piece in given.pieces.iter().filter(|piece| !piece.is_empty()) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        let _ = write(&mut stream, &chunk).await;
    }
    match given.end {
        End::Whole => drop(write(&mut stream, b"0\r\n\r\n").await),
        End::Cut => {}
        End::Stall => std::future::pending().await,
    }
}

async fn write(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await?;
    tokio::task::yield_now().await;
    Ok(())
}

/// The request, if all of it is there.
fn whole(bytes: &[u8]) -> Option<Sent> {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let target = lines.next()?.split(' ').nth(1)?.to_string();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_string()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    if body.len() < length {
        return None;
    }
    let json = serde_json::from_str(body).unwrap_or_default();
    Some(Sent { target, headers, text: body.to_string(), body: json })
}
