//! Answers: the output schema and its repairs, blank and cut answers, success conditions, citations, and what makes a
//! summary valid.

use crate::common::{Asked, Plan, Script, Sim, Used, agent, calls, delegates, leads, says, says_of, team, text, to};
use deputize_core::brief::{Predicate, Success, Test};
use deputize_core::code;
use deputize_core::definition::{Definition, EvidenceMode, Team};
use deputize_core::event::Event;
use deputize_core::message::{Message, Stop};
use deputize_core::schema;
use deputize_core::summary::{Judge, Summary, Terminal, Verdict};
use serde_json::{Value, json};

fn findings_schema() -> Value {
    json!({
        "type": "object",
        "properties": {"findings": {"type": "array", "items": {"type": "string"}}},
        "required": ["findings"],
        "additionalProperties": false
    })
}

fn reviewer() -> Definition {
    Definition { output: Some(findings_schema()), ..agent("one", &["look"]) }
}

/// Answers in turn, by how many were rejected before.
fn tries(answers: &'static [&'static str]) -> Script {
    Script::new(move |asked: &Asked<'_>| says(answers[asked.rejections as usize]))
}

// A repair is recorded, and asked for with what was wrong.
// covers E-61, E-16, E-18
#[test]
fn an_answer_that_does_not_fit_is_repaired() {
    let script = tries(&["it is fine", r#"{"findings": "none"}"#, r#"{"findings": ["a"]}"#]);
    let sim = Sim::run(&team(vec![reviewer()]), &script);
    let summary = sim.summary();
    assert_eq!((summary.status, summary.payload), (Terminal::Succeeded, json!({"findings": ["a"]})));
    assert_eq!(sim.count("r", "step_rejected"), 2, "as many events as failures");
    assert_eq!(summary.findings.iter().filter(|f| f.code == code::OUTPUT_INVALID).count(), 2);
    assert_eq!(summary.spent.model_calls, 3);
    let request = sim.request("one", "t1");
    let [.., Message::Assistant { text: said, .. }, Message::User { text: wrong }] = &request.messages[..] else {
        panic!("{request:?}")
    };
    assert_eq!(said, r#"{"findings": "none"}"#);
    assert!(wrong.contains("/findings") && wrong.contains("cannot be accepted"), "{wrong}");
}

// After two repairs it has failed, and the last raw text is kept.
// covers E-61, E-60, X-12
#[test]
fn two_repairs_are_the_most() {
    let script = tries(&["one", "two", "three"]);
    let sim = Sim::run(&team(vec![reviewer()]), &script);
    let summary = sim.summary();
    assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::OUTPUT_INVALID)));
    assert_eq!((summary.payload, summary.partial), (json!({"result": "three"}), false));
    let [.., Message::User { text: wrong }] = &sim.request("one", "t1").messages[..] else { panic!("no repair") };
    assert!(wrong.len() < 300, "what is wrong is said in a sentence: {wrong}");
}

// What models put around a document does not count.
// covers E-16
#[test]
fn a_document_is_found_in_its_wrapping() {
    let table = [
        r#"{"findings": ["a"]}"#,
        "```json\n{\"findings\": [\"a\"]}\n```",
        "Here it is:\n```\n{\"findings\": [\"a\"]}\n```\nI hope it helps.",
        "The result is {\"findings\": [\"a\"]}.",
        "\n\n {\"findings\": [\"a\"]} ",
    ];
    for said in table {
        let script = Script::new(move |_: &Asked<'_>| says(said));
        let summary = Sim::run(&team(vec![reviewer()]), &script).summary();
        assert_eq!((summary.payload, summary.findings.len()), (json!({"findings": ["a"]}), 0), "{said}");
    }
}

// Without a schema the text is the result; a blank one is a failure, and asking again is no use.
// covers E-18, E-10, X-11
#[test]
fn without_a_schema_the_text_is_the_result() {
    let one = team(vec![agent("one", &[])]);
    let script = Script::new(|_: &Asked<'_>| says(" all is well\n"));
    assert_eq!(Sim::run(&one, &script).summary().payload, json!({"result": "all is well"}));
    for blank in ["", "  \n\t"] {
        let script = Script::new(move |_: &Asked<'_>| says(blank));
        let sim = Sim::run(&one, &script);
        let summary = sim.summary();
        assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::SUMMARY_EMPTY)));
        assert_eq!((summary.spent.model_calls, sim.count("r", "step_rejected")), (1, 1));
    }
}

// An answer that was cut off is asked for again, shorter; a refusal is final.
// covers F-07
#[test]
fn cut_answers_are_repaired_and_refusals_are_final() {
    let one = team(vec![agent("one", &[])]);
    let script = Script::new(|asked: &Asked<'_>| match asked.rejections {
        0 => says("very lo").stopped(Stop::Length),
        1 => says("").stopped(Stop::Length),
        _ => says("short"),
    });
    let summary = Sim::run(&one, &script).summary();
    assert_eq!((summary.status, summary.payload), (Terminal::Succeeded, json!({"result": "short"})));
    assert!(summary.findings.iter().all(|f| f.code == code::MODEL_LENGTH));
    for stop in [Stop::Refusal, Stop::Filter] {
        let script = Script::new(move |_: &Asked<'_>| says("I cannot").stopped(stop));
        let summary = Sim::run(&one, &script).summary();
        assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::MODEL_REFUSED)));
        assert_eq!(summary.spent.model_calls, 1);
    }
}

