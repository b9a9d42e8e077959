//! What passes the guard. The command line's tests look at the state folder, the requests and the screen.

use super::GuardedModel;
use crate::port::{Delta, Model, ModelFailure, Pending, Reply, Who};
use crate::secret::{HIDDEN, Redactor, Secret};
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Request, ToolCall, Turn};
use serde_json::json;
use std::sync::Arc;

struct Silent;

impl Model for Silent {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(std::future::pending())
    }
}

fn cleaned(mut turn: Turn) -> Turn {
    let redactor = Redactor::new([Secret::new("canary-0001")]);
    GuardedModel { inner: Arc::new(Silent), redactor }.turn(&mut turn);
    turn
}

fn reasoning(text: &str) -> Option<Reasoning> {
    Some(Reasoning { by: ModelName::new("a:b"), blocks: vec![json!({"thinking": text, "signature": "s"})] })
}

#[test]
fn a_turn_loses_its_secrets_and_signed_reasoning_is_kept_whole_or_not_at_all() {
    let call = |arguments| ToolCall { name: "canary-0001".into(), arguments };
    let turn = Turn {
        text: "say canary-0001".into(),
        calls: vec![
            call(Arguments::Json(json!({"a": "canary-0001"}))),
            call(Arguments::Malformed("{canary-0001".into())),
        ],
        reasoning: reasoning("canary-0001"),
        ..Turn::default()
    };
    let clean = cleaned(turn);
    assert_eq!(clean.text, format!("say {HIDDEN}"));
    assert_eq!(clean.calls[0].arguments, Arguments::Json(json!({"a": HIDDEN})));
    assert_eq!(clean.calls[1].arguments, Arguments::Malformed(format!("{{{HIDDEN}")));
    assert_eq!(clean.calls[0].name, HIDDEN);
    assert_eq!(clean.reasoning, None);
    let harmless = Turn { reasoning: reasoning("nothing"), ..Turn::default() };
    assert_eq!(cleaned(harmless.clone()), harmless);
}
