//! Failures of model calls and steps in doubt: what is tried again, when, under which key, and when it is given up.

use crate::common::sim::root;
use crate::common::{
    Asked, Crash, Plan, Script, Sim, Used, agent, calls, delegates, fails, leads, says, team, text, to,
};
use deputize_core::code::{self, Code};
use deputize_core::definition::{InDoubt, RetryPolicy, Team};
use deputize_core::event::{Event, Recorded};
use deputize_core::id::{RunId, Time};
use deputize_core::projection::{Decision, Tree, decisions};
use deputize_core::step::{Retry, Then};
use deputize_core::summary::Terminal;
use serde_json::json;

fn one() -> Team {
    team(vec![agent("one", &["look", "save", "send"])])
}

/// Fails so often in this way, then answers.
fn stumbles(times: u32, code: Code, retry: Retry, latency: u64) -> Script {
    Script::new(
        move |asked: &Asked<'_>| {
            if asked.failures < times { fails(code.clone(), retry).after(latency) } else { says("done") }
        },
    )
}

/// `(attempt, moment of the failure, what follows)` of each failure of the root.
fn failures(sim: &Sim<'_>) -> Vec<(u32, Time, Then)> {
    let one = |r: &Recorded| match &r.event {
        Event::StepFailed { attempt, then, .. } => Some((*attempt, r.at, then.clone())),
        _ => None,
    };
    sim.logs[&root()].iter().filter_map(one).collect()
}

/// `(attempt, moment)` of each start of the root's first turn.
fn starts(sim: &Sim<'_>) -> Vec<(u32, Time)> {
    let one = |r: &Recorded| match &r.event {
        Event::StepStarted(s) if s.label.as_str() == "t1" => Some((s.attempt, r.at)),
        _ => None,
    };
    sim.logs[&root()].iter().filter_map(one).collect()
}

// Each attempt is an event; delays double with jitter, counted from the failure.
// covers F-07
#[test]
fn passing_failures_are_tried_again() {
    let script = stumbles(3, code::MODEL_OVERLOADED, Retry::After(None), 9_000);
    let sim = Sim::run(&one(), &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(starts(&sim).iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3, 4]);
    for (n, (attempt, at, then)) in failures(&sim).into_iter().enumerate() {
        let Then::Retry { attempt: next, not_before } = then else { panic!("{then:?}") };
        assert_eq!(next, attempt + 1);
        assert!(not_before >= at && not_before.since(at) <= 500 << n, "{n}: {at:?} {not_before:?}");
        assert!(starts(&sim)[n + 1].1 >= not_before);
    }
    let delays = |id: u64| {
        let log = &Sim::with(&one(), &script, Plan { seed: Some(id), ..Plan::default() }).logs[&root()].clone();
        serde_json::to_string(log).unwrap()
    };
    assert_eq!(delays(1), delays(1), "the jitter is drawn from the run's id, so a replay sees the same");
}

// What the provider asks for is kept, counted from when it said so.
// covers F-07
#[test]
fn retry_after_is_obeyed() {
    let script = stumbles(1, code::MODEL_RATE_LIMITED, Retry::After(Some(20_000)), 30_000);
    let sim = Sim::run(&one(), &script);
    let (first, second) = (starts(&sim)[0].1, starts(&sim)[1].1);
    assert!(second.since(first) >= 50_000, "{}", second.since(first));
}

// The attempts and the whole time are bounded.
// covers F-07
#[test]
fn retries_are_bounded() {
    let script = stumbles(9, code::MODEL_OVERLOADED, Retry::After(None), 5);
    let sim = Sim::run(&one(), &script);
    let summary = sim.summary();
    assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::MODEL_OVERLOADED)));
    assert_eq!((sim.count("r", "step_failed"), failures(&sim)[3].2.clone()), (4, Then::Final));
    let script = stumbles(9, code::MODEL_RATE_LIMITED, Retry::After(Some(299_000)), 5);
    let mut patient = one();
    patient.retry.insert(
        "test".into(),
        RetryPolicy { attempts: 2, delay: 1, cap: 1, total: 1_000_000, ..RetryPolicy::default() },
    );
    assert_eq!(Sim::run(&patient, &script).count("r", "step_failed"), 2);
    let script = stumbles(9, code::MODEL_AUTH, Retry::Never, 5);
    assert_eq!(Sim::run(&one(), &script).count("r", "step_failed"), 1);
}

