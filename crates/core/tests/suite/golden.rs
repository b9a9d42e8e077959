//! The executable fixture: four delegations, two delegated, one degraded, one rejected, with their exact texts and trace.

use crate::common::team::supplied;
use crate::common::{Asked, Plan, Script, Sim, agent, delegates, leads, says, says_of, team};
use deputize_core::brief::Mode;
use deputize_core::definition::{Definition, Team};
use deputize_core::message::Arguments;
use deputize_core::projection::{Tree, delegations, line};
use deputize_core::step::{Ask, Outcome, Product};
use serde_json::{Value, json};

const PRINTED: [&str; 4] = [
    r#"{"mode":"delegated","result":{"query":"find docs about agent cost","hits":["doc-a","doc-b"]}}"#,
    r#"{"mode":"delegated","result":{"summary":"2 findings: cost is dominated by tool calls; retries need idempotency keys."}}"#,
    r#"{"mode":"degraded","result":{"answer":"supervisor fallback for \"translate the report to English\" (no specialist: translate)"}}"#,
    r#"{"mode":"rejected","reason":"brief missing objective — subagent cannot be steered"}"#,
];

const TRACE: [&str; 4] = [
    "delegated: search -> search-specialist",
    "delegated: summarize -> summarize-specialist",
    "degraded: no specialist for taskType=translate",
    "rejected: brief missing objective",
];

fn specialist(kind: &str, output: Value) -> Definition {
    let mut d = supplied(agent(&format!("{kind}-specialist"), &[]));
    d.task_types = vec![kind.to_string()];
    d.output = Some(output);
    d
}

fn golden_team() -> Team {
    let search = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "hits": {"type": "array", "items": {"type": "string"}}},
        "required": ["query", "hits"]
    });
    let summary = json!({"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]});
    team(vec![
        leads("supervisor", &[], &["search-specialist", "summarize-specialist"]),
        specialist("search", search),
        specialist("summarize", summary),
    ])
}

fn written(task_type: &str, objective: &str, output_format: &str, boundaries: &str) -> Value {
    json!({"task_type": task_type, "objective": objective, "output_format": output_format, "boundaries": boundaries})
}

fn script() -> Script {
    Script::new(|asked: &Asked<'_>| match (asked.path, asked.label) {
        ("supervisor", "t1") => delegates(&[
            written("search", "find docs about agent cost", "list of doc ids", "only internal wiki, max 5 queries"),
            written("summarize", "summarize search findings for the cost report", "3 sentences", "no new searches"),
            written("translate", "translate the report to English", "translated text", "keep terminology"),
            written("search", "", "list", "wiki only"),
        ]),
        ("supervisor", _) => says("all four are done"),
        ("supervisor/search-specialist#1", _) => {
            says_of(&json!({"query": "find docs about agent cost", "hits": ["doc-a", "doc-b"]}))
        }
        _ => says_of(&json!({
            "summary": "2 findings: cost is dominated by tool calls; retries need idempotency keys."
        })),
    })
}

/// The fixture's line of a delegation, from what is recorded of it.
fn printed(ask: &Ask, outcome: &Outcome) -> String {
    let Ask::Delegate { arguments: Arguments::Json(_), .. } = ask else { panic!("no delegation: {ask:?}") };
    let line = match outcome {
        Outcome::Ok(Product::Summary(s)) => json!({"mode": Mode::Delegated, "result": s.payload}),
        Outcome::Denied(refusal) => match &refusal.fallback {
            Some(fallback) => json!({"mode": refusal.mode, "result": {"answer": fallback.answer}}),
            None => json!({"mode": refusal.mode, "reason": refusal.why}),
        },
        other => panic!("neither a summary nor a refusal: {other:?}"),
    };
    line.to_string()
}

fn results(sim: &Sim<'_>) -> Vec<String> {
    let state = sim.state("r");
    (0..4)
        .map(|i| {
            let label = format!("t1/c{i}");
            let step = state.steps().find(|(l, _)| l.as_str() == label).unwrap().1;
            printed(&step.ask, state.outcome(&label).unwrap())
        })
        .collect()
}

fn trace(sim: &Sim<'_>) -> Vec<String> {
    let tree = Tree::new(sim.logs.clone().into_iter().collect());
    delegations(&tree.runs()[0]).iter().map(line).collect()
}

// covers L-21, L-22, L-23, L-24, L-25, L-28, L-29
#[test]
fn the_four_results_are_exact() {
    let script = script();
    let sim = Sim::run(&golden_team(), &script);
    assert_eq!(results(&sim), PRINTED);
    assert_eq!(sim.logs.len(), 3, "two children and no more");
}

// covers L-26, L-51
#[test]
fn the_trace_has_a_line_for_each_in_call_order() {
    let script = script();
    assert_eq!(trace(&Sim::run(&golden_team(), &script)), TRACE);
    for seed in 0..20 {
        let sim = Sim::with(&golden_team(), &script, Plan { seed: Some(seed), ..Plan::default() });
        assert_eq!((results(&sim), trace(&sim)), (PRINTED.map(String::from).into(), TRACE.map(String::from).into()));
    }
}

// covers L-27
#[test]
fn two_runs_are_byte_equal() {
    let script = script();
    let bytes = || {
        let sim = Sim::run(&golden_team(), &script);
        serde_json::to_string(&sim.logs.into_values().collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(bytes(), bytes());
}

// What the supervisor's model reads of the four.
// covers L-05, L-04, E-25
#[test]
fn the_supervisor_reads_modes_first() {
    let script = script();
    let sim = Sim::run(&golden_team(), &script);
    let read = sim.results("supervisor", "t2");
    assert!(
        read[0].starts_with(r#"{"status":"succeeded","mode":"delegated","agent":"search-specialist""#),
        "{}",
        read[0]
    );
    assert!(read[2].starts_with(r#"{"mode":"degraded","reason_code":"route.unknown""#), "{}", read[2]);
    assert!(read[3].starts_with(r#"{"mode":"rejected","reason_code":"brief.objective_missing""#), "{}", read[3]);
    assert!(read[3].contains("rejected: brief missing objective"));
}
