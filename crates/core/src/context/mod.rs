//! The one place that decides the bytes a model sees. Layout, most stable first: tools, system prompt, the brief, the
//! turns, a repair or closing message. What is rendered depends on the ask and on steps recorded before its start.

mod offer;
mod result;
mod system;
mod task;

use crate::definition::{Structured, Team};
use crate::event::Started;
use crate::id::{Label, ModelName};
use crate::message::{Arguments, Message, Request, SentCall, ToolOffer, Turn};
use crate::run::{Heard, Rejected, RunState, Status};
use crate::step::{Ask, Form, Product, Prompt, Task};
use result::Shown;
use std::sync::Arc;

pub use offer::delegate_tool;
pub use result::bounded;

/// A request that lacks only its output limit.
pub struct Draft {
    request: Request,
}

impl Draft {
    /// About how many tokens the input has: bytes / 3.6, as no tokenizer is at hand.
    pub fn estimate(&self) -> u64 {
        let r = &self.request;
        let tools: usize = r.tools.iter().map(offered).sum();
        let messages: usize = r.messages.iter().map(|m| 12 + size(m)).sum();
        tokens(tools + r.system.len() + messages)
    }
    /// The least tokens that a tokenizer is likely to make of the input. Bytes say little here: a letter of many scripts
    /// has three of them and is less than a token, a line of dashes is a token or two, and what is kept of earlier
    /// reasoning is often not counted at all.
    pub fn least(&self) -> u64 {
        let r = &self.request;
        let tools: usize = r.tools.iter().map(|t| letters(&t.description) + letters(&t.input_schema.to_string())).sum();
        let said = |message: &Message| match message {
            Message::User { text } | Message::Tool { text, .. } => letters(text),
            Message::Assistant { text, calls, .. } => {
                letters(text) + calls.iter().map(|c| letters(&c.arguments)).sum::<usize>()
            }
        };
        tokens(tools + letters(&r.system) + r.messages.iter().map(said).sum::<usize>())
    }
    /// What fills the input, in percent of it, largest first.
    pub fn shares(&self) -> String {
        let r = &self.request;
        let tools: usize = r.tools.iter().map(offered).sum();
        let (mut brief, mut turns, mut results) = (0, 0, 0);
        for (i, message) in r.messages.iter().enumerate() {
            match message {
                Message::Tool { .. } => results += size(message),
                Message::User { .. } if i == 0 => brief += size(message),
                _ => turns += size(message),
            }
        }
        let parts =
            [("tools", tools), ("system", r.system.len()), ("brief", brief), ("turns", turns), ("results", results)];
        let all = parts.iter().map(|(_, n)| n).sum::<usize>().max(1);
        let mut shares = parts.map(|(name, n)| (n * 100 / all, name));
        shares.sort_by_key(|share| std::cmp::Reverse(share.0));
        shares.iter().map(|(percent, name)| format!("{name} {percent} %")).collect::<Vec<_>>().join(", ")
    }
    /// The request.
    pub fn finish(mut self, max_output: u64) -> Request {
        self.request.max_output = max_output;
        self.request
    }
}

/// Tokens of so many bytes, estimated.
pub fn tokens(bytes: usize) -> u64 {
    (bytes as u64 * 10).div_ceil(36)
}

/// Bytes of so many tokens, estimated.
pub fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(36) / 10).unwrap_or(usize::MAX)
}

/// Characters, without those that only repeat the two before.
fn letters(text: &str) -> usize {
    let mut last = (None, None);
    let mut fresh = |c: char| {
        let before = last;
        last = (before.1, Some(c));
        before != (Some(c), Some(c))
    };
    text.chars().filter(|c| fresh(*c)).count()
}

fn offered(tool: &ToolOffer) -> usize {
    tool.description.len() + tool.input_schema.to_string().len() + 20
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Assistant { text, calls, reasoning } => {
            let calls: usize = calls.iter().map(|c| c.name.len() + c.arguments.len() + 30).sum();
            text.len() + calls + reasoning.iter().map(|block| block.to_string().len()).sum::<usize>()
        }
        Message::Tool { text, .. } => text.len() + 20,
    }
}

