//! Signals that ask the process to end: Ctrl-C, SIGTERM, SIGHUP. Owns how they are heard, not what is done then.

use crate::fault::Fault;
use std::future::pending;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for as long as it lives.
pub(crate) struct Interrupts {
    int: Option<Signal>,
    term: Option<Signal>,
    hangup: Option<Signal>,
    background: bool,
}

impl Interrupts {
    /// `background`: the terminal it came from may go away.
    pub(crate) fn listen(background: bool) -> Result<Interrupts, Fault> {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let on = |kind: SignalKind| {
            // Whoever started the process (nohup, a script's `&`) wants it to live through this one.
            if ignored(&status, kind) {
                return Ok(None);
            }
            let heard = signal(kind).map(Some);
            heard.map_err(|e| Fault::new("system.signals", format!("signals cannot be heard: {e}")))
        };
        let int = on(SignalKind::interrupt())?;
        let (term, hangup) = (on(SignalKind::terminate())?, on(SignalKind::hangup())?);
        Ok(Interrupts { int, term, hangup, background })
    }
    /// Returns when one arrives.
    pub(crate) async fn next(&mut self) {
        loop {
            tokio::select! {
                () = heard(&mut self.int) => return,
                () = heard(&mut self.term) => return,
                () = heard(&mut self.hangup) => {}
            }
            if !self.background {
                return;
            }
        }
    }
}

async fn heard(signal: &mut Option<Signal>) {
    let arrived = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if arrived.is_none() {
        pending().await
    }
}

/// Whether a signal was ignored when the process began, as Linux tells it; elsewhere nothing is known and it was not.
fn ignored(status: &str, kind: SignalKind) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let bit = u32::try_from(kind.as_raw_value() - 1).ok();
    bit.and_then(|bit| mask.checked_shr(bit)).is_some_and(|shifted| shifted & 1 == 1)
}
