//! A fault of the program itself: said in one sentence like every other error, never as a dump of what it was doing.

use crate::exit::Exit;
use crate::fault::Fault;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Mutex, OnceLock};

/// Where the last panic was.
static PLACE: OnceLock<Mutex<String>> = OnceLock::new();

/// Does the work; what breaks down in it becomes an error. Panics of tasks are outcomes of their steps, so nothing is
/// printed where they happen: a message could quote what a model said.
pub(crate) fn guarded(work: impl FnOnce() -> Result<Exit, Fault>) -> Result<Exit, Fault> {
    std::panic::set_hook(Box::new(|info| remember(info.location())));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(broken()))
}

fn remember(location: Option<&Location<'_>>) {
    let place = location.map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
    if let Ok(mut held) = PLACE.get_or_init(Mutex::default).lock() {
        *held = place;
    }
}

fn broken() -> Fault {
    let place = PLACE.get().and_then(|place| place.lock().ok()).map(|place| place.clone()).unwrap_or_default();
    Fault::new("internal.broken", format!("the program broke down at {place}: this is a fault of deputize itself"))
        .hint("what was recorded is intact, and an interrupted run can be resumed; please report the place")
}

#[cfg(test)]
mod tests;
