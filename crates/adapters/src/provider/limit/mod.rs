//! Limits of a provider, shared by everything in the process that calls it: calls at once, requests and tokens a minute,
//! and the gate that a provider closes when it says when it will take calls again. Owns waiting for a turn; the order is
//! the [`book`]'s, and what is tried again is the core's.

mod book;
mod shared;

pub use shared::Limiters;

use super::config::Limits;
use book::{Book, Ticket, Turn};
use deputize_core::code::{self, Code};
use deputize_core::context;
use deputize_core::id::Time;
use deputize_core::message::Request;
use deputize_core::step::{Failure, Retry};
use deputize_runtime::port::{Clock, Delta, Model, ModelFailure, Notice, Pending, Queued, Reply, Who};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// What is shared by all who call one provider.
pub(super) struct Limiter {
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    book: Book,
    /// The limits of every provider that was built and is still there.
    rules: Vec<Weak<Limits>>,
}

impl State {
    /// Of several limits for one provider the strictest holds.
    fn limits(&mut self) -> Limits {
        self.rules.retain(|rule| rule.strong_count() > 0);
        let rules = self.rules.iter().filter_map(Weak::upgrade);
        let strictest = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        rules.map(|rule| *rule).fold(Limits { concurrency: usize::MAX, ..Limits::default() }, |a, b| Limits {
            concurrency: a.concurrency.min(b.concurrency),
            requests_per_minute: strictest(a.requests_per_minute, b.requests_per_minute),
            tokens_per_minute: strictest(a.tokens_per_minute, b.tokens_per_minute),
        })
    }
}

impl Limiter {
    fn new(clock: Arc<dyn Clock>) -> Limiter {
        Limiter { clock, state: Mutex::default(), changed: Notify::new() }
    }
    /// The state is whole between any two lines that hold the lock, so a panic elsewhere does not spoil it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn change<T>(&self, change: impl FnOnce(&mut Book) -> T) -> T {
        let done = change(&mut self.state().book);
        self.changed.notify_waiters();
        done
    }
    fn turn(&self, ticket: Ticket, tokens: u64) -> Turn {
        let mut state = self.state();
        let limits = state.limits();
        state.book.turn(ticket, tokens, &limits, self.clock.now())
    }

    /// Waits for a turn. Dropping the future gives the place up.
    async fn enter(self: &Arc<Self>, name: &str, tokens: u64, queued: &Notice) -> Result<Pass, Failure> {
        let mut place = Place { limiter: self.clone(), ticket: self.state().book.join(), waiting: true };
        let mut said = false;
        loop {
            // Before the look: what changes after it is not missed.
            let changed = self.changed.notified();
            let (until, ahead) = match self.turn(place.ticket, tokens) {
                Turn::Go => break,
                Turn::Wait { until, ahead } => (until, ahead),
                Turn::Closed { rest, code } => return Err(refused(name, rest, code)),
            };
            if !std::mem::replace(&mut said, true) {
                queued(&Queued { provider: Arc::from(name), ahead, until });
            }
            // Without a moment something that is under way has to end first.
            match until {
                None => changed.await,
                Some(until) => tokio::select! {
                    () = changed => {}
                    () = self.clock.sleep_until(until) => {}
                },
            }
        }
        place.waiting = false;
        // Who is next in the queue may be let in, too.
        self.changed.notify_waiters();
        Ok(Pass { limiter: self.clone(), ticket: place.ticket, used: None, closes: None })
    }
}

fn refused(name: &str, rest: u64, code: Code) -> Failure {
    let why = format!(
        "`{name}` has said that it takes no calls for another {}: nothing was sent",
        shown(rest.div_ceil(1000).max(1))
    );
    Failure::passing(code, why, Some(rest))
}

fn shown(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A place in the queue.
struct Place {
    limiter: Arc<Limiter>,
    ticket: Ticket,
    waiting: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.waiting {
            self.limiter.change(|book| book.leave(self.ticket));
        }
    }
}

/// The right to one call; given back when it is dropped.
struct Pass {
    limiter: Arc<Limiter>,
    ticket: Ticket,
    /// Tokens, once they are known.
    used: Option<u64>,
    /// Until when the provider takes no calls.
    closes: Option<(Time, Code)>,
}

impl Pass {
    /// What the outcome says of tokens and of the gate.
    fn settle(&mut self, result: &Result<Reply, ModelFailure>) {
        match result {
            Ok(reply) => self.used = Some(reply.usage.tokens()),
            Err(ModelFailure { failure, usage }) => {
                let unknown = failure.retry == Retry::Ambiguous && usage.tokens() == 0;
                self.used = (!unknown).then(|| usage.tokens());
                let limited = [code::MODEL_RATE_LIMITED, code::MODEL_OVERLOADED].contains(&failure.code);
                if let Retry::After(Some(ms)) = failure.retry
                    && limited
                {
                    self.closes = Some((self.limiter.clock.now().plus(ms), failure.code.clone()));
                }
            }
        }
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let (used, closes) = (self.used, self.closes.take());
        // The gate first: nobody may slip in by the place that becomes free.
        self.limiter.change(|book| {
            if let Some((until, code)) = closes {
                book.close(until, code);
            }
            book.end(self.ticket, used);
        });
    }
}

/// A provider under its limits. Its time-outs begin when its turn has come.
pub(super) struct Limited {
    inner: Arc<dyn Model>,
    limiter: Arc<Limiter>,
    limits: Arc<Limits>,
    name: String,
}

impl Limited {
    async fn in_turn(&self, who: &Who, request: &Request, delta: Delta, queued: Notice) -> Result<Reply, ModelFailure> {
        let tokens = if self.limits.tokens_per_minute.is_some() { at_most(request) } else { request.max_output };
        let mut pass = self.limiter.enter(&self.name, tokens, &queued).await?;
        let result = self.inner.call(who, request, delta).await;
        pass.settle(&result);
        result
    }
}

/// What a call may use: an estimate of its input, and all of the output that it may have.
fn at_most(request: &Request) -> u64 {
    let mut bytes = Counter(0);
    // Fails only if the writer does.
    drop(serde_json::to_writer(&mut bytes, request));
    context::tokens(bytes.0).saturating_add(request.max_output)
}

/// Counts what is written to it.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Model for Limited {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        self.call_in_turn(who, request, delta, Arc::new(|_| {}))
    }
    fn call_in_turn<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
        queued: Notice,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(self.in_turn(who, request, delta, queued))
    }
}
