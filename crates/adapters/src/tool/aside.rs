//! Runs file work on a thread of its own and lets it stop soon after nobody waits for it any more.

use deputize_core::code;
use deputize_core::step::Failure;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that long work looks at.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Fails when the work is to stop.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
    /// As [`Stop::check`], for work that reports failures.
    pub(super) fn failing(&self) -> Result<(), Failure> {
        self.check().map_err(|_| Failure::fixed(code::STEP_STOPPED, "the call was stopped"))
    }
}

/// Raises the flag when the waiting future is dropped; once the work is done nobody looks at it any more.
struct Raise(Stop);

impl Drop for Raise {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Performs blocking work. Dropping the future tells the work to stop and does not wait for it.
pub(super) async fn aside<T: Send + 'static>(
    work: impl FnOnce(&Stop) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let stop = Stop::default();
    let _raise = Raise(stop.clone());
    let done = tokio::task::spawn_blocking(move || work(&stop)).await;
    done.unwrap_or_else(|broken| Err(Failure::fixed(code::TOOL_PANICKED, format!("the tool broke down: {broken}"))))
}

/// A flag that is already raised.
#[cfg(test)]
pub(super) fn stopped() -> Stop {
    Stop(Arc::new(AtomicBool::new(true)))
}

#[cfg(test)]
mod tests;
