//! The one row codec of all stores: batches into checked rows, rows back into events. Owns the checks on the form of a
//! batch and what a torn or damaged record is; owns no table and no lock.

use super::head::Head;
use deputize_core::event::{self, Event, Recorded, Unreadable};
use deputize_core::id::{RunId, Time};
use deputize_core::summary::Terminal;
use deputize_runtime::port::{Append, StoreError};

/// One event as it is kept.
#[derive(Debug)]
pub(super) struct Row {
    /// Its place.
    pub(super) seq: u64,
    /// When it was appended.
    pub(super) at: Time,
    /// The record as JSON.
    pub(super) data: String,
}

/// What is appended to one log, checked and encoded. Never empty.
#[derive(Debug)]
pub(super) struct Rows {
    /// The log.
    pub(super) run: RunId,
    /// The length that the log must have.
    pub(super) expected: u64,
    /// Its line in the list of runs, when these rows begin it.
    pub(super) head: Option<Head>,
    /// The moment of the last row.
    pub(super) updated: Time,
    /// How the run ended, if it did in these rows.
    pub(super) status: Option<Terminal>,
    /// The rows.
    pub(super) rows: Vec<Row>,
}

/// Checks the form of a batch and encodes it. What needs the store's content (epoch, lengths) is not checked here.
pub(super) fn encode(root: &RunId, batch: &[Append]) -> Result<Vec<Rows>, StoreError> {
    if batch.is_empty() {
        return Err(StoreError::Failed(format!("an append to the tree of {root} names no log")));
    }
    batch.iter().map(|append| encode_one(root, append)).collect()
}

fn encode_one(root: &RunId, append: &Append) -> Result<Rows, StoreError> {
    let Append { run, expected, events } = append;
    if run.root() != *root {
        return Err(StoreError::Failed(format!("{run} is not in the tree of {root}")));
    }
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Err(StoreError::Failed(format!("an append to the log of {run} has no events")));
    };
    let head = if *expected == 0 { Some(Head::begin(root, run, first)?) } else { None };
    let mut rows = Vec::with_capacity(events.len());
    for (event, seq) in events.iter().zip(*expected..) {
        if event.seq != seq {
            let found = event.seq;
            return Err(StoreError::Failed(format!(
                "the events for {run} are not consecutive: {found} stands at {seq}"
            )));
        }
        let data = serde_json::to_string(event)
            .map_err(|e| StoreError::Failed(format!("event {seq} of {run} cannot be written as JSON: {e}")))?;
        rows.push(Row { seq, at: event.at, data });
    }
    let status = events.iter().rev().find_map(|recorded| match &recorded.event {
        Event::RunFinished { summary } => Some(summary.status),
        _ => None,
    });
    Ok(Rows { run: run.clone(), expected: *expected, head, updated: last.at, status, rows })
}

/// Why a row gives no event.
enum Fault {
    /// It cannot be read.
    Torn(String),
    /// A later version of the program wrote it.
    Newer(u64),
}

fn decode(seq: u64, data: &[u8]) -> Result<Recorded, Fault> {
    let text = std::str::from_utf8(data).map_err(|e| Fault::Torn(format!("the record is no text: {e}")))?;
    let recorded = event::read(text).map_err(|e| match e {
        Unreadable::Newer(found) => Fault::Newer(found),
        damaged @ Unreadable::Damaged(_) => Fault::Torn(damaged.to_string()),
    })?;
    if recorded.seq != seq {
        return Err(Fault::Torn(format!("the record says that it is number {}", recorded.seq)));
    }
    Ok(recorded)
}

/// Whether a row cannot be read, so that, as the last of its log, it counts as torn.
pub(super) fn is_torn(seq: u64, data: &[u8]) -> bool {
    matches!(decode(seq, data), Err(Fault::Torn(_)))
}

/// The rows of one log on their way to events. Rows come in order, to the end of the log.
pub(super) struct Decoder<'a> {
    /// Where the store is, for messages.
    place: &'a str,
    run: &'a RunId,
    next: u64,
    events: Vec<Recorded>,
    /// An unreadable row that is the last so far.
    torn: Option<StoreError>,
}

impl<'a> Decoder<'a> {
    /// A decoder for the log of `run` from `from` on, in the store at `place`.
    pub(super) fn new(place: &'a str, run: &'a RunId, from: u64) -> Decoder<'a> {
        Decoder { place, run, next: from, events: Vec::new(), torn: None }
    }

    /// Takes the next row.
    pub(super) fn row(&mut self, seq: u64, data: &[u8]) -> Result<(), StoreError> {
        if let Some(damaged) = self.torn.take() {
            return Err(damaged);
        }
        if seq != self.next {
            return Err(self.damaged(self.next, format!("the record is missing, the next one is {seq}")));
        }
        match decode(seq, data) {
            Ok(recorded) => self.events.push(recorded),
            Err(Fault::Newer(found)) => return Err(self.newer(found)),
            Err(Fault::Torn(why)) => self.torn = Some(self.damaged(seq, why)),
        }
        self.next = seq.saturating_add(1);
        Ok(())
    }

    /// The events, and the torn last record that was left out.
    pub(super) fn finish(self) -> Result<(Vec<Recorded>, Option<StoreError>), StoreError> {
        match self.torn {
            // Nothing goes before it: the run cannot even be named, so this is no end that can be cut off.
            Some(StoreError::Damaged { run, seq: 0, why }) => Err(StoreError::Damaged { run, seq: 0, why }),
            torn => Ok((self.events, torn)),
        }
    }

    fn damaged(&self, seq: u64, why: String) -> StoreError {
        StoreError::Damaged { run: self.run.clone(), seq, why }
    }

    fn newer(&self, found: u64) -> StoreError {
        StoreError::Newer {
            path: self.place.to_string(),
            found: i64::try_from(found).unwrap_or(i64::MAX),
            known: i64::from(event::VERSION),
        }
    }
}

#[cfg(test)]
mod tests;
