//! Tests of the rule: a table of stores and what goes.

use super::{Candidate, Rule};
use crate::store::sqlite::{Survey, TreeSize};
use deputize_core::id::{Digest, RunId, Time};

/// Trees `t0`, `t1` ... last active at 0, 100, 200 ..., 1,000 bytes each; `t1` is not over; `t0` and `t2` share a content of 500.
fn store(count: u64) -> (Vec<Candidate>, Survey) {
    let id = |n: u64| RunId::new(format!("t{n}"));
    let all = (0..count).map(|n| Candidate { root: id(n), updated: Time(n * 100), may_go: n != 1 }).collect();
    let mut survey = Survey::default();
    let shared = Digest::new("shared");
    survey.blobs.insert(shared.clone(), 500);
    survey.blobs.insert(Digest::new("unnamed"), 1 << 40);
    for n in 0..count {
        let blobs = if n == 0 || n == 2 { [shared.clone()].into() } else { [].into() };
        survey.trees.insert(id(n), TreeSize { bytes: 1_000, blobs });
    }
    (all, survey)
}

// The part of U-14 that needs no keys.
#[test]
fn what_goes() {
    let (all, survey) = store(6);
    let rule = |older, max_bytes, keep| Rule { older, max_bytes, keep };
    let now = Time(1_000);
    for (rule, wanted) in [
        // Exactly as old stays.
        (rule(Some(800), None, None), "t0"),
        (rule(Some(700), None, None), "t0 t2"),
        (rule(Some(5_000), None, None), ""),
        (rule(None, None, Some(2)), "t0 t2 t3"),
        (rule(None, None, Some(0)), "t0 t2 t3 t4 t5"),
        (rule(None, None, Some(99)), ""),
        // 6,500 bytes: t0 frees 1,000, t2 then 1,500.
        (rule(None, Some(6_500), None), ""),
        (rule(None, Some(6_499), None), "t0"),
        (rule(None, Some(5_499), None), "t0 t2"),
        (rule(None, Some(4_000), None), "t0 t2"),
        (rule(None, Some(3_999), None), "t0 t2 t3"),
        (rule(None, Some(0), Some(1)), "t0 t2 t3 t4"),
        (rule(Some(800), Some(4_000), None), "t0 t2"),
        (rule(Some(1), None, Some(5)), "t0"),
    ] {
        let went: Vec<String> = rule.choose(&all, &survey, now).iter().map(ToString::to_string).collect();
        assert_eq!(went.join(" "), wanted, "{rule:?}");
    }
}

#[test]
fn a_clock_that_went_back_makes_nothing_old() {
    let (all, survey) = store(3);
    let rule = Rule { older: Some(1), ..Rule::default() };
    assert_eq!(rule.choose(&all, &survey, Time(0)), []);
}
