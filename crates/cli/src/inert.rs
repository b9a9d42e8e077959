//! A model and tools that never do anything: what a run is taken up with when it is only to be ended. Whatever it starts
//! stays under way until it is stopped.

use deputize_core::definition::ToolSpec;
use deputize_core::id::ToolName;
use deputize_core::message::Request;
use deputize_core::step::{Failure, Note};
use deputize_runtime::port::{Delta, Model, ModelFailure, Pending, Reply, Tools, Who};
use serde_json::Value;
use std::future::pending;

/// Does nothing.
pub(crate) struct Inert;

impl Model for Inert {
    fn call<'a>(&'a self, _: &'a Who, _: &'a Request, _: Delta) -> Pending<'a, Result<Reply, ModelFailure>> {
        Box::pin(pending())
    }
}

impl Tools for Inert {
    fn specs(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    fn prepare<'a>(&'a self, _: &'a Who, _: &'a ToolName, _: &'a Value) -> Pending<'a, Result<Option<Note>, Failure>> {
        Box::pin(pending())
    }
    fn perform<'a>(
        &'a self,
        _: &'a Who,
        _: &'a ToolName,
        _: &'a Value,
        _: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        Box::pin(pending())
    }
    fn exists<'a>(&'a self, _: &'a str) -> Pending<'a, bool> {
        Box::pin(pending())
    }
}
