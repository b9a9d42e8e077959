//! The clock of the runtime: tokio's, so that a paused runtime is a virtual clock and nothing else has to know.

use crate::port::{Clock, Pending};
use deputize_core::id::Time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Wall time at its making, then as tokio's clock goes.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    base: Time,
    from: Instant,
}

impl TokioClock {
    /// Starts at the system's time.
    pub fn system() -> TokioClock {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
        TokioClock::at(Time(u64::try_from(now).unwrap_or(u64::MAX)))
    }
    /// Starts at a given moment.
    pub fn at(base: Time) -> TokioClock {
        TokioClock { base, from: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Time {
        self.base.plus(u64::try_from(self.from.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
    fn sleep_until(&self, at: Time) -> Pending<'static, ()> {
        // A moment too far for the timer is taken as a day; who waits for it looks at the clock again.
        let wait = Duration::from_millis(at.since(self.base).min(u64::MAX / 4));
        let deadline = self.from.checked_add(wait).unwrap_or_else(|| self.from + Duration::from_secs(86_400));
        Box::pin(tokio::time::sleep_until(deadline))
    }
}
