//! Long logs, made by repeating the first turn of a real one under the labels of later turns: a real run of thousands of
//! turns would render and hash thousands of long requests first. The fold reads events only, so that it cannot tell.

use crate::measure::Fault;
use deputize_core::event::{Event, Recorded, StepStart};
use deputize_core::id::Label;
use deputize_core::step::Ask;
use std::sync::Arc;

/// What stands at the end of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tail {
    /// Every turn is whole: the next one is to be asked for.
    Whole,
    /// One more turn is asked for and under way.
    Asked,
    /// One more turn is answered, its call is not started.
    Answered,
}

/// The log of an agent with so many whole turns of one call each, from the log of one that had at least one.
pub(crate) fn longer(log: &[Recorded], turns: u64, tail: Tail) -> Result<Vec<Recorded>, Fault> {
    let own = |r: &&Recorded| turn_of(&r.event) == Some(1);
    let before: Vec<&Recorded> = log.iter().take_while(|r| turn_of(&r.event).is_none()).collect();
    let turn: Vec<&Recorded> = log.iter().filter(own).collect();
    if turn.len() != 4 || before.is_empty() {
        return Err("the log to make longer has no first turn of one call".into());
    }
    let rest = match tail {
        Tail::Whole => 0,
        Tail::Asked => 1,
        Tail::Answered => 2,
    };
    let mut events: Vec<Event> = before.into_iter().map(|r| r.event.clone()).collect();
    for n in 1..=turns {
        events.extend(turn.iter().filter_map(|r| moved(&r.event, n)));
    }
    events.extend(turn.iter().take(rest).filter_map(|r| moved(&r.event, turns + 1)));
    let like = log.first().ok_or("the log is empty")?;
    let record = |(event, seq): (Event, u64)| Recorded { v: like.v, seq, at: like.at, event };
    Ok(events.into_iter().zip(0..).map(record).collect())
}

/// The number of the turn that an event belongs to.
fn turn_of(event: &Event) -> Option<u64> {
    let label = label(event)?;
    let turn = label.as_call().map_or(label.as_str(), |(turn, _)| turn);
    Label::parse(turn).ok()?.as_turn().map(|(_, n)| n)
}

fn label(event: &Event) -> Option<&Label> {
    match event {
        Event::StepStarted(start) => Some(&start.label),
        Event::StepSucceeded { label, .. } => Some(label),
        _ => None,
    }
}

/// The same event in turn `n`.
fn moved(event: &Event, n: u64) -> Option<Event> {
    let turn = Label::under("", &format!("t{n}"));
    let label = match label(event)?.as_call() {
        Some((_, index)) => turn.call(index),
        None => turn,
    };
    Some(match event.clone() {
        Event::StepStarted(start) => {
            let ask = asked(&start.ask, n);
            Event::StepStarted(Box::new(StepStart { label, ask, ..*start }))
        }
        Event::StepSucceeded { attempt, product, spent, .. } => Event::StepSucceeded { label, attempt, product, spent },
        other => other,
    })
}

fn asked(ask: &Arc<Ask>, n: u64) -> Arc<Ask> {
    match &**ask {
        Ask::Model { agent, prompt, closing } => {
            let (agent, mut prompt) = (agent.clone(), prompt.clone());
            prompt.upto = n - 1;
            Arc::new(Ask::Model { agent, prompt, closing: *closing })
        }
        _ => ask.clone(),
    }
}

#[cfg(test)]
mod tests;
