//! Toy tools with scripted behaviour, for tests of the runtime: they echo, fail, panic, hang or take their time, and count.

use deputize_core::code;
use deputize_core::definition::{Operation, ToolSpec};
use deputize_core::id::ToolName;
use deputize_core::step::{EffectClass, Failure, Note};
use deputize_runtime::port::{Pending, Tools, Who};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What the toys did, by key of the step.
#[derive(Clone, Debug, Default)]
pub struct Toys {
    done: Arc<Mutex<Vec<(String, String)>>>,
}

const ALL: [(&str, EffectClass); 9] = [
    ("look", EffectClass::ReadOnly),
    ("slow", EffectClass::ReadOnly),
    ("broken", EffectClass::ReadOnly),
    ("crash", EffectClass::ReadOnly),
    ("hang", EffectClass::ReadOnly),
    ("flood", EffectClass::ReadOnly),
    ("put", EffectClass::Idempotent),
    ("noted", EffectClass::Idempotent),
    ("send", EffectClass::Effectful),
];

impl Toys {
    /// Nothing done yet.
    pub fn new() -> Toys {
        Toys::default()
    }
    /// The names of all toys.
    pub fn names() -> Vec<ToolName> {
        ALL.iter().map(|(name, _)| ToolName::new(name)).collect()
    }
    /// Key and tool of every performed call, in the order of their starts.
    pub fn done(&self) -> Vec<(String, String)> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn play(&self, who: &Who, tool: &str, arguments: &Value, note: Option<&Note>) -> Result<String, Failure> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push((who.key(), tool.to_string()));
        match tool {
            "slow" | "put" | "send" => tokio::time::sleep(Duration::from_millis(100)).await,
            "hang" => std::future::pending().await,
            "broken" => return Err(Failure::fixed(code::TOOL_FAILED, "the toy is broken")),
            "crash" => assert!(arguments.is_null(), "the toy breaks down, as it should"),
            "flood" => return Ok("0123456789".repeat(20_000)),
            "noted" => return Ok(format!("noted {}", note.unwrap_or(&Value::Null))),
            _ => {}
        }
        Ok(format!("{tool} {arguments}"))
    }
}

impl Tools for Toys {
    fn specs(&self) -> Vec<ToolSpec> {
        let spec = |(name, effect): &(&str, EffectClass)| ToolSpec {
            name: ToolName::new(name),
            description: format!("The toy {name}."),
            input_schema: json!({"type": "object"}),
            effect: *effect,
            operation: if *effect == EffectClass::ReadOnly { Operation::Read } else { Operation::Other },
            paths: Vec::new(),
        };
        ALL.iter().map(spec).collect()
    }
    fn prepare<'a>(
        &'a self,
        _: &'a Who,
        tool: &'a ToolName,
        _: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        Box::pin(async move { Ok((tool.as_str() == "noted").then(|| json!("seen before"))) })
    }
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        Box::pin(self.play(who, tool.as_str(), arguments, note))
    }
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        Box::pin(async move { path == "there.txt" })
    }
}