fn at(place: &str, test: Test) -> Predicate {
    Predicate::At { at: place.into(), test }
}

fn with_success(predicates: Vec<Predicate>, statements: &[&str]) -> Team {
    let statements = statements.iter().map(ToString::to_string).collect();
    let success = Some(Success { predicates, statements });
    team(vec![Definition { success, ..reviewer() }])
}

fn judged(team: &Team, said: &'static str) -> Summary {
    let script = Script::new(move |asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[("look", json!({"at": "a"}))]),
        _ => says(said),
    })
    .tools(|used: &Used<'_>| match used.tool {
        "look" => text("seen"),
        tool => text(tool),
    });
    Sim::run(team, &script).summary()
}

// Predicates are checked by the program.
// covers E-12
#[test]
fn predicates_are_checked_by_the_program() {
    let said = r#"{"findings": ["alpha", "beta"]}"#;
    let table = [
        (at("/findings", Test::Exists(true)), true),
        (at("/other", Test::Exists(false)), true),
        (at("/findings", Test::Exists(false)), false),
        (at("/findings/0", Test::Equals(json!("alpha"))), true),
        (at("/findings/0", Test::Equals(json!("beta"))), false),
        (at("/findings", Test::MinItems(2)), true),
        (at("/findings", Test::MinItems(3)), false),
        (at("/findings", Test::MaxItems(2)), true),
        (at("/findings", Test::MaxItems(1)), false),
        (at("/findings/1", Test::Matches("^b.*a$".into())), true),
        (at("/findings", Test::Matches("b".into())), false),
        (at("/none", Test::MinItems(1)), false),
        (Predicate::EvidenceMin(1), true),
        (Predicate::EvidenceMin(2), false),
    ];
    for (predicate, met) in table {
        let summary = judged(&with_success(vec![predicate.clone()], &[]), said);
        let verdict = if met { (Terminal::Succeeded, Verdict::Met) } else { (Terminal::Unmet, Verdict::Unmet) };
        assert_eq!((summary.status, summary.success[0].verdict), verdict, "{predicate:?}");
        assert_eq!(summary.success[0].judge, Judge::Program);
        assert_eq!(summary.reason_code, (!met).then_some(code::SUCCESS_UNMET));
    }
}

