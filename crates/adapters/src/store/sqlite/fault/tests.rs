//! Tests of the messages: what a person has to know is in them.

use super::{explain, is_busy, is_own_fault};
use rusqlite::ffi;
use std::path::Path;

fn error(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn messages_say_what_is_wrong_and_where() {
    for (code, words) in [
        (ffi::SQLITE_FULL, "disk is full"),
        (ffi::SQLITE_IOERR_SHMSIZE, "disk is full"),
        (ffi::SQLITE_READONLY, "read-only"),
        (ffi::SQLITE_READONLY_DIRECTORY, "read-only"),
        (ffi::SQLITE_PERM, "read-only"),
        (ffi::SQLITE_CANTOPEN, "cannot be opened"),
        (ffi::SQLITE_NOTADB, "no SQLite database"),
        (ffi::SQLITE_BUSY, "another process"),
        (ffi::SQLITE_IOERR_FSYNC, "file system failed"),
        (ffi::SQLITE_CORRUPT, "damaged"),
        (ffi::SQLITE_TOOBIG, "too large"),
        (ffi::SQLITE_MISUSE, "the store"),
    ] {
        let text = explain(Path::new("/some/store.db"), &error(code)).to_string();
        assert!(text.contains(words) && text.contains("/some/store.db"), "{text}");
    }
}

#[test]
fn only_a_jobs_own_errors_spare_its_neighbours() {
    for code in [ffi::SQLITE_FULL, ffi::SQLITE_IOERR, ffi::SQLITE_CORRUPT, ffi::SQLITE_NOMEM, ffi::SQLITE_READONLY] {
        assert!(!is_own_fault(&error(code)));
    }
    assert!(is_own_fault(&error(ffi::SQLITE_TOOBIG)));
    assert!(is_own_fault(&error(ffi::SQLITE_CONSTRAINT_UNIQUE)));
    assert!(is_own_fault(&rusqlite::Error::QueryReturnedNoRows));
    assert!(is_busy(&error(ffi::SQLITE_BUSY_SNAPSHOT)) && !is_busy(&error(ffi::SQLITE_FULL)));
}
