//! Several providers behind one door: the part of the model's name before `:` says which.

use super::redact::redact;
use deputize_core::code;
use deputize_core::message::Request;
use deputize_core::step::Failure;
use deputize_runtime::port::{Delta, Model, ModelFailure, Notice, Pending, Reply, Who};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Providers by name.
#[derive(Default)]
pub struct Router {
    providers: BTreeMap<String, Arc<dyn Model>>,
}

impl Router {
    /// A router over these providers.
    pub fn new(providers: BTreeMap<String, Arc<dyn Model>>) -> Router {
        Router { providers }
    }
    fn unknown(&self, request: &Request) -> Failure {
        let known: Vec<&str> = self.providers.keys().map(String::as_str).collect();
        let known =
            if known.is_empty() { "none is configured".to_string() } else { format!("known: {}", known.join(", ")) };
        let why = format!("`{}` names no provider of this run ({known})", request.model);
        Failure::fixed(code::MODEL_UNKNOWN, redact(&why, &[]))
    }
}

impl Model for Router {
    fn call<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        self.call_in_turn(who, request, delta, Arc::new(|_| {}))
    }
    fn call_in_turn<'a>(
        &'a self,
        who: &'a Who,
        request: &'a Request,
        delta: Delta,
        queued: Notice,
    ) -> Pending<'a, Result<Reply, ModelFailure>> {
        match self.providers.get(request.model.provider()) {
            Some(provider) => provider.call_in_turn(who, request, delta, queued),
            None => Box::pin(async move { Err(self.unknown(request).into()) }),
        }
    }
}
