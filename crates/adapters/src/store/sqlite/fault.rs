//! What SQLite says, in sentences for the person who has to do something about it. Owns the messages and which errors
//! end a connection; owns no connection.

use deputize_runtime::port::StoreError;
use rusqlite::{ErrorCode, ffi};
use std::path::Path;

/// Why a piece of work inside a transaction was not done.
#[derive(Debug)]
pub(super) enum Fault {
    /// The store's own rules say no: the work is undone, its neighbours go on.
    Refused(StoreError),
    /// SQLite says no.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Fault {
        Fault::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Fault {
        Fault::Refused(error)
    }
}

impl Fault {
    /// As the error that a caller gets.
    pub(super) fn explain(self, path: &Path) -> StoreError {
        match self {
            Fault::Refused(error) => error,
            Fault::Sql(error) => explain(path, &error),
        }
    }
}

/// Whether another process holds the file: nothing is wrong with the connection.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Whether only the one piece of work that met this error is to blame: too large, or against a constraint.
pub(super) fn is_own_fault(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::TooBig | ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch),
        // Raised by the Rust side, before SQLite was asked.
        None => true,
    }
}

/// On a full disk the shared index beside the file cannot grow, which SQLite calls an I/O error.
fn no_room_for_side_file(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|e| e.extended_code == ffi::SQLITE_IOERR_SHMSIZE)
}

/// The sentence for an error of SQLite.
pub(super) fn explain(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.display();
    let text = match error.sqlite_error_code() {
        Some(code) if code == ErrorCode::DiskFull || no_room_for_side_file(error) => {
            format!("the disk is full: nothing more can be written to the store {path}; free some space and resume")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            format!("the store {path} cannot be written: the file or its folder is read-only for this user")
        }
        Some(ErrorCode::CannotOpen) => {
            format!("the store {path} cannot be opened: its folder must exist and be writable for this user")
        }
        Some(ErrorCode::NotADatabase) => {
            format!("{path} is no store: the file is no SQLite database; it was left as it is")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            format!("another process keeps the store {path} locked")
        }
        Some(ErrorCode::SystemIoFailure) => {
            format!("the disk or the file system failed under the store {path} ({error}); nothing was written")
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            format!(
                "the store {path} is damaged ({error}): restore it from a copy, or save what `sqlite3 .recover` gives"
            )
        }
        Some(ErrorCode::TooBig) => format!("this is too large for one record of the store {path} (1 GB)"),
        _ => format!("the store {path}: {error}"),
    };
    StoreError::Failed(text)
}

#[cfg(test)]
mod tests;