// Where the effect may have happened the attempt keeps its number, and so its key.
// covers F-05
#[test]
fn an_ambiguous_failure_keeps_its_key() {
    let script = stumbles(2, code::MODEL_TIMEOUT, Retry::Ambiguous, 5);
    let sim = Sim::run(&one(), &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(starts(&sim).iter().map(|s| s.0).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(sim.performed["r/t1#1"], 3);
}

// A repair is a new series: its failures and its time are its own.
// covers F-05, E-61
#[test]
fn a_repair_has_its_own_retries() {
    let script = Script::new(|asked: &Asked<'_>| match (asked.rejections, asked.failures) {
        (0, n) if n < 3 => fails(code::MODEL_OVERLOADED, Retry::After(Some(90_000))),
        (0, _) => says("").stopped(deputize_core::message::Stop::Length),
        (1, n) if n < 3 => fails(code::MODEL_OVERLOADED, Retry::After(Some(90_000))),
        _ => says("done"),
    });
    let sim = Sim::run(&one(), &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded, "{:?}", sim.summary());
    assert_eq!(starts(&sim).len(), 8);
}

// The deadline and a cancel end the wait for a retry.
// covers E-21
#[test]
fn nothing_outlasts_the_deadline() {
    let mut hasty = one();
    hasty.budget.tree.time = Some(10_000);
    let script = stumbles(9, code::MODEL_RATE_LIMITED, Retry::After(Some(60_000)), 5);
    let sim = Sim::run(&hasty, &script);
    assert_eq!(sim.summary().status, Terminal::Deadline);
    assert_eq!(sim.now, Time(1_010_000));
    let sim = Sim::with(&one(), &script, Plan { cancel: Some((3, None)), ..Plan::default() });
    assert_eq!((sim.summary().status, sim.now), (Terminal::Cancelled, Time(1_000_005)));
}

fn die(at: usize, times: usize) -> Plan {
    Plan { crashes: vec![Crash { at, performed: true }; times], ..Plan::default() }
}

// A step in doubt is made again under the same key; what the lost attempt may have cost is booked.
// covers F-05, E-60
#[test]
fn a_model_call_in_doubt_keeps_its_key() {
    let script = stumbles(0, code::MODEL_AUTH, Retry::Never, 5);
    let sim = Sim::with(&one(), &script, die(2, 1));
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(starts(&sim).iter().map(|s| s.0).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(sim.performed["r/t1#1"], 2);
    let calm = Sim::run(&one(), &script);
    let request = calm.request("one", "t1");
    let presumed = sim.summary().spent.usage.tokens() - calm.summary().spent.usage.tokens();
    assert!(presumed >= request.max_output, "{presumed}");
    assert_eq!(sim.summary().spent.model_calls, 2);
}

// A step that kills its process again and again is given up.
// covers E-60
#[test]
fn the_fourth_doubt_is_final() {
    let script = stumbles(0, code::MODEL_AUTH, Retry::Never, 5);
    // Each life appends its recovery, the doubt and the new start: it dies with that start under way.
    let crashes = |n: usize| Plan {
        crashes: (0..n).map(|i| Crash { at: 2 + 3 * i, performed: false }).collect(),
        ..Plan::default()
    };
    assert_eq!(Sim::with(&one(), &script, crashes(3)).summary().status, Terminal::Succeeded);
    let sim = Sim::with(&one(), &script, crashes(4));
    let summary = sim.summary();
    assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::STEP_IN_DOUBT)));
    assert_eq!(sim.count("r", "step_in_doubt"), 4);
}

/// One call of a tool, then an answer; the tool notes before its effect if it is `save`.
fn uses(tool: &'static str) -> Script {
    Script::new(move |asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[(tool, json!({"at": "x"}))]),
        _ => says("done"),
    })
    .tools(|used: &Used<'_>| match (used.tool, used.note) {
        ("save", None) => {
            crate::common::Answer { reply: crate::common::script::Reply::Note(json!("before")), latency: 1 }
        }
        ("save", Some(note)) => text(&format!("saved over {note}")),
        _ => text("ok"),
    })
}

// An effect that may have happened is not made again, unless the team says so.
// covers F-05
#[test]
fn an_effectful_step_in_doubt_fails() {
    let script = uses("send");
    // run started, t1 started, t1 succeeded, t1/c0 started: the process dies before the outcome is written.
    let sim = Sim::with(&one(), &script, die(4, 1));
    assert_eq!((sim.summary().status, sim.performed["r/t1/c0#1"]), (Terminal::Succeeded, 1));
    assert!(sim.results("one", "t2")[0].contains("step.in_doubt"), "the model is told and decides");
    let mut again = one();
    again.in_doubt = InDoubt::Retry;
    let sim = Sim::with(&again, &script, die(4, 1));
    assert_eq!(sim.performed["r/t1/c0#1"], 2);
    assert!(sim.results("one", "t2")[0].contains("ok"));
}

