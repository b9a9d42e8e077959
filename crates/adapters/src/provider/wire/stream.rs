//! Reads the body of a response into an answer, with the time-outs and bounds of a call.

use super::sse::Sse;
use super::{Answer, failure, read};
use crate::provider::Timeouts;
use bytes::Bytes;
use deputize_core::code;
use deputize_core::step::Failure;
use futures_util::{Stream, StreamExt};
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

/// The longest answer that is read. Models answer in kilobytes; this only stops a server that never ends.
pub(super) const LONGEST: usize = 32 * 1024 * 1024;
/// How long to wait for the count of tokens once the answer itself is complete.
const GRACE: Duration = Duration::from_secs(5);

/// How much of a body is kept to be shown when no answer was in it, in bytes.
const HEAD: usize = 4096;

/// The events of a stream that is cut anywhere.
pub(super) enum Frames {
    /// Server-sent events.
    Events(Sse),
    /// One JSON object a line; the line that is not complete yet.
    Lines(Vec<u8>),
}

impl Frames {
    pub(super) fn events() -> Frames {
        Frames::Events(Sse::default())
    }

    pub(super) fn lines() -> Frames {
        Frames::Lines(Vec::new())
    }

    fn are_lines(&self) -> bool {
        matches!(self, Frames::Lines(_))
    }

    /// Takes a piece in; gives every event that it completes.
    fn push(&mut self, piece: &[u8]) -> Vec<String> {
        match self {
            Frames::Events(sse) => sse.push(piece),
            Frames::Lines(open) => {
                open.extend_from_slice(piece);
                let Some(end) = open.iter().rposition(|b| *b == b'\n') else { return Vec::new() };
                let rest = open.split_off(end + 1);
                let whole = std::mem::replace(open, rest);
                // Only whole lines are decoded, so a character that was cut between two pieces is whole here.
                String::from_utf8_lossy(&whole).lines().filter(|l| !l.trim().is_empty()).map(String::from).collect()
            }
        }
    }

    /// The stream is at its end: what it left without a proper end.
    fn finish(self) -> Option<String> {
        match self {
            Frames::Events(sse) => sse.finish(),
            Frames::Lines(open) => Some(String::from_utf8_lossy(&open).into_owned()).filter(|l| !l.trim().is_empty()),
        }
    }
}

/// A body, and how much and how long it is read.
pub(super) struct Reader<'a, S> {
    body: S,
    times: &'a Timeouts,
    size: usize,
    longest: usize,
}

/// Why there is no next piece.
enum End {
    /// The body is complete.
    Whole,
    Late(Duration),
    Broken(String),
    TooLong,
}

impl<'a, S, E> Reader<'a, S>
where
    S: Stream<Item = Result<Bytes, E>> + Unpin,
    E: Error + 'static,
{
    pub(super) fn new(body: S, times: &'a Timeouts, longest: usize) -> Reader<'a, S> {
        Reader { body, times, size: 0, longest }
    }

    async fn next(&mut self, hurry: bool) -> Result<Bytes, End> {
        let wait = if self.size == 0 { self.times.first_byte } else { self.times.idle };
        let wait = if hurry { wait.min(GRACE) } else { wait };
        match timeout(wait, self.body.next()).await {
            Err(_) => Err(End::Late(wait)),
            Ok(None) => Err(End::Whole),
            Ok(Some(Err(e))) => Err(End::Broken(failure::causes(&e))),
            Ok(Some(Ok(piece))) => {
                self.size = self.size.saturating_add(piece.len());
                if self.size > self.longest { Err(End::TooLong) } else { Ok(piece) }
            }
        }
    }

    /// Reads a stream of events until the answer is complete.
    pub(super) async fn events(mut self, mut frames: Frames, answer: &mut impl Answer) -> Result<(), Failure> {
        // What stood there before the first event, to be shown if there is none.
        let mut head = Some(Vec::new());
        loop {
            let piece = match self.next(answer.finished()).await {
                Ok(piece) => piece,
                Err(End::TooLong) => return Err(too_long(self.longest)),
                Err(End::Whole) => return tail(frames, head, answer),
                // All was said; only the count of tokens is missing.
                Err(End::Late(_) | End::Broken(_)) if answer.finished() => return Ok(()),
                Err(End::Late(limit)) => return Err(failure::late("further part of the answer", limit)),
                Err(End::Broken(why)) => return Err(failure::cut(&why)),
            };
            if let Some(head) = head.as_mut().filter(|head| head.len() < HEAD) {
                head.extend_from_slice(&piece);
            }
            for event in frames.push(&piece) {
                // A page has lines too; its first alone would not say what it is.
                if let Some(head) = head.take().filter(|_| frames.are_lines() && !event.starts_with('{')) {
                    return Err(read::unreadable(&head, None));
                }
                if event.trim() == "[DONE]" {
                    return Ok(());
                }
                answer.absorb(event.as_bytes())?;
                if answer.complete() {
                    return Ok(());
                }
            }
        }
    }

    /// Reads a whole body.
    pub(super) async fn whole(mut self) -> Result<Vec<u8>, Failure> {
        let mut all = Vec::new();
        loop {
            match self.next(false).await {
                Ok(piece) => all.extend_from_slice(&piece),
                Err(End::Whole) => return Ok(all),
                Err(End::TooLong) => return Err(too_long(self.longest)),
                Err(End::Late(limit)) => return Err(failure::late("further part of the answer", limit)),
                Err(End::Broken(why)) => return Err(failure::cut(&why)),
            }
        }
    }

    /// Reads what there is of an error's body, and no more than is needed to name the error.
    pub(super) async fn beginning(mut self) -> Vec<u8> {
        let mut all = Vec::new();
        while let Ok(piece) = self.next(true).await {
            all.extend_from_slice(&piece);
        }
        all
    }
}

/// The connection ended without `[DONE]`: good if the model had said that it was done, for some servers never send it.
fn tail(frames: Frames, head: Option<Vec<u8>>, answer: &mut impl Answer) -> Result<(), Failure> {
    let last = frames.finish().filter(|event| event.trim() != "[DONE]");
    // No event at all, nor a comment that one would come: a page, an error as text, nothing.
    if let (None, Some(head)) = (&last, head.filter(|head| !head.starts_with(b":"))) {
        return Err(read::unreadable(&head, None));
    }
    let began = last.as_ref().is_some_and(|event| event.starts_with('{'));
    match last.map(|event| answer.absorb(event.as_bytes())) {
        _ if answer.finished() => Ok(()),
        // An event that is no JSON here is one that was cut, if it began as one.
        Some(Err(failure)) if failure.code != code::MODEL_MALFORMED || !began => Err(failure),
        _ => Err(failure::cut("the stream ended before the model said that it was done")),
    }
}

fn too_long(limit: usize) -> Failure {
    let why = format!("the provider's answer is longer than {} MiB", limit / (1024 * 1024));
    Failure::passing(code::MODEL_MALFORMED, why, None)
}

#[cfg(test)]
mod tests;
