//! Signals that ask the process to end: Ctrl-C, SIGTERM, SIGHUP. Owns how they are heard, not what is done then.

use crate::fault::Fault;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for as long as it lives.
pub(crate) struct Interrupts {
    int: Signal,
    term: Signal,
    hangup: Signal,
    background: bool,
}

impl Interrupts {
    /// `background`: the terminal it came from may go away.
    pub(crate) fn listen(background: bool) -> Result<Interrupts, Fault> {
        let on = |kind| signal(kind).map_err(|e| Fault::new("system.signals", format!("signals cannot be heard: {e}")));
        let int = on(SignalKind::interrupt())?;
        let (term, hangup) = (on(SignalKind::terminate())?, on(SignalKind::hangup())?);
        Ok(Interrupts { int, term, hangup, background })
    }
    /// Returns when one arrives.
    pub(crate) async fn next(&mut self) {
        loop {
            tokio::select! {
                _ = self.int.recv() => return,
                _ = self.term.recv() => return,
                _ = self.hangup.recv() => {}
            }
            if !self.background {
                return;
            }
        }
    }
}
