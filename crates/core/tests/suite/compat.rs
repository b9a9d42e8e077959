//! What must stay readable: a log that an earlier build wrote, and the table of reason codes.

use deputize_core::code::{self, Code};
use deputize_core::event::{Recorded, Unreadable, VERSION, read};
use deputize_core::run::RunState;
use deputize_core::summary::Terminal;
use std::collections::BTreeSet;

/// The log of a run of form 1, with every kind of event that a run without a cancel can have.
const LOG: &str = include_str!("../fixtures/log-v1.jsonl");

const REQUIREMENTS: &str = include_str!("../../../../docs/requirements.md");

fn log() -> Vec<Recorded> {
    LOG.lines().map(|line| read(line).unwrap_or_else(|e| panic!("{line}: {e}"))).collect()
}

// A log of an earlier build is read and means the same.
// covers F-05
#[test]
fn a_log_of_form_1_is_read() {
    let log = log();
    let kinds: BTreeSet<&str> = log.iter().map(|r| r.event.kind()).collect();
    let all = [
        "recovered",
        "run_finished",
        "run_started",
        "step_denied",
        "step_failed",
        "step_in_doubt",
        "step_prepared",
        "step_rejected",
        "step_started",
        "step_succeeded",
        "woke",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), all);
    let state = RunState::fold(&log);
    let summary = state.summary().unwrap();
    assert_eq!((summary.status, summary.payload["result"].as_str()), (Terminal::Succeeded, Some("all is done")));
    assert_eq!((state.next_seq(), state.evidence().len()), (log.len() as u64, summary.evidence.len()));
    assert_eq!(state.ledger().spent, summary.spent);
    assert_eq!(state.findings(), summary.findings);
    assert!(state.open().is_empty());
}

// The kinds that the log above has not.
// covers F-05
#[test]
fn the_other_kinds_of_form_1_are_read() {
    let lines = [
        r#"{"v":1,"seq":7,"at":5,"type":"cancel_requested","by":"a person"}"#,
        r#"{"v":1,"seq":9,"at":5,"type":"step_interrupted","label":"t1","attempt":2,"presumed":{"usage":{"input_tokens":9,"cached_tokens":0,"output_tokens":1},"model_calls":1,"tool_calls":0,"runs":0}}"#,
        r#"{"v":1,"seq":8,"at":5,"type":"decided","label":"s1/go","what":"dispatch","why":"it is next"}"#,
    ];
    for line in lines {
        assert_eq!(serde_json::to_string(&read(line).unwrap()).unwrap(), line);
    }
}

// What a later build added is passed over; a later form and a damaged record are told apart.
// covers F-05
#[test]
fn what_cannot_be_read_says_why() {
    let line = r#"{"v":1,"seq":0,"at":5,"shade":"blue","type":"woke","now":9,"who":"me"}"#;
    assert_eq!(read(line).unwrap().event.kind(), "woke");
    let newer = format!(r#"{{"v":{},"seq":0,"at":5,"type":"woke","now":9}}"#, VERSION + 1);
    assert!(matches!(read(&newer), Err(Unreadable::Newer(_))));
    for damaged in ["", "{", r#"{"v":1,"seq":0,"at":5,"type":"slept"}"#, r#"{"seq":0}"#, &line[..40]] {
        assert!(matches!(read(damaged), Err(Unreadable::Damaged(_))), "{damaged}");
    }
}

// Every refusal has a code, and the code names its requirement.
// covers E-61
#[test]
fn reason_codes_are_unique_and_name_their_requirements() {
    let mut seen = BTreeSet::new();
    for reason in code::ALL {
        let code = reason.code.as_str();
        assert!(seen.insert(code), "{code} twice");
        let (area, what) = code.split_once('.').unwrap();
        let plain = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(plain(area) && plain(what), "{code}");
        assert!(reason.meaning.ends_with('.') && reason.meaning.len() > 10, "{code}: {}", reason.meaning);
        assert!(!reason.covers.is_empty(), "{code} answers nothing");
        for id in reason.covers.split(' ') {
            let (letter, number) = id.split_once('-').unwrap();
            assert!(letter.len() == 1 && letter.chars().all(|c| c.is_ascii_uppercase()), "{code}: {id}");
            assert!(number.len() == 2 && number.parse::<u32>().is_ok(), "{code}: {id}");
            assert!(REQUIREMENTS.contains(&format!("{id}:")), "{code}: there is no {id}");
        }
    }
}

// Which codes are caps, and how ends name them.
// covers L-50
#[test]
fn caps_are_those_of_the_budget() {
    let caps = [
        (code::BUDGET_TURNS, "turns", Terminal::MaxTurns),
        (code::BUDGET_TIME, "time", Terminal::Deadline),
        (code::BUDGET_TOKENS, "tokens", Terminal::BudgetExhausted),
        (code::BUDGET_EXHAUSTED, "tokens", Terminal::BudgetExhausted),
        (code::BUDGET_CHILDREN, "children", Terminal::BudgetExhausted),
        (code::BUDGET_TOOL_CALLS, "tool_calls", Terminal::BudgetExhausted),
        (code::BUDGET_MODEL_CALLS, "model_calls", Terminal::BudgetExhausted),
        (code::BUDGET_RUNS, "runs", Terminal::BudgetExhausted),
    ];
    for (code, limit, terminal) in &caps {
        assert_eq!((code.limit(), Terminal::of_cap(code)), (Some(*limit), *terminal));
    }
    let counted = code::ALL.iter().filter(|r| r.code.is_cap()).count();
    assert_eq!(counted, caps.len());
    assert_eq!(Code::other("brief.budget_missing").limit(), None);
}
