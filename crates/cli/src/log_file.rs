//! The file of `--log-file`: every message with its moment, whatever the screen is told. Appended to, readable by its owner
//! alone.

use crate::fault::Fault;
use deputize_api::rfc3339;
use deputize_core::id::Time;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

/// The open file.
pub(crate) struct LogFile(Mutex<File>);

impl LogFile {
    /// Opens it at its end, and makes it where it is not.
    pub(crate) fn open(path: &Path) -> Result<LogFile, Fault> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.map_err(|e| {
            Fault::new("output.log_file", format!("{} cannot be written: {e}", path.display()))
                .hint("name another file with --log-file FILE")
        })?;
        Ok(LogFile(Mutex::new(file)))
    }
    /// Writes each line with the moment before it.
    pub(crate) fn write(&self, text: &str) {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = rfc3339(Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)));
        let lines: String = text.lines().map(|line| format!("{now} {line}\n")).collect();
        // A log that cannot be written any more never ends a run.
        if let Ok(mut file) = self.0.lock() {
            drop(file.write_all(lines.as_bytes()));
        }
    }
}