/// The request of a started model step, with the output limit that was decided then. None for any other step.
pub fn render(state: &RunState, team: &Team, label: &Label) -> Option<Request> {
    let step = state.step(label)?;
    let max_output = step.max_output?;
    Some(draft(state, team, label, &step.ask, step.room, &state.model_of(step)?.model)?.finish(max_output))
}

/// The request of a model step without its output limit. `room` bounds the input of a closing, in tokens.
pub fn draft(
    state: &RunState,
    team: &Team,
    label: &Label,
    ask: &Arc<Ask>,
    room: Option<u64>,
    model: &ModelName,
) -> Option<Draft> {
    let Ask::Model { agent, prompt, .. } = &**ask else { return None };
    let (started, agent) = (state.started()?, team.agents.get(agent)?);
    let tools = if prompt.tools { offer::tools(team, agent, started) } else { Vec::new() };
    let system = system::prompt(team, agent, started);
    let first = match &prompt.task {
        Task::Brief => task::text(&started.brief),
        Task::Text(text) => text.clone(),
    };
    let messages = match (&prompt.close, room) {
        (Some(close), Some(room)) => {
            let said = Said::before(state, prompt, label);
            vec![closing(state, team, prompt, first, (close, said), room, system.len())]
        }
        _ => conversation(state, team, label, prompt, first, model),
    };
    let limits = team.models.limits(model);
    let schema = native_schema(started, prompt, limits.structured, tools.is_empty());
    let request = Request {
        model: model.clone(),
        tools,
        system,
        messages,
        schema,
        max_output: 0,
        temperature: limits.temperature,
        effort: agent.effort.clone(),
    };
    Some(Draft { request })
}

/// Whether the provider itself holds the model to the output schema; by prompt it is asked for always.
fn native_schema(
    started: &Started,
    prompt: &Prompt,
    structured: Structured,
    no_tools: bool,
) -> Option<serde_json::Value> {
    let brief = &started.brief;
    let own = brief.output.by != crate::brief::Origin::Default && prompt.form == Form::Output;
    let native = match structured {
        Structured::Native => true,
        Structured::Auto => no_tools && brief.success.value.statements.is_empty(),
        Structured::Prompt => false,
    };
    (own && native).then(|| brief.output.value.clone())
}

fn conversation(
    state: &RunState,
    team: &Team,
    label: &Label,
    prompt: &Prompt,
    first: String,
    model: &ModelName,
) -> Vec<Message> {
    let mut out = vec![Message::User { text: first }];
    let mut evidence = 0;
    let mut said = Said::before(state, prompt, label);
    for (turn_label, turn) in turns(state, prompt) {
        out.extend(said.until(state.step(&turn_label).map(|s| s.started_seq)).map(user));
        let (calls, reasoning) = (sent(&turn_label, turn), turn.reasoning_for(model));
        out.push(Message::Assistant { text: turn.text.clone(), calls, reasoning });
        for (i, call) in turn.calls.iter().enumerate() {
            let text = result::of(state, team, &turn_label.call(i), &call.name, &mut evidence).whole();
            out.push(Message::Tool { call: call_id(&turn_label, i), name: plain(&call.name), text });
        }
    }
    out.extend(said.until(None).map(user));
    if let Some(close) = &prompt.close {
        out.push(Message::User { text: close.clone() });
    }
    repair(state, label, model, &mut out);
    out
}

fn user(text: &str) -> Message {
    Message::User { text: text.to_string() }
}

/// What was said to the run, up to the start of the step that a request is for. Each stands before the first turn that
/// started after it, so its place is the same in every later request.
struct Said<'a>(&'a [Heard]);

impl<'a> Said<'a> {
    fn before(state: &'a RunState, prompt: &Prompt, label: &Label) -> Said<'a> {
        if !prompt.thread.is_empty() {
            return Said(&[]);
        }
        // A step that is about to be made again starts anew: it reads what was said since.
        let start =
            state.step(label).filter(|s| matches!(s.status, Status::Open | Status::Done(_))).map(|s| s.started_seq);
        let mut all = Said(state.heard());
        Said(all.take(start))
    }
    fn take(&mut self, before: Option<u64>) -> &'a [Heard] {
        let count = before.map_or(self.0.len(), |seq| self.0.partition_point(|heard| heard.seq < seq));
        let (taken, rest) = self.0.split_at_checked(count).unwrap_or((self.0, &[]));
        self.0 = rest;
        taken
    }
    fn until(&mut self, before: Option<u64>) -> impl Iterator<Item = &'a str> + use<'a> {
        self.take(before).iter().map(|heard| heard.text.as_str())
    }
}

