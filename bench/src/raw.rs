//! The limit of any log: a plain file, appended to by one thread that takes what is waiting, writes it at once, makes it
//! durable with one `fdatasync` and tells those who wait. The same hand-over and the same group limits as the SQLite store.

use crate::measure::Fault;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

const QUEUE: usize = 1024;
const GROUP: usize = 256;

struct Job {
    bytes: Vec<u8>,
    reply: oneshot::Sender<bool>,
}

/// An open file and its thread.
pub(crate) struct RawLog {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).append(true).open(path)
}

impl RawLog {
    pub(crate) fn open(path: &Path) -> Result<RawLog, Fault> {
        let file = open(path)?;
        let (queue, jobs) = mpsc::channel(QUEUE);
        let thread = std::thread::Builder::new().name("raw-log".into()).spawn(move || serve(file, jobs))?;
        Ok(RawLog { queue: Some(queue), thread: Some(thread) })
    }

    /// Returns when the bytes are durable.
    pub(crate) async fn append(&self, bytes: Vec<u8>) -> Result<(), Fault> {
        let (reply, done) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or("the raw log is closed")?;
        queue.send(Job { bytes, reply }).await.map_err(|_| "the raw log has ended")?;
        if done.await? { Ok(()) } else { Err("the raw log cannot be written".into()) }
    }
}

impl Drop for RawLog {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // The thread has no result.
            drop(thread.join());
        }
    }
}

fn serve(mut file: File, mut jobs: mpsc::Receiver<Job>) {
    let mut bytes = Vec::new();
    while let Some(first) = jobs.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP {
            let Ok(next) = jobs.try_recv() else { break };
            group.push(next);
        }
        bytes.clear();
        group.iter().for_each(|job| bytes.extend_from_slice(&job.bytes));
        let good = file.write_all(&bytes).and_then(|()| file.sync_data()).is_ok();
        for job in group {
            // Who no longer waits needs no answer.
            job.reply.send(good).ok();
        }
    }
}

/// Without any hand-over: one thread that writes and syncs one record after the other.
pub(crate) struct Direct(File);

impl Direct {
    pub(crate) fn open(path: &Path) -> Result<Direct, Fault> {
        Ok(Direct(open(path)?))
    }
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.0.write_all(bytes)?;
        Ok(self.0.sync_data()?)
    }
}
