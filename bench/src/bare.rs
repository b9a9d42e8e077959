//! The bare loop: the same provider adapter and the same tools in the loop that anybody would write first, without log,
//! gate, labels to recover by, or supervision. It keeps one growing request and sends byte for byte what the engine sends.

use crate::measure::{Cost, Fault, Watch};
use crate::scene::Scene;
use crate::stage::{ROOT, Shelf};
use deputize_core::id::{AgentName, AgentPath, Label, RunId, ToolName};
use deputize_core::message::{Arguments, Message, Request, SentCall, ToolCall, Turn};
use deputize_runtime::port::{Model, Tools, Who};
use futures_util::future::try_join_all;
use serde_json::Value;
use std::sync::Arc;

/// One loop's surroundings.
struct Loop<'a> {
    model: &'a dyn Model,
    tools: &'a Shelf,
    path: &'a AgentPath,
}

/// Performs a scene with bare loops.
pub(crate) async fn perform(scene: &Scene, model: &dyn Model) -> Result<Cost, Fault> {
    let tools = &Shelf::new();
    let root = AgentPath::root(&scene.team.root);
    let lead = Loop { model, tools, path: &root };
    let talk = scene.talks.get(&root).ok_or("the scene has no root")?;
    let first = talk.first.clone();
    let watch = Watch::start();
    if scene.talks.len() == 1 {
        let last = lead.converse(first).await?;
        let cost = watch.stop();
        return same(&last, &talk.last).map(|()| cost);
    }
    lead.say(1, &first).await?;
    let children = scene.talks.iter().filter(|(path, _)| **path != root);
    let each = children.map(|(path, talk)| async move {
        let child = Loop { model, tools, path };
        child.converse(talk.first.clone()).await
    });
    let done = try_join_all(each).await?;
    // What the children gave, as the engine words it.
    lead.say(2, &talk.last.clone()).await?;
    let cost = watch.stop();
    let children = scene.talks.iter().filter(|(path, _)| **path != root);
    children.zip(&done).try_for_each(|((_, talk), last)| same(last, &talk.last))?;
    Ok(cost)
}

fn same(mine: &Request, engine: &Request) -> Result<(), Fault> {
    if mine == engine { Ok(()) } else { Err("the bare loop sends something else than the engine".into()) }
}

impl Loop<'_> {
    fn who(&self, label: Label) -> Who {
        let agent = AgentName::new(self.path.as_str());
        Who {
            run: RunId::new(ROOT),
            agent,
            path: self.path.clone(),
            label,
            attempt: 1,
            permissions: Default::default(),
        }
    }

    async fn say(&self, turn: usize, request: &Request) -> Result<Turn, Fault> {
        let who = self.who(Label::under("", &format!("t{turn}")));
        let reply = self.model.call(&who, request, Arc::new(|_| {})).await;
        Ok(reply.map_err(|failed| failed.failure.why)?.turn)
    }

    /// Until an answer without calls; gives the last request.
    async fn converse(&self, mut request: Request) -> Result<Request, Fault> {
        let (mut turn, mut results) = (1, 0);
        loop {
            let Turn { text, calls, .. } = self.say(turn, &request).await?;
            if calls.is_empty() {
                return Ok(request);
            }
            let sent = calls.iter().enumerate().map(|(i, call)| sent(turn, i, call)).collect();
            request.messages.push(Message::Assistant { text, calls: sent, reasoning: Vec::new() });
            for (i, call) in calls.iter().enumerate() {
                results += 1;
                request.messages.push(self.perform(turn, i, call, results).await?);
            }
            turn += 1;
        }
    }

    async fn perform(&self, turn: usize, at: usize, call: &ToolCall, results: usize) -> Result<Message, Fault> {
        let name = &call.name;
        let who = self.who(Label::under("", &format!("t{turn}/c{at}")));
        let done = self.tools.perform(&who, &ToolName::new(name), arguments(call), None).await;
        let text = done.map_err(|failure| failure.why)?;
        let text = format!("<data from=\"{name} [e{results}]\">\n{text}\n</data>");
        Ok(Message::Tool { call: id(turn, at), name: name.clone(), text })
    }
}

fn id(turn: usize, at: usize) -> String {
    format!("t{turn}_c{at}")
}

fn arguments(call: &ToolCall) -> &Value {
    match &call.arguments {
        Arguments::Json(value) => value,
        Arguments::Malformed(_) => &Value::Null,
    }
}

fn sent(turn: usize, at: usize, call: &ToolCall) -> SentCall {
    SentCall { id: id(turn, at), name: call.name.clone(), arguments: arguments(call).to_string() }
}
