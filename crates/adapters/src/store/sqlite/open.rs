//! Opening the file: folder and file with their permissions, what the file is, the settings of a connection. Owns the
//! path; owns no statement on events.

use super::fault::{explain, is_busy};
use super::schema::{self, Kind};
use super::sync::Sync;
use deputize_runtime::port::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::fs::{DirBuilder, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection waits for another process. A commit takes milliseconds; this is for a disk that stalls.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two attempts at what SQLite does not wait for by itself.
const PAUSE: Duration = Duration::from_millis(10);
/// More than the number of different statements, so that none is prepared twice.
const STATEMENTS: usize = 32;
/// A write-ahead log that a burst has made larger than this is cut back at the next checkpoint.
const JOURNAL_LIMIT: i64 = 64 << 20;

/// One at a time inside this process: closing any descriptor of a file drops the process's POSIX locks on it, so the
/// file must not be created by one thread while another one has just opened it.
static OPENING: Mutex<()> = Mutex::new(());

/// How to open connections of one store.
#[derive(Clone, Debug)]
pub(super) struct Opener {
    /// The file.
    pub(super) path: PathBuf,
    /// What a commit waits for.
    pub(super) sync: Sync,
}

impl Opener {
    /// Makes the file if there is none, refuses what is no store of ours, brings an older store up to date, and returns
    /// the connection that writes.
    pub(super) fn first(&self) -> Result<Connection, StoreError> {
        let _turn = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
        create(&self.path)?;
        let kind = self.inspect()?;
        let mut conn = self.writer()?;
        if kind != Kind::Ours(schema::VERSION) {
            schema::migrate(&mut conn).map_err(|e| explain(&self.path, &e))?;
        }
        Ok(conn)
    }

    /// A connection that writes, on a file that is there.
    pub(super) fn writer(&self) -> Result<Connection, StoreError> {
        self.retry(|| {
            let conn = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            // Counts for a file that is being made, and for the next whole VACUUM: free pages can then be given back a
            // few at a time, in nobody's way.
            conn.pragma_update(None, "auto_vacuum", "incremental")?;
            let mode: String = conn.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
            conn.pragma_update(None, "synchronous", self.sync.word())?;
            // Where fsync alone does not reach the platter (macOS); elsewhere these change nothing.
            conn.pragma_update(None, "fullfsync", self.sync == Sync::Full)?;
            conn.pragma_update(None, "checkpoint_fullfsync", true)?;
            conn.pragma_update(None, "foreign_keys", true)?;
            conn.pragma_update_and_check(None, "journal_size_limit", JOURNAL_LIMIT, |_| Ok(()))?;
            Ok((conn, mode))
        })
        .and_then(|(conn, mode)| match mode.as_str() {
            "wal" => Ok(conn),
            _ => Err(StoreError::Failed(format!(
                "the file system of {} has no shared memory for a write-ahead log: keep the store on a local disk",
                self.path.display()
            ))),
        })
    }

    /// A connection that reads.
    pub(super) fn reader(&self) -> rusqlite::Result<Connection> {
        self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)
    }

    fn connect(&self, mode: OpenFlags) -> rusqlite::Result<Connection> {
        // No URI flag: a path may hold any character. No mutex: a connection is used by one thread at a time.
        let conn = Connection::open_with_flags(&self.path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        conn.busy_timeout(PATIENCE)?;
        conn.set_prepared_statement_cache_capacity(STATEMENTS);
        Ok(conn)
    }

    /// Refuses a file that is not ours or too new, by a connection that cannot write.
    fn inspect(&self) -> Result<Kind, StoreError> {
        // In one transaction, so that a file that another process is just making is seen either before or after.
        let kind = self.retry(|| schema::kind(&*self.reader()?.unchecked_transaction()?))?;
        let path = self.path.display();
        match kind {
            Kind::Ours(found) if found > schema::VERSION => {
                Err(StoreError::Newer { path: path.to_string(), found, known: schema::VERSION })
            }
            Kind::Foreign => {
                let text = format!("{path} is no store but a database of another program; it was left as it is");
                Err(StoreError::Failed(text))
            }
            Kind::Empty | Kind::Ours(_) => Ok(kind),
        }
    }

    /// Some locks (the change to a write-ahead log, its recovery) fail at once where others wait.
    fn retry<T>(&self, attempt: impl Fn() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let start = Instant::now();
        loop {
            match attempt() {
                Ok(done) => return Ok(done),
                Err(e) if is_busy(&e) && start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(e) => return Err(explain(&self.path, &e)),
            }
        }
    }
}

/// Makes the folder (0700) and the file (0600; SQLite gives its side files the same mode) where they are missing.
fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |what: &Path, e: std::io::Error| {
        let hint = match e.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ": the folder is read-only for this user",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ": the disk is full",
            _ => "",
        };
        StoreError::Failed(format!("{} cannot be created for the store{hint} ({e})", what.display()))
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| failed(folder, e))?;
    }
    // Never opens a file that is there, for the sake of its locks (see OPENING).
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => {
            // Asked for by name, which opens nothing. What cannot be looked at is left to SQLite to refuse.
            let other = path.metadata().is_ok_and(|found| !found.is_file());
            if other {
                Err(StoreError::Failed(format!("{} is no file, so it is no store", path.display())))
            } else {
                Ok(())
            }
        }
        Err(e) => Err(failed(path, e)),
    }
}
