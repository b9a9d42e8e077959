//! Processes that the proof starts: the same program again. Owns that none of them outlives it.

use crate::fault::Fault;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often a condition is looked at.
const LOOK: Duration = Duration::from_millis(3);
/// Bytes at the end of a process's messages that are shown when it fails.
const SHOWN: usize = 4_000;

/// A process; dropping it kills it.
pub(super) struct Process {
    child: Child,
    /// Where its results go.
    results: PathBuf,
    /// Where its messages go.
    messages: PathBuf,
}

impl Process {
    /// Starts this program with these arguments; what it says goes to files of this name in the folder.
    pub(super) fn start(words: &[&str], folder: &Path, name: &str) -> Result<Process, Fault> {
        let failed = |e: std::io::Error| Fault::new("demo.process", format!("a process cannot be started: {e}"));
        let program = std::env::current_exe().map_err(failed)?;
        let (results, messages) = (folder.join(format!("{name}.out")), folder.join(format!("{name}.log")));
        let (out, log) = (File::create(&results).map_err(failed)?, File::create(&messages).map_err(failed)?);
        let mut command = Command::new(program);
        command.args(words).current_dir(folder).stdin(Stdio::piped()).stdout(out).stderr(log);
        // The server is on this machine: no proxy has a part in it.
        command.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1");
        Ok(Process { child: command.spawn().map_err(failed)?, results, messages })
    }
    /// The first line of its results.
    pub(super) async fn first_line(&mut self, guard: Duration) -> Result<String, Fault> {
        let results = self.results.clone();
        let read = move || std::fs::read_to_string(&results).unwrap_or_default();
        self.until(guard, || read().contains('\n')).await?;
        Ok(read().lines().next().unwrap_or_default().to_string())
    }
    /// Waits until a condition holds; an error if the process ends before, or in all this time.
    pub(super) async fn until(&mut self, guard: Duration, holds: impl Fn() -> bool) -> Result<(), Fault> {
        let start = std::time::Instant::now();
        while !holds() {
            if let Some(status) = self.ended()? {
                return Err(self.broke(&format!("ended too early ({status})")));
            }
            if start.elapsed() > guard {
                return Err(self.broke("did not get there in time"));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
    /// Waits for its end.
    pub(super) async fn end(&mut self, guard: Duration) -> Result<ExitStatus, Fault> {
        let start = std::time::Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if start.elapsed() > guard {
                return Err(self.broke("did not end in time"));
            }
            tokio::time::sleep(LOOK).await;
        }
    }
    /// SIGKILL, and waits until it is gone.
    pub(super) fn kill(mut self) {
        self.stop();
    }
    /// What went wrong with it, with the end of its messages.
    pub(super) fn broke(&self, what: &str) -> Fault {
        let said = std::fs::read_to_string(&self.messages).unwrap_or_default();
        let from = said.char_indices().rev().nth(SHOWN).map_or(0, |(at, _)| at);
        let tail = said.get(from..).unwrap_or_default();
        Fault::new("demo.process", format!("process {} {what}; it said:\n{}", self.child.id(), tail.trim_end()))
    }
    fn ended(&mut self) -> Result<Option<ExitStatus>, Fault> {
        self.child.try_wait().map_err(|e| Fault::new("demo.process", format!("a process cannot be watched: {e}")))
    }
    fn stop(&mut self) {
        // Both fail only when it is gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
    }
}
