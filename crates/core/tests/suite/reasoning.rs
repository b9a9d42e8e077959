//! Blocks of reasoning: kept with their message, sent to the model that made them and to nobody else.

use crate::common::{Asked, Script, Sim, agent, calls, says, team};
use deputize_core::budget::Caps;
use deputize_core::definition::{Definition, Team};
use deputize_core::event::Event;
use deputize_core::message::{Message, Request, Turn};
use serde_json::{Value, json};

fn blocks() -> Vec<Value> {
    vec![
        json!({"type": "thinking", "signature": "c2ln", "z": 1, "a": 2}),
        json!({"type": "redacted", "data": "ZGF0YQ"}),
    ]
}

/// Two turns with calls and one without; the first two reasoned as this model.
fn thinks(by: &'static str) -> Script {
    Script::new(move |asked: &Asked<'_>| match asked.label {
        "t1" | "t2" => calls(&[("look", json!({"at": asked.label}))]).thinking(by, blocks()),
        _ => says("done"),
    })
}

fn one() -> Team {
    team(vec![agent("one", &["look"])])
}

/// The reasoning of each earlier answer of a request.
fn carried(request: &Request) -> Vec<Vec<Value>> {
    let of = |message: &Message| match message {
        Message::Assistant { reasoning, .. } => Some(reasoning.clone()),
        _ => None,
    };
    request.messages.iter().filter_map(of).collect()
}

// covers X-03
#[test]
fn reasoning_goes_back_with_its_message_to_the_model_that_made_it() {
    let team = one();
    let script = thinks("test:small");
    let sim = Sim::run(&team, &script);
    assert_eq!(carried(sim.request("one", "t2")), [blocks()]);
    assert_eq!(carried(sim.request("one", "t3")), [blocks(), blocks()]);
    let sent = serde_json::to_string(sim.request("one", "t3")).unwrap();
    assert!(sent.contains(r#"{"type":"thinking","signature":"c2ln","z":1,"a":2}"#), "unchanged: {sent}");
}

// covers X-03
#[test]
fn no_other_model_is_sent_it() {
    let team = one();
    for other in ["test:large", "other:small", "test:small:latest", ""] {
        let script = thinks(other);
        let sim = Sim::run(&team, &script);
        assert_eq!(carried(sim.request("one", "t3")), [Vec::<Value>::new(), Vec::new()], "{other}");
        let plain = Script::new(|asked: &Asked<'_>| match asked.label {
            "t1" | "t2" => calls(&[("look", json!({"at": asked.label}))]),
            _ => says("done"),
        });
        // To that model the conversation is byte for byte one without reasoning.
        assert_eq!(sim.request("one", "t3"), Sim::run(&team, &plain).request("one", "t3"), "{other}");
    }
}

// A closing is a request of the program about what was done: nobody's earlier answer stands in it.
#[test]
fn a_closing_has_none() {
    let mut definition: Definition = agent("one", &["look"]);
    definition.budget = Caps { turns: Some(2), ..definition.budget };
    let team = team(vec![definition]);
    let script = Script::new(|asked: &Asked<'_>| match asked.label {
        "closing" => says("this is what I have"),
        _ => calls(&[("look", json!({"at": asked.label}))]).thinking("test:small", blocks()),
    });
    let sim = Sim::run(&team, &script);
    let closing = serde_json::to_string(sim.request("one", "closing")).unwrap();
    assert!(!closing.contains("c2ln") && !closing.contains("reasoning"), "{closing}");
}

// What is sent is reserved for: reasoning too.
#[test]
fn the_estimate_counts_it() {
    let reserved = |size: usize| {
        let script = Script::new(move |asked: &Asked<'_>| match asked.label {
            "t1" => calls(&[("look", json!({}))]).thinking("test:small", vec![json!("x".repeat(size))]),
            _ => says("done"),
        });
        let team = one();
        let sim = Sim::run(&team, &script);
        let of = |event: &Event| match event {
            Event::StepStarted(start) if start.label.as_str() == "t2" => Some(start.reserve.tokens),
            _ => None,
        };
        sim.logs.values().flatten().find_map(|record| of(&record.event)).unwrap()
    };
    let grown = reserved(36_000) - reserved(0);
    assert!((10_000..10_100).contains(&grown), "{grown}");
}

// covers X-03
#[test]
fn old_records_are_read_and_turns_without_reasoning_are_written_as_before() {
    let old = r#"{"text":"hi","stop":"end"}"#;
    let turn: Turn = serde_json::from_str(old).unwrap();
    assert_eq!((turn.reasoning.clone(), serde_json::to_string(&turn).unwrap().as_str()), (None, old));
    let old = r#"{"role":"assistant","text":"hi","calls":[]}"#;
    let message: Message = serde_json::from_str(old).unwrap();
    assert_eq!(serde_json::to_string(&message).unwrap(), old);
}