// What a tool noted before its effect is there when it is asked again.
// covers F-05
#[test]
fn a_note_outlives_a_crash() {
    let script = uses("save");
    let calm = Sim::run(&one(), &script);
    assert_eq!(calm.count("r", "step_prepared"), 1);
    for at in 4..calm.appended {
        let sim = Sim::with(&one(), &script, die(at, 1));
        assert_eq!(sim.count("r", "step_prepared"), 1, "noted once, before the first effect (at {at})");
        assert!(sim.results("one", "t2")[0].contains("saved over \"before\""));
    }
}

// The clock of the retries starts anew after a pause.
// covers F-05
#[test]
fn a_pause_does_not_use_up_the_retries() {
    let mut short = one();
    short.retry.insert("test".into(), RetryPolicy { total: 30_000, ..RetryPolicy::default() });
    let script = stumbles(1, code::MODEL_OVERLOADED, Retry::After(None), 5);
    let sim = Sim::with(&short, &script, die(2, 1));
    assert_eq!(sim.summary().status, Terminal::Succeeded, "sixty seconds of pause are not the provider's");
}

// A failed child is a result; the supervisor tries again, elsewhere, and answers.
// covers L-13, F-07, E-60
#[test]
fn a_failed_child_is_rescued() {
    let team = team(vec![leads("lead", &[], &["kid", "other"]), agent("kid", &[]), agent("other", &[])]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "work")]),
        ("lead", "t2") => delegates(&[to("kid", "work again")]),
        ("lead", "t3") => delegates(&[to("other", "work again")]),
        ("lead", _) => says("rescued"),
        ("lead/other#1", _) => says("found"),
        _ => fails(code::MODEL_REFUSED, Retry::Never),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    for child in ["r/t1/c0", "r/t2/c0"] {
        let summary = sim.summary_of(child);
        assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::MODEL_REFUSED)));
    }
    let tree = Tree::new(sim.logs.clone().into_iter().collect());
    let found: Vec<Decision> = decisions(tree.run(&RunId::new("r")).unwrap()).into_iter().map(|d| d.what).collect();
    use Decision::{Decompose, Dispatch, Reassign, Synthesise};
    assert_eq!(found, [Decompose, Dispatch, Decompose, Decision::Retry, Decompose, Reassign, Synthesise]);
}

// A fault in one child is found in that child and nowhere else.
// covers E-60, F-07
#[test]
fn one_failing_child_hurts_nobody_else() {
    let team = team(vec![leads("lead", &[], &["kid"]), agent("kid", &["look"])]);
    for bad in 1..=4 {
        let script = Script::new(move |asked: &Asked<'_>| match (asked.path, asked.label) {
            ("lead", "t1") => delegates(&(1..=4).map(|i| to("kid", &format!("part {i}"))).collect::<Vec<_>>()),
            ("lead", _) => says("done"),
            (path, _) if path.ends_with(&format!("#{bad}")) => fails(code::MODEL_MALFORMED, Retry::Never),
            _ => says("found"),
        });
        let sim = Sim::run(&team, &script);
        for child in 1..=4 {
            let status = sim.summary_of(&format!("r/t1/c{}", child - 1)).status;
            assert_eq!(status == Terminal::Failed, child == bad, "{child} of {bad}");
        }
    }
}

// An answer that cannot be read is asked for once more, however patient the provider's settings are.
// covers F-07
#[test]
fn an_answer_that_cannot_be_read_is_asked_for_once_more() {
    for (code, attempts) in [(code::MODEL_MALFORMED, 2), (code::MODEL_OVERLOADED, 4)] {
        let script = stumbles(9, code.clone(), Retry::After(None), 5);
        let sim = Sim::run(&one(), &script);
        assert_eq!(sim.summary().reason_code, Some(code));
        assert_eq!(failures(&sim).len(), attempts);
    }
}

// Who stops a run politely, however often, does no harm to its steps: they are made again under the same key, and what the
// stopped attempts may have cost is booked.
// covers F-05, E-60
#[test]
fn interrupts_are_no_doubts() {
    let script = stumbles(0, code::MODEL_AUTH, Retry::Never, 5);
    let calm = Sim::run(&one(), &script);
    let sim = Sim::with(&one(), &script, Plan { interrupts: vec![0; 4], ..Plan::default() });
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(starts(&sim).iter().map(|s| s.0).collect::<Vec<_>>(), [1, 1, 1, 1, 1]);
    assert_eq!((sim.count("r", "step_interrupted"), sim.count("r", "step_in_doubt")), (4, 0));
    let (calm, spent) = (calm.summary().spent, sim.summary().spent);
    assert_eq!(spent.model_calls, 5);
    assert!(spent.usage.output_tokens > calm.usage.output_tokens);
    assert_eq!(spent.by_model.iter().map(|m| m.usage.tokens()).sum::<u64>(), spent.usage.tokens());
}