// A file is looked for by a recorded step.
// covers E-12
#[test]
fn a_predicate_on_a_file_is_a_probe() {
    for (path, status) in [("there.md", Terminal::Succeeded), ("gone.md", Terminal::Unmet)] {
        let team = with_success(vec![Predicate::FileExists(path.into())], &[]);
        let script = tries(&[r#"{"findings": []}"#]);
        let sim = Sim::run(&team, &script);
        assert_eq!(sim.summary().status, status, "{path}");
        assert!(sim.state("r").outcome("check/f0").is_some());
    }
}

// Statements are the agent's own report; what it does not say is unknown, and unknown is not met.
// covers E-12
#[test]
fn statements_are_reported_by_the_agent() {
    let team = with_success(Vec::new(), &["two pages are read", "nothing was changed"]);
    let status = |said| {
        let summary = judged(&team, said);
        let verdicts: Vec<Verdict> = summary.success.iter().map(|j| j.verdict).collect();
        assert!(summary.success.iter().all(|j| j.judge == Judge::SelfReported));
        assert_eq!(summary.payload, json!({"findings": []}), "{said}");
        (summary.status, verdicts)
    };
    use Verdict::{Met, Unknown, Unmet};
    let both = "{\"findings\": []}\n```success\n1: met - see [e1]\n2: met\n```";
    assert_eq!(status(both), (Terminal::Succeeded, vec![Met, Met]));
    let first = "```success\n1. Met, of course\n2) met\n```\n{\"findings\": []}";
    assert_eq!(status(first), (Terminal::Succeeded, vec![Met, Met]), "the report may stand in front");
    let one = "{\"findings\": []}\n```success\n2: unmet - one was\n```";
    assert_eq!(status(one), (Terminal::Unmet, vec![Unknown, Unmet]));
    let json = "{\"findings\": []}\n```success\n[{\"statement\": 1, \"verdict\": \"met\", \"evidence\": \"e1\"}]\n```";
    assert_eq!(status(json), (Terminal::Unmet, vec![Met, Unknown]));
    assert_eq!(status("{\"findings\": []}"), (Terminal::Unmet, vec![Unknown, Unknown]));
    assert_eq!(status("{\"findings\": []}\n```success\n1: met\n2: met"), (Terminal::Succeeded, vec![Met, Met]));
}

// The request asks for the report, and the account keeps what it rests on.
// covers E-12
#[test]
fn the_request_asks_for_the_report() {
    let team = with_success(vec![Predicate::EvidenceMin(0)], &["two pages are read"]);
    let script = tries(&["{\"findings\": []}\n```success\n1: met - pages 1 and 2\n```"]);
    let sim = Sim::run(&team, &script);
    let Message::User { text } = &sim.request("one", "t1").messages[0] else { panic!() };
    assert!(text.contains("1. two pages are read") && text.contains("```success"), "{text}");
    assert_eq!(sim.summary().success[1].evidence, "pages 1 and 2");
}

// With `evidence: cite` claims name evidence that exists.
// covers E-18
#[test]
fn citations_must_exist() {
    let team = team(vec![Definition { evidence: EvidenceMode::Cite, ..agent("one", &["look"]) }]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.label, asked.rejections) {
        ("t1", _) => calls(&[("look", json!({"at": "a"})), ("fly", json!({})), ("look", json!({"at": "b"}))]),
        (_, 0) => says("it is so"),
        (_, 1) => says("it is so [e3]"),
        _ => says("it is so [e1], and so [e2]"),
    });
    let sim = Sim::run(&team, &script);
    assert_eq!(sim.summary().status, Terminal::Succeeded);
    assert_eq!(sim.summary().findings.iter().filter(|f| f.code == code::EVIDENCE_UNKNOWN).count(), 2);
    assert!(sim.request("one", "t1").system.contains("[e1]"));
    let read = sim.results("one", "t2");
    assert!(read[0].contains("look [e1]") && !read[1].contains("[e") && read[2].contains("look [e2]"));
    let evidence = sim.summary().evidence;
    assert_eq!((evidence[1].id.as_str(), evidence[1].step.as_str()), ("e2", "t1/c2"));
    let unneeded = Script::new(|_: &Asked<'_>| says("from memory"));
    assert_eq!(Sim::run(&team, &unneeded).summary().status, Terminal::Succeeded, "nothing to cite");
}

fn valid() -> Value {
    let one = team(vec![agent("one", &["look"])]);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "t1" => calls(&[("look", json!({"at": "a"}))]),
        _ => says("done"),
    });
    serde_json::to_value(Sim::run(&one, &script).summary()).unwrap()
}