fn turns<'a>(state: &'a RunState, prompt: &Prompt) -> Vec<(Label, &'a Turn)> {
    let label = |n: u64| Label::under(&prompt.thread, &format!("t{n}"));
    (1..=prompt.upto).filter_map(|n| Some((label(n), state.turn(label(n).as_str())?))).collect()
}

/// After an answer that broke its contract: that answer, and what is wrong with it.
fn repair(state: &RunState, label: &Label, model: &ModelName, out: &mut Vec<Message>) {
    let Some(rejected) = state.step(label).and_then(|s| s.rejected.as_ref()) else { return };
    if let Product::Turn(turn) = &rejected.product
        && !turn.text.trim().is_empty()
    {
        // Calls of a turn that was rejected are not part of the conversation; reasoning that led to them is not either.
        let reasoning = if turn.calls.is_empty() { turn.reasoning_for(model) } else { Vec::new() };
        out.push(Message::Assistant { text: turn.text.clone(), calls: Vec::new(), reasoning });
    }
    out.push(Message::User { text: format!("Your answer cannot be accepted: {}.", rejected.why) });
}

/// Ids of calls come from labels: unique in a conversation, the same after every resume, in a form all providers take.
fn call_id(turn: &Label, index: usize) -> String {
    format!("{}_c{index}", turn.as_str().replace(['/', '.', '~'], "_"))
}

/// A tool's name in the form that all providers take; a model may have made up any text.
fn plain(name: &str) -> String {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().take(64).map(|c| if good(c) { c } else { '_' }).collect();
    if name.is_empty() { "unnamed".into() } else { name }
}

fn sent(turn_label: &Label, turn: &Turn) -> Vec<SentCall> {
    let one = |(i, call): (usize, &crate::message::ToolCall)| {
        let arguments = match &call.arguments {
            Arguments::Json(value @ serde_json::Value::Object(_)) => value.to_string(),
            // Servers parse this text: what is no object is sent inside one.
            Arguments::Json(value) => serde_json::json!({ "value": value }).to_string(),
            Arguments::Malformed(text) => serde_json::json!({ "unparsed": text }).to_string(),
        };
        SentCall { id: call_id(turn_label, i), name: plain(&call.name), arguments }
    };
    turn.calls.iter().enumerate().map(one).collect()
}

/// A closing is one user message: the task, what the steps gave (each cut to an equal share of the room), the request.
fn closing(
    state: &RunState,
    team: &Team,
    prompt: &Prompt,
    first: String,
    (close, mut said): (&str, Said<'_>),
    room: u64,
    system: usize,
) -> Message {
    let mut results = Vec::new();
    let mut evidence = 0;
    let told = |text: &str| Shown::plain(format!("You were told: {text}"));
    for (label, turn) in turns(state, prompt) {
        results.extend(said.until(state.step(&label).map(|s| s.started_seq)).map(told));
        if !turn.text.trim().is_empty() {
            results.push(Shown::plain(format!("You said: {}", turn.text)));
        }
        for (i, call) in turn.calls.iter().enumerate() {
            results.push(result::of(state, team, &label.call(i), &call.name, &mut evidence));
        }
    }
    results.extend(said.until(None).map(told));
    let next = Label::under(&prompt.thread, &format!("t{}", prompt.upto + 1));
    if let Some(Rejected { product: Product::Turn(turn), why }) = state.step(&next).and_then(|s| s.rejected.as_ref())
        && !turn.text.trim().is_empty()
    {
        results.push(Shown::plain(format!("You said, and it could not be accepted ({why}): {}", turn.text)));
    }
    let fixed = system + first.len() + close.len() + 200;
    let share = bytes(room).saturating_sub(fixed) / results.len().max(1);
    let mut text = first;
    text.push_str("\n\n# What was done so far\n");
    for piece in results {
        text.push('\n');
        text.push_str(&piece.within(share.saturating_sub(60)));
        text.push('\n');
    }
    text.push('\n');
    text.push_str(close);
    Message::User { text }
}
