//! The writer: one thread that owns the one connection that writes, and the group commit. Owns the queue, the
//! transaction around a group and what happens when a commit fails; owns no statement on a table.

use super::fault::{self, Fault, explain};
use super::open::Opener;
use deputize_runtime::port::StoreError;
use rusqlite::Connection;
use std::thread::JoinHandle;
use tokio::sync::{mpsc, oneshot};

/// Jobs that may wait; a submitter waits beyond that. Several groups, so that the thread never runs dry under load.
const QUEUE: usize = 1024;
/// Jobs of one commit: enough to share the cost of a sync, few enough that none waits long.
const GROUP_JOBS: usize = 256;
/// Bytes after which no further job joins a commit.
const GROUP_BYTES: usize = 1 << 20;

/// The thread and the way to it. Dropping it lets the thread finish what has been submitted, and waits for that.
pub(super) struct Writer {
    opener: Opener,
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread with an open connection.
    pub(super) fn start(opener: Opener, conn: Connection) -> Result<Writer, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE);
        let desk = Desk { opener: opener.clone(), conn: Some(conn) };
        let thread = std::thread::Builder::new()
            .name("deputize-store".into())
            .spawn(move || desk.run(jobs))
            .map_err(|e| StoreError::Failed(format!("the thread that writes the store cannot start: {e}")))?;
        Ok(Writer { opener, queue: Some(queue), thread: Some(thread) })
    }

    /// How its connection is opened.
    pub(super) fn opener(&self) -> &Opener {
        &self.opener
    }

    /// Has work done inside a transaction, with the work of others; returns when it is durable. Once submitted the work
    /// is done even if this future is dropped. `bytes` is about what it writes.
    pub(super) async fn submit<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Work { opener: self.opener.clone(), bytes, work: Some(work), result: None, reply };
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(Box::new(job)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

fn gone() -> StoreError {
    StoreError::Failed("the thread that writes the store has ended".into())
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // The thread has no result, and a panic of it has been printed by the panic hook.
            drop(thread.join());
        }
    }
}

/// What became of a job inside its savepoint.
enum Step {
    /// To be kept.
    Keep,
    /// To be undone; the job knows why.
    Undo,
}

/// A piece of work with somebody waiting for it.
trait Job: Send {
    fn bytes(&self) -> usize;
    /// Does the work. An error ends the whole group.
    fn perform(&mut self, conn: &Connection) -> Result<Step, rusqlite::Error>;
    /// Tells the submitter, with the error of the whole group if there is one.
    fn finish(self: Box<Self>, group: Result<(), StoreError>);
}

struct Work<F, T> {
    opener: Opener,
    bytes: usize,
    work: Option<F>,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnOnce(&Connection) -> Result<T, Fault> + Send> Job for Work<F, T> {
    fn bytes(&self) -> usize {
        self.bytes
    }

    fn perform(&mut self, conn: &Connection) -> Result<Step, rusqlite::Error> {
        let Some(work) = self.work.take() else { return Ok(Step::Undo) };
        let refused = match work(conn) {
            Ok(value) => {
                self.result = Some(Ok(value));
                return Ok(Step::Keep);
            }
            // Some errors have rolled the whole transaction back already.
            Err(Fault::Sql(e)) if conn.is_autocommit() || !fault::is_own_fault(&e) => return Err(e),
            Err(fault) => fault.explain(&self.opener.path),
        };
        self.result = Some(Err(refused));
        Ok(Step::Undo)
    }

    fn finish(self: Box<Self>, group: Result<(), StoreError>) {
        let result = match (group, self.result) {
            // What the store's rules refused stays refused, however the group fared.
            (_, Some(Err(refused))) => Err(refused),
            (Err(failed), _) => Err(failed),
            (Ok(()), Some(done)) => done,
            (Ok(()), None) => Err(gone()),
        };
        // A submitter that no longer waits is no fault.
        drop(self.reply.send(result));
    }
}

/// The thread's side.
struct Desk {
    opener: Opener,
    /// None after a failed commit: what SQLite has in memory can no longer be trusted, the file can.
    conn: Option<Connection>,
}

impl Desk {
    fn run(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>) {
        while let Some(first) = jobs.blocking_recv() {
            let mut group = vec![first];
            let mut bytes = group.iter().map(|job| job.bytes()).sum::<usize>();
            while group.len() < GROUP_JOBS && bytes < GROUP_BYTES {
                let Ok(next) = jobs.try_recv() else { break };
                bytes = bytes.saturating_add(next.bytes());
                group.push(next);
            }
            let result = self.settle(&mut group);
            for job in group {
                job.finish(result.clone());
            }
        }
    }

    /// Does a group in one transaction. On success all that was not refused is durable, else nothing is there.
    fn settle(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        let conn = match self.conn.take() {
            Some(conn) => conn,
            None => self.opener.writer()?,
        };
        if let Err(e) = conn.execute_batch("BEGIN IMMEDIATE") {
            if fault::is_busy(&e) {
                self.conn = Some(conn);
            }
            return Err(explain(&self.opener.path, &e));
        }
        // On an error the connection is dropped here, which rolls back.
        commit(&conn, group).map_err(|e| explain(&self.opener.path, &e))?;
        self.conn = Some(conn);
        Ok(())
    }
}

fn commit(conn: &Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    for job in group {
        conn.prepare_cached("SAVEPOINT job")?.execute([])?;
        if matches!(job.perform(conn)?, Step::Undo) {
            conn.prepare_cached("ROLLBACK TO job")?.execute([])?;
        }
        conn.prepare_cached("RELEASE job")?.execute([])?;
    }
    conn.execute_batch("COMMIT")
}