// Outcome, payload, evidence trail, findings, consumed budget.
// covers E-18
#[test]
fn a_summary_lacks_nothing() {
    let schema = schema::default_output();
    assert!(Summary::parse(&valid(), &schema).is_ok());
    for part in ["status", "payload", "evidence", "findings", "spent"] {
        let mut summary = valid();
        summary.as_object_mut().unwrap().shift_remove(part);
        let (code, why) = Summary::parse(&summary, &schema).unwrap_err();
        assert_eq!(code, code::SUMMARY_INVALID);
        assert!(why.contains(part), "{why}");
    }
    for (part, value) in [("status", json!("splendid")), ("evidence", json!("e1")), ("spent", json!(5))] {
        let mut summary = valid();
        summary[part] = value;
        assert!(Summary::parse(&summary, &schema).is_err(), "{part}");
    }
}

// covers E-10, E-18, S-04
#[test]
fn a_bare_value_is_no_summary() {
    let schema = schema::default_output();
    for bare in [json!("all is well"), json!(null), json!(["done"]), json!(42)] {
        assert_eq!(Summary::parse(&bare, &schema).unwrap_err().0, code::SUMMARY_INVALID);
    }
    let mut wrong = valid();
    wrong["payload"] = json!({"result": ""});
    let (_, why) = Summary::parse(&wrong, &schema).unwrap_err();
    assert!(why.contains("/result"), "{why}");
    wrong["status"] = json!("failed");
    assert!(Summary::parse(&wrong, &schema).is_ok(), "a failure may have any payload");
}

