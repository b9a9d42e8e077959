//! The book alone: moments are numbers here.

use super::{Book, Turn};
use crate::provider::config::Limits;
use deputize_core::code::MODEL_RATE_LIMITED;
use deputize_core::id::Time;

fn limits(concurrency: usize, requests: Option<u64>, tokens: Option<u64>) -> Limits {
    Limits { concurrency, requests_per_minute: requests, tokens_per_minute: tokens }
}

fn waits(until: Option<u64>, ahead: usize) -> Turn {
    Turn::Wait { until: until.map(Time), ahead }
}

#[test]
fn places_are_taken_in_order_and_given_back() {
    let two = limits(2, None, None);
    let mut book = Book::default();
    let [a, b, c, d] = [0; 4].map(|_| book.join());
    assert_eq!(book.turn(b, 1, &two, Time(0)), waits(None, 1), "b came after a");
    assert_eq!(book.turn(a, 1, &two, Time(0)), Turn::Go);
    assert_eq!(book.turn(b, 1, &two, Time(0)), Turn::Go);
    assert_eq!(book.turn(c, 1, &two, Time(0)), waits(None, 0));
    book.leave(c);
    book.end(a, None);
    assert_eq!(book.turn(d, 1, &two, Time(0)), Turn::Go, "who left the queue holds nobody up");
}

#[test]
fn no_minute_holds_more_requests_than_allowed() {
    let rules = limits(9, Some(3), None);
    let mut book = Book::default();
    let mut starts: Vec<u64> = Vec::new();
    let mut now = 0;
    for _ in 0..20 {
        let ticket = book.join();
        loop {
            match book.turn(ticket, 1, &rules, Time(now)) {
                Turn::Go => break,
                Turn::Wait { until: Some(until), .. } => now = until.0,
                other => panic!("{other:?}"),
            }
        }
        starts.push(now);
        book.end(ticket, Some(1));
        now += 7_000;
    }
    for (i, start) in starts.iter().enumerate() {
        let within = starts.iter().skip(i).take_while(|s| **s < start + 60_000).count();
        assert!(within <= 3, "{starts:?}");
    }
    assert_eq!(starts.get(3), Some(&60_000), "and nobody waits longer than that needs: {starts:?}");
}

#[test]
fn tokens_are_reserved_settled_and_freed_after_a_minute() {
    let rules = limits(9, None, Some(100));
    let mut book = Book::default();
    let [a, b, c] = [0; 3].map(|_| book.join());
    assert_eq!(book.turn(a, 80, &rules, Time(0)), Turn::Go);
    assert_eq!(book.turn(b, 80, &rules, Time(1_000)), waits(Some(60_000), 0));
    book.end(a, Some(10));
    assert_eq!(book.turn(b, 80, &rules, Time(2_000)), Turn::Go, "it used less than was reserved");
    book.end(b, None);
    assert_eq!(book.turn(c, 50, &rules, Time(3_000)), waits(Some(62_000), 0), "b's are not known, so all count");
    assert_eq!(book.turn(c, 50, &rules, Time(62_000)), Turn::Go);
    // More than a minute's worth: alone, but not never.
    let d = book.join();
    assert_eq!(book.turn(d, 1_000, &rules, Time(63_000)), waits(Some(122_000), 0));
    assert_eq!(book.turn(d, 1_000, &rules, Time(122_000)), Turn::Go);
}

#[test]
fn a_closed_gate_is_waited_for_when_near_and_said_when_far() {
    let rules = limits(9, None, None);
    let mut book = Book::default();
    let a = book.join();
    book.close(Time(100_000), MODEL_RATE_LIMITED);
    book.close(Time(50_000), MODEL_RATE_LIMITED);
    let far = Turn::Closed { rest: 99_000, code: MODEL_RATE_LIMITED };
    assert_eq!(book.turn(a, 1, &rules, Time(1_000)), far, "an earlier word does not open it");
    assert_eq!(book.turn(a, 1, &rules, Time(40_000)), waits(Some(100_000), 0));
    assert_eq!(book.turn(a, 1, &rules, Time(99_999)), waits(Some(100_000), 0));
    assert_eq!(book.turn(a, 1, &rules, Time(100_000)), Turn::Go);
}
