//! Who may call a provider now, and who when: a pure state machine over moments that it is told. Owns order, counts and
//! the gate; does not own waiting, clocks or locks.

use crate::provider::config::Limits;
use deputize_core::code::Code;
use deputize_core::id::Time;
use std::collections::VecDeque;

/// What is counted is counted over so many milliseconds before each moment, so that no minute holds too much.
const MINUTE: u64 = 60_000;
/// A gate that opens within so many milliseconds is waited for; who would have to wait longer is told so at once.
pub(super) const NEAR: u64 = 60_000;

/// A place in the order of arrival.
pub(super) type Ticket = u64;

/// What a caller may do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Call; [`Book::end`] is due afterwards.
    Go,
    /// Ask again when something has changed, and at this moment if one is known.
    Wait {
        /// When it is known that something changes.
        until: Option<Time>,
        /// Callers before this one.
        ahead: usize,
    },
    /// Go away: the provider takes no calls for so many milliseconds.
    Closed {
        /// Milliseconds.
        rest: u64,
        /// What it had said.
        code: Code,
    },
}

/// Tokens that a call takes, from its start.
struct Taken {
    at: Time,
    ticket: Ticket,
    tokens: u64,
}

/// The provider's word that it takes no calls.
struct Closed {
    until: Time,
    code: Code,
}

/// The state of one provider.
#[derive(Default)]
pub(super) struct Book {
    next: Ticket,
    queue: VecDeque<Ticket>,
    under_way: usize,
    started: VecDeque<Time>,
    taken: VecDeque<Taken>,
    closed: Option<Closed>,
}

impl Book {
    /// Takes a place at the end of the queue.
    pub(super) fn join(&mut self) -> Ticket {
        self.next += 1;
        self.queue.push_back(self.next);
        self.next
    }
    /// Gives the place up, wherever in the queue it is.
    pub(super) fn leave(&mut self, ticket: Ticket) {
        self.queue.retain(|waiting| *waiting != ticket);
    }
    /// What the holder of a place may do now. `tokens`: what the call may use at most.
    pub(super) fn turn(&mut self, ticket: Ticket, tokens: u64, limits: &Limits, now: Time) -> Turn {
        self.forget(now);
        let ahead = self.queue.iter().take_while(|waiting| **waiting != ticket).count();
        if let Some(closed) = &self.closed {
            let rest = closed.until.since(now);
            if rest > NEAR {
                return Turn::Closed { rest, code: closed.code.clone() };
            }
            return Turn::Wait { until: Some(closed.until), ahead };
        }
        if ahead > 0 || self.under_way >= limits.concurrency.max(1) {
            return Turn::Wait { until: None, ahead };
        }
        let free = [self.request_free(limits), self.tokens_free(tokens, limits)].into_iter().flatten().max();
        if let Some(until) = free {
            return Turn::Wait { until: Some(until), ahead };
        }
        self.leave(ticket);
        self.under_way += 1;
        if limits.requests_per_minute.is_some() {
            self.started.push_back(now);
        }
        if let Some(most) = limits.tokens_per_minute {
            self.taken.push_back(Taken { at: now, ticket, tokens: tokens.min(most) });
        }
        Turn::Go
    }
    /// A call is over. `used`: its tokens; when they are not known the whole reservation stays.
    pub(super) fn end(&mut self, ticket: Ticket, used: Option<u64>) {
        self.under_way = self.under_way.saturating_sub(1);
        let own = self.taken.iter_mut().find(|taken| taken.ticket == ticket);
        if let (Some(taken), Some(used)) = (own, used) {
            taken.tokens = used;
        }
    }
    /// The provider takes no calls until then. What it said before holds if that is later.
    pub(super) fn close(&mut self, until: Time, code: Code) {
        if self.closed.as_ref().is_none_or(|closed| closed.until < until) {
            self.closed = Some(Closed { until, code });
        }
    }

    /// Drops what no longer counts.
    fn forget(&mut self, now: Time) {
        let old = |at: Time| at.plus(MINUTE) <= now;
        while self.started.front().is_some_and(|at| old(*at)) {
            self.started.pop_front();
        }
        while self.taken.front().is_some_and(|taken| old(taken.at)) {
            self.taken.pop_front();
        }
        self.closed.take_if(|closed| closed.until <= now);
    }
    /// When a further request fits; none: now.
    fn request_free(&self, limits: &Limits) -> Option<Time> {
        let most = usize::try_from(limits.requests_per_minute?).unwrap_or(usize::MAX).max(1);
        let too_many = self.started.len().checked_sub(most)?;
        self.started.get(too_many).map(|at| at.plus(MINUTE))
    }
    /// When so many further tokens fit; none: now. A call that needs more than a minute's worth goes when it is alone.
    fn tokens_free(&self, tokens: u64, limits: &Limits) -> Option<Time> {
        let most = limits.tokens_per_minute?;
        let room = most.saturating_sub(tokens.min(most));
        let mut held: u64 = self.taken.iter().fold(0, |sum, taken| sum.saturating_add(taken.tokens));
        if held <= room {
            return None;
        }
        let frees = |taken: &&Taken| {
            held = held.saturating_sub(taken.tokens);
            held <= room
        };
        self.taken.iter().find(frees).map(|taken| taken.at.plus(MINUTE))
    }
}

#[cfg(test)]
mod tests;
