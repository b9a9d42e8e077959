//! What must stay readable: a log that an earlier build wrote, and the table of reason codes.

use crate::common::script::Reply;
use crate::common::*;
use deputize_core::code::{self, Code};
use deputize_core::definition::Definition;
use deputize_core::depth::{DEEPEST, deeper};
use deputize_core::event::{Recorded, Unreadable, VERSION, read};
use deputize_core::message::Arguments;
use deputize_core::run::RunState;
use deputize_core::summary::{Summary, Terminal};
use serde_json::{Value, json};
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
        r#"{"v":1,"seq":9,"at":5,"type":"adopted","by":"a person","team":{"old":"t1","new":"t2"},"definition":{"old":"d1","new":"d2"}}"#,
        r#"{"v":1,"seq":7,"at":5,"type":"cancel_requested","by":"its parent r","limit":"budget.time"}"#,
        r#"{"v":1,"seq":7,"at":5,"type":"message_received","text":"hurry","by":"a person"}"#,
        r#"{"v":1,"seq":7,"at":5,"type":"result_discarded","label":"t1","attempt":2,"code":"model.timeout","spent":{"usage":{"input_tokens":9,"cached_tokens":0,"output_tokens":1},"model_calls":0,"tool_calls":0,"runs":0}}"#,
        r#"{"v":1,"seq":7,"at":5,"type":"result_discarded","label":"t1/c0","attempt":1,"spent":{"usage":{"input_tokens":0,"cached_tokens":0,"output_tokens":0},"model_calls":0,"tool_calls":1,"runs":0}}"#,
        r#"{"v":1,"seq":9,"at":5,"type":"step_interrupted","label":"t1","attempt":2,"presumed":{"usage":{"input_tokens":9,"cached_tokens":0,"output_tokens":1},"model_calls":1,"tool_calls":0,"runs":0}}"#,
        r#"{"v":1,"seq":8,"at":5,"type":"decided","label":"s1/go","what":"dispatch","why":"it is next"}"#,
        r#"{"v":1,"seq":3,"at":5,"type":"step_failed","label":"t1","attempt":1,"code":"model.rate_limited","why":"later","spent":{"usage":{"input_tokens":0,"cached_tokens":0,"output_tokens":0},"model_calls":1,"tool_calls":0,"runs":0},"then":{"wait":{"attempt":2,"until":9}}}"#,
        r#"{"v":1,"seq":3,"at":5,"type":"step_failed","label":"t1","attempt":1,"code":"model.overloaded","why":"full","spent":{"usage":{"input_tokens":0,"cached_tokens":0,"output_tokens":0},"model_calls":1,"tool_calls":0,"runs":0},"then":{"wait":{"attempt":2,"until":null}}}"#,
        r#"{"v":1,"seq":3,"at":5,"type":"step_failed","label":"t1","attempt":1,"code":"model.auth","why":"no","spent":{"usage":{"input_tokens":0,"cached_tokens":0,"output_tokens":0},"model_calls":1,"tool_calls":0,"runs":0},"then":{"fallback":{"attempt":2,"model":"spare:small"}}}"#,
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

/// JSON of so many levels.
fn nested(levels: usize) -> String {
    format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
}

// The deepest JSON that is let in comes back out of a log; what is deeper is told, and the run goes on.
// covers F-05, F-07
#[test]
fn what_is_let_in_can_be_read_back() {
    let deepest: Value = serde_json::from_str(&nested(DEEPEST)).unwrap();
    assert!(!deeper(&deepest, DEEPEST) && deeper(&deepest, DEEPEST - 1));
    assert!(matches!(Arguments::from_text(&nested(DEEPEST)), Arguments::Json(_)));
    assert!(matches!(Arguments::from_text(&nested(DEEPEST + 1)), Arguments::Malformed(_)));
    // The simulator reads every record back.
    let kid = Definition { output: Some(json!({"type": "object"})), ..agent("kid", &["look", "save"]) };
    let lead = Definition { output: Some(json!({"type": "object"})), ..leads("lead", &[], &["kid"]) };
    let mut all = team(vec![leads("top", &[], &["lead"]), lead, kid]);
    all.agents.get_mut("lead").unwrap().budget.turns = Some(1);
    for (levels, rejected) in [(DEEPEST, 0), (DEEPEST + 1, 3), (120, 3)] {
        let deep: Value = serde_json::from_str(&nested(levels)).unwrap();
        let arguments = deep.clone();
        let script = Script::new(move |asked: &Asked<'_>| match (asked.path.matches('/').count(), asked.label) {
            (0, "t1") => delegates(&[to("lead", "all of it")]),
            (1, "t1") => delegates(&[to("kid", "work")]),
            (2, "t1") => calls(&[("look", arguments.clone()), ("save", arguments.clone())]),
            (1, "closing") => says(" "),
            (2, _) => says(&arguments.to_string()),
            _ => says("done"),
        })
        .tools(move |used: &Used<'_>| match used.tool {
            "save" => crate::common::Answer { reply: Reply::Note(deep.clone()), latency: 1 },
            _ => text("ok"),
        });
        let script = Script {
            tool: Box::new(move |used: &Used<'_>| match used.note {
                Some(_) => text("saved"),
                None => (script.tool)(used),
            }),
            model: script.model,
        };
        let sim = Sim::run(&all, &script);
        assert_eq!(sim.summary().status, Terminal::Succeeded);
        assert_eq!(sim.count("r/t1/c0/t1/c0", "step_rejected"), rejected);
        assert!(sim.summary_of("r/t1/c0").payload["reports"].is_array(), "{levels}");
    }
    let deep: Value = serde_json::from_str(&nested(100)).unwrap();
    let complaint = Summary::parse(&json!({"status": "succeeded", "payload": deep}), &json!({})).unwrap_err();
    assert_eq!(complaint.0, code::SUMMARY_INVALID);
    assert!(complaint.1.contains("nested deeper"), "{}", complaint.1);
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
