//! The verdict on logs that are in order, and on forged ones that are not.

use super::{Asked, Kill, Repeated, Settled, key, repeated, settled};
use deputize_core::budget::Spend;
use deputize_core::code;
use deputize_core::event::{Event, Recorded, VERSION};
use deputize_core::id::{Label, RunId, Time};
use deputize_core::message::Turn;
use deputize_core::step::{Product, Then};

fn asked(n: u64, step: &str, attempt: u32) -> Asked {
    Asked { n, agent: "lead".to_string(), step: step.to_string(), attempt }
}

fn known(step: &str, attempt: u32, over: bool) -> Settled {
    Settled { step: step.to_string(), attempt, seq: 2, over }
}

#[test]
fn what_was_in_flight_may_be_asked_again() {
    let log = [asked(1, "r/t1", 1), asked(2, "r/t2", 1), asked(3, "r/t2", 1), asked(4, "r/t3", 1)];
    let kills = [Kill { asked: 2, settled: vec![known("r/t1", 1, true)] }];
    assert_eq!(repeated(&log, &kills), []);
}

#[test]
fn a_recorded_step_that_is_asked_again_is_found() {
    // covers F-05
    let log = [asked(1, "r/t1", 1), asked(2, "r/t2", 1), asked(3, "r/t1", 1), asked(4, "r/t2", 1)];
    let kill = |asked, settled: &[Settled]| Kill { asked, settled: settled.to_vec() };
    let first = known("r/t1", 1, true);
    let forged = [kill(2, std::slice::from_ref(&first)), kill(3, &[first, known("r/t2", 1, true)])];
    let expect = |n, step: &str, kill| Repeated { n, step: step.to_string(), kill };
    assert_eq!(repeated(&log, &forged), [expect(3, "r/t1", 1), expect(4, "r/t2", 2)]);
}

#[test]
fn after_a_rejected_answer_only_a_new_attempt_is_allowed() {
    let kills = [Kill { asked: 1, settled: vec![known("r/t1", 1, false)] }];
    assert_eq!(repeated(&[asked(1, "r/t1", 1), asked(2, "r/t1", 2)], &kills), []);
    assert_eq!(repeated(&[asked(1, "r/t1", 1), asked(2, "r/t1", 1)], &kills).len(), 1);
    let over = [Kill { asked: 1, settled: vec![known("r/t1", 1, true)] }];
    assert_eq!(repeated(&[asked(1, "r/t1", 1), asked(2, "r/t1", 2)], &over).len(), 1);
}

#[test]
fn a_request_before_the_kill_is_no_repetition() {
    let kills = [Kill { asked: 2, settled: vec![known("r/t1", 2, true)] }];
    assert_eq!(repeated(&[asked(1, "r/t1", 1), asked(2, "r/t1", 2)], &kills), []);
    assert_eq!(repeated(&[], &kills), []);
}

#[test]
fn outcomes_are_read_from_a_log() {
    let label = || Label::parse("t2/c0/t1").unwrap();
    let (attempt, spent) = (1, Spend::default());
    let retry = |attempt| Then::Retry { attempt, not_before: Time(0) };
    let failed = |attempt, then| Event::StepFailed {
        label: label(),
        attempt,
        code: code::MODEL_TIMEOUT,
        why: String::new(),
        spent: spent.clone(),
        then,
        presumed: false,
    };
    let product = Product::Turn(Turn::default().into());
    let good = Event::StepSucceeded { label: label(), attempt, product, spent: spent.clone() };
    let events = [failed(1, retry(1)), failed(1, retry(2)), failed(2, Then::Final), good];
    let record = |(seq, event): (usize, Event)| Recorded { v: VERSION, seq: seq as u64, at: Time(0), event };
    let log: Vec<Recorded> = events.into_iter().enumerate().map(record).collect();
    let of = |attempt, seq, over| Settled { step: "r/t2/c0/t1".to_string(), attempt, seq, over };
    assert_eq!(settled(&RunId::new("r"), &log), [of(1, 1, false), of(2, 2, true), of(1, 3, true)]);
}

#[test]
fn keys_are_taken_apart_at_the_last_mark() {
    assert_eq!(key("r/t2/c0/t1#3"), Some(("r/t2/c0/t1".to_string(), 3)));
    assert_eq!(key("r/t2"), None);
    assert_eq!(key("r/t2#x"), None);
}