// An effect that may have happened stays open at an interrupt, and is a doubt for whoever takes the run up.
// covers F-05
#[test]
fn an_interrupted_effect_is_in_doubt() {
    let script = uses("send");
    let sim = Sim::with(&one(), &script, Plan { interrupts: vec![4], ..Plan::default() });
    assert_eq!((sim.count("r", "step_interrupted"), sim.count("r", "step_in_doubt")), (0, 1));
    let script = uses("save");
    let sim = Sim::with(&one(), &script, Plan { interrupts: vec![4, 5], ..Plan::default() });
    assert_eq!((sim.count("r", "step_interrupted"), sim.count("r", "step_in_doubt")), (2, 0));
    assert_eq!(sim.summary().status, Terminal::Succeeded);
}

// A call that was dropped at a cancel, or whose answer never came, may have been paid: what was kept back for it is booked.
// covers E-21, E-60
#[test]
fn what_a_lost_call_may_have_cost_is_booked() {
    let slow = Script::new(|_: &Asked<'_>| says("too late").after(60_000));
    let sim = Sim::with(&one(), &slow, Plan { cancel: Some((2, None)), ..Plan::default() });
    let spent = sim.summary().spent;
    assert_eq!((sim.summary().status, spent.model_calls), (Terminal::Cancelled, 1));
    assert!(spent.usage.output_tokens >= sim.request("one", "t1").max_output, "{spent:?}");
    let script = stumbles(2, code::MODEL_TIMEOUT, Retry::Ambiguous, 5);
    let sim = Sim::run(&one(), &script);
    assert_eq!((sim.summary().status, sim.summary().spent.model_calls), (Terminal::Succeeded, 3));
    assert!(sim.summary().spent.usage.output_tokens > 2 * sim.request("one", "t1").max_output);
    // A failure of which the provider knows is booked as the provider counts it.
    let script = stumbles(2, code::MODEL_OVERLOADED, Retry::After(None), 5);
    assert_eq!(Sim::run(&one(), &script).summary().spent.usage.tokens(), 30);
}

// A death while a retry waits: the pause does not count against the time that retries may take.
// covers F-07
#[test]
fn a_pause_in_a_retrys_wait_does_not_use_up_the_retries() {
    let mut team = one();
    team.retry.insert("test".into(), RetryPolicy { total: 30_000, ..RetryPolicy::default() });
    let script = stumbles(2, code::MODEL_OVERLOADED, Retry::After(Some(1_000)), 5);
    // run started, t1 started, t1 failed: it dies before the next start and is taken up a minute later.
    let sim = Sim::with(&team, &script, die(3, 1));
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(starts(&sim).iter().map(|s| s.0).collect::<Vec<_>>(), [1, 2, 3]);
    // Within one life the same time is beyond them.
    let slow = Script::new(|asked: &Asked<'_>| match asked.attempt {
        1 => fails(code::MODEL_OVERLOADED, Retry::After(Some(40_000))),
        _ => says("done"),
    });
    let sim = Sim::run(&team, &slow);
    assert!(matches!(failures(&sim)[..], [(1, _, Then::Wait { attempt: 2, until: Some(_) })]));
}

// A run that fails late keeps what its children reported, as a part; one that fails at once has nothing.
// covers F-07, E-21
#[test]
fn a_run_that_fails_late_keeps_what_exists() {
    let team = team(vec![leads("lead", &[], &["kid"]), agent("kid", &[])]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "work")]).saying("the plan"),
        ("lead", _) => fails(code::MODEL_AUTH, Retry::Never),
        _ => says("a costly result"),
    });
    let summary = Sim::run(&team, &script).summary();
    assert_eq!((summary.status, summary.partial, summary.limit), (Terminal::Failed, true, None));
    assert_eq!(summary.payload["result"], "the plan");
    assert_eq!(summary.payload["reports"][0]["payload"]["result"], "a costly result");
    let summary = Sim::run(&one(), &stumbles(9, code::MODEL_AUTH, Retry::Never, 5)).summary();
    assert_eq!((summary.status, summary.partial, summary.payload.is_null()), (Terminal::Failed, false, true));
}
