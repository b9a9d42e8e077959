//! The ports with a guard in front: what a model or a tool gives back loses its secrets before the driver sees it, so none
//! reaches a log, a blob, a trace or the next request. Owns where texts are cleaned; `secret` owns what counts as one.

use crate::driver::World;
use crate::port::{Delta, Model, ModelFailure, Notice, Pending, Reply, Tools, Who};
use crate::secret::{HIDDEN, Redactor};
use deputize_core::code;
use deputize_core::definition::ToolSpec;
use deputize_core::id::ToolName;
use deputize_core::message::{Arguments, Message, Request, Turn};
use deputize_core::step::{EffectClass, Failure, Note};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

impl World {
    /// The world with its model and its tools behind the guard. A text that a person writes (an objective, say) does not
    /// come through a port: clean it with the same [`Redactor`] before it is handed to the runtime.
    #[must_use]
    pub fn guarded(self, redactor: &Redactor) -> World {
        World {
            model: Arc::new(GuardedModel { inner: self.model, redactor: redactor.clone() }),
            tools: Arc::new(GuardedTools { inner: self.tools, redactor: redactor.clone() }),
            ..self
        }
    }
}

struct GuardedModel {
    inner: Arc<dyn Model>,
    redactor: Redactor,
}

impl GuardedModel {
    /// What is recorded is clean, so requests are too; a definition or a log of an older version may not be.
    fn outgoing<'a>(&self, request: &'a Request) -> Cow<'a, Request> {
        let texts = request.messages.iter().flat_map(texts).chain([request.system.as_str()]);
        if !texts.into_iter().any(|text| self.redactor.finds(text)) {
            return Cow::Borrowed(request);
        }
        let mut request = request.clone();
        self.redactor.clean(&mut request.system);
        request.messages.iter_mut().flat_map(texts_mut).for_each(|text| self.redactor.clean(text));
        Cow::Owned(request)
    }
    fn turn(&self, turn: &mut Turn) {
        // Reasoning may be signed, so it cannot be changed: one that holds a secret is not kept at all.
        turn.reasoning.take_if(|reasoning| reasoning.blocks.iter().any(|block| self.redactor.finds_in(block)));
        // Reasoning is signed: it goes back as it came, or not at all.
        if turn.reasoning.iter().flat_map(|r| &r.blocks).any(|block| self.redactor.finds_in(block)) {
            turn.reasoning = None;
        }
        self.redactor.clean(&mut turn.text);
        for call in &mut turn.calls {
            self.redactor.clean(&mut call.name);
            match &mut call.arguments {
                Arguments::Json(value) => self.redactor.value(value),
                Arguments::Malformed(text) => self.redactor.clean(text),
            }
        }
    }
    fn failure(&self, mut failure: Failure) -> Failure {
        self.redactor.clean(&mut failure.why);
        failure
    }
}

fn texts(message: &Message) -> Vec<&str> {
    match message {
        Message::User { text } | Message::Tool { text, .. } => vec![text],
        Message::Assistant { text, calls, .. } => {
            calls.iter().map(|call| call.arguments.as_str()).chain([text.as_str()]).collect()
        }
    }
}

fn texts_mut(message: &mut Message) -> Vec<&mut String> {
    match message {
        Message::User { text } | Message::Tool { text, .. } => vec![text],
        Message::Assistant { text, calls, .. } => {
            calls.iter_mut().map(|call| &mut call.arguments).chain([text]).collect()
        }
    }
}

impl Model for GuardedModel {
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
        let redactor = self.redactor.clone();
        let clean: Delta = Arc::new(move |text: &str| delta(&redactor.text(text)));
        Box::pin(async move {
            let request = self.outgoing(request);
            match self.inner.call_in_turn(who, &request, clean, queued).await {
                Ok(mut reply) => {
                    self.turn(&mut reply.turn);
                    Ok(reply)
                }
                Err(failed) => Err(ModelFailure { failure: self.failure(failed.failure), ..failed }),
            }
        })
    }
}

struct GuardedTools {
    inner: Arc<dyn Tools>,
    redactor: Redactor,
}

impl GuardedTools {
    /// Arguments in which a secret was hidden would put the mark where the secret belongs: a file would be spoilt without a
    /// word. Whoever only reads is let through.
    fn refused(&self, tool: &ToolName, arguments: &Value) -> Option<Failure> {
        let reads = |spec: &ToolSpec| spec.name == *tool && spec.effect == EffectClass::ReadOnly;
        if !holds_mark(arguments) || self.inner.specs().iter().any(reads) {
            return None;
        }
        let why = format!(
            "the arguments hold `{HIDDEN}`, the mark of a secret that is neither stored nor shown, so {tool} was not \
             performed: leave that part as it is, or refer to the secret by the name of its variable"
        );
        Some(Failure::fixed(code::SECRET_HIDDEN, why))
    }
    fn failure(&self, mut failure: Failure) -> Failure {
        self.redactor.clean(&mut failure.why);
        failure
    }
}

fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(HIDDEN),
        Value::Array(items) => items.iter().any(holds_mark),
        Value::Object(map) => map.iter().any(|(key, item)| key.contains(HIDDEN) || holds_mark(item)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

impl Tools for GuardedTools {
    fn specs(&self) -> Vec<ToolSpec> {
        self.inner.specs()
    }
    fn prepare<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
    ) -> Pending<'a, Result<Option<Note>, Failure>> {
        if let Some(refused) = self.refused(tool, arguments) {
            return Box::pin(async move { Err(refused) });
        }
        Box::pin(async move { self.inner.prepare(who, tool, arguments).await.map_err(|f| self.failure(f)) })
    }
    fn perform<'a>(
        &'a self,
        who: &'a Who,
        tool: &'a ToolName,
        arguments: &'a Value,
        note: Option<&'a Note>,
    ) -> Pending<'a, Result<String, Failure>> {
        if let Some(refused) = self.refused(tool, arguments) {
            return Box::pin(async move { Err(refused) });
        }
        Box::pin(async move {
            match self.inner.perform(who, tool, arguments, note).await {
                Ok(mut text) => {
                    self.redactor.clean(&mut text);
                    Ok(text)
                }
                Err(failure) => Err(self.failure(failure)),
            }
        })
    }
    fn exists<'a>(&'a self, path: &'a str) -> Pending<'a, bool> {
        self.inner.exists(path)
    }
}

#[cfg(test)]
mod tests;