// What an embedded child gives back is checked like any other; its reservation counts as used.
// covers E-10, F-07
#[test]
fn a_bare_result_of_a_child_is_a_failed_delegation() {
    use deputize_core::id::Label;
    use deputize_core::run::{Command, Delivery};
    let team = team(vec![leads("lead", &[], &["kid"]), agent("kid", &[])]);
    let script = Script::new(|asked: &Asked<'_>| match asked.path {
        "lead" if asked.label == "t1" => delegates(&[to("kid", "work")]),
        _ => says("done"),
    });
    let sim = Sim::with(&team, &script, Plan { seed: Some(1), ..Plan::default() });
    let log: Vec<_> = sim.logs[&crate::common::sim::root()].clone();
    let until = log.iter().position(|r| matches!(&r.event, Event::StepStarted(s) if s.delegation.is_some())).unwrap();
    let state = deputize_core::run::RunState::fold(&log[..=until]);
    let label = Label::parse("t1/c0").unwrap();
    let delivery = Delivery::Child(json!("all is well"));
    let spent = deputize_core::budget::Spend::default();
    let events = state.decide(&team, state.now(), Command::Deliver { label, attempt: 1, delivery, spent });
    let [Event::StepFailed { code, spent, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(*code, code::SUMMARY_INVALID);
    assert_eq!((spent.usage.tokens(), spent.runs), (state.ledger().reserved.tokens, 1));
    assert_eq!(spent.by_model.iter().map(|m| m.usage).collect::<Vec<_>>(), [spent.usage], "spend by model adds up");
}

// An unmet child is marked in what its parent reads.
// covers L-14, E-12
#[test]
fn an_unmet_child_is_marked() {
    let kid = Definition {
        success: Some(Success { predicates: vec![at("/findings", Test::MinItems(1))], statements: Vec::new() }),
        output: Some(findings_schema()),
        ..agent("kid", &[])
    };
    let team = team(vec![leads("lead", &[], &["kid"]), kid]);
    let script = Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("lead", "t1") => delegates(&[to("kid", "work")]),
        ("lead", _) => says("done"),
        _ => says_of(&json!({"findings": []})),
    });
    let sim = Sim::run(&team, &script);
    let read = &sim.results("lead", "t2")[0];
    assert!(read.starts_with(r#"{"status":"unmet","unverified":"#) && read.contains("success.unmet"), "{read}");
}

// An answer that was rejected was paid for: a cap in the middle of its repair does not lose it.
// covers E-21, E-61
#[test]
fn a_cap_in_a_repair_keeps_the_rejected_answer() {
    const SAID: &[&str] = &["a long analysis, worth money", "still no JSON", "nor this"];
    let said = SAID[0];
    let mut one = reviewer();
    one.budget.model_calls = Some(1);
    let script = tries(SAID);
    let summary = Sim::run(&team(vec![one.clone()]), &script).summary();
    assert_eq!((summary.status, summary.limit.as_deref()), (Terminal::BudgetExhausted, Some("model_calls")));
    assert_eq!(summary.payload["result"], said);
    one.budget.model_calls = Some(2);
    let sim = Sim::run(&team(vec![one]), &script);
    let request = serde_json::to_string(sim.request("one", "closing")).unwrap();
    assert!(request.contains(said) && request.contains("could not be accepted"), "{request}");
}

/// What the first statement comes to when an agent reports like this.
fn reported(report: &str) -> (Verdict, String) {
    let success = Some(Success { predicates: Vec::new(), statements: vec!["it is so".into()] });
    let said = format!("an answer\n```success\n{report}\n```");
    let script = Script::new(move |_: &Asked<'_>| says(&said));
    let summary = Sim::run(&team(vec![Definition { success, ..agent("one", &[]) }]), &script).summary();
    (summary.success[0].verdict, summary.success[0].evidence.clone())
}

// Small models set lists and emphasis around their reports; what says something else is never taken for met.
// covers E-12
#[test]
fn reports_are_read_as_models_write_them() {
    let met = [
        "1: met",
        "- 1: met",
        "* 1. Met.",
        "**1**: met",
        "1: **met**",
        "1 - met",
        "[1] met",
        "Statement 1: met",
        "1. \u{2705} met",
        "1) `met`",
        "1: MET, see e1",
    ];
    for report in met {
        assert_eq!(reported(report).0, Verdict::Met, "{report}");
    }
    for report in ["1: unmet", "- **1**: not met", "1 - Unmet: no file"] {
        assert_eq!(reported(report).0, Verdict::Unmet, "{report}");
    }
    for report in ["1: met? no", "1: met/unmet", "1: unknown", "1: nearly met", "2: met", "met", "1"] {
        assert_eq!(reported(report).0, Verdict::Unknown, "{report}");
    }
    assert_eq!(reported("- **1**: **met** - see ./my_file.rs [e1]").1, "see ./my_file.rs [e1]");
}

// Citations come alone or as lists, and the payload must hold them: a citation in the report alone is none.
// covers E-18
#[test]
fn the_payload_cites_alone_or_in_lists() {
    let statements = vec!["it is so".to_string()];
    let cites = |said: &'static str, success: Success| {
        let one = Definition { evidence: EvidenceMode::Cite, success: Some(success), ..agent("one", &["look"]) };
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "t1" => calls(&[("look", json!({})), ("look", json!({}))]),
            _ => says(said),
        });
        Sim::run(&team(vec![one]), &script).summary().status
    };
    for said in ["so [e1]", "so [e1, e2]", "so [e1][e2]", "so [e1; e2] and [see below]", "so [e1 and e2]"] {
        assert_eq!(cites(said, Success::default()), Terminal::Succeeded, "{said}");
    }
    for said in ["so", "so [e3]", "so [e1, e3]", "so [e0]", "so [see e1]"] {
        assert_eq!(cites(said, Success::default()), Terminal::Failed, "{said}");
    }
    let success = Success { predicates: Vec::new(), statements };
    assert_eq!(cites("a bare claim\n```success\n1: met - [e1]\n```", success.clone()), Terminal::Failed);
    assert_eq!(cites("a claim [e2]\n```success\n1: met\n```", success), Terminal::Succeeded);
}

// A blank answer is asked for again where the brief asks for a form.
// covers E-18, E-61
#[test]
fn a_blank_answer_is_repaired_under_a_schema() {
    let script = tries(&[" ", r#"{"findings": ["a"]}"#]);
    let summary = Sim::run(&team(vec![reviewer()]), &script).summary();
    assert_eq!((summary.status, summary.payload), (Terminal::Succeeded, json!({"findings": ["a"]})));
    let summary = Sim::run(&team(vec![agent("one", &[])]), &tries(&[" ", "late"])).summary();
    assert_eq!((summary.status, summary.reason_code), (Terminal::Failed, Some(code::SUMMARY_EMPTY)));
}
