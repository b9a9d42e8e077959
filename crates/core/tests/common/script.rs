//! Scripted answers: pure functions of who asks and of what the log knows, so that every order and every crash meets
//! the same world.

use deputize_core::code::Code;
use deputize_core::id::ModelName;
use deputize_core::message::{Arguments, Reasoning, Stop, ToolCall, Turn, Usage};
use deputize_core::step::{Failure, Note, Retry};
use serde_json::Value;

/// A model call.
pub(crate) struct Asked<'a> {
    pub(crate) path: &'a str,
    pub(crate) label: &'a str,
    /// Its number, from 1.
    pub(crate) attempt: u32,
    /// Known failures before it, in this series.
    pub(crate) failures: u32,
    /// Answers that broke the contract before it.
    pub(crate) rejections: u32,
}

/// A tool call.
pub(crate) struct Used<'a> {
    pub(crate) path: &'a str,
    pub(crate) label: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) note: Option<&'a Note>,
}

/// What comes back.
#[derive(Clone)]
pub(crate) enum Reply {
    Turn(Turn, Usage),
    Text(String),
    Note(Note),
    Fails(Failure, Usage),
}

/// What comes back, and after how many milliseconds.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) latency: u64,
}

impl Answer {
    pub(crate) fn after(mut self, ms: u64) -> Answer {
        self.latency = ms;
        self
    }
    pub(crate) fn using(mut self, input: u64, output: u64) -> Answer {
        let used = usage(input, output);
        match &mut self.reply {
            Reply::Turn(_, u) | Reply::Fails(_, u) => *u = used,
            Reply::Text(_) | Reply::Note(_) => panic!("a tool uses no tokens"),
        }
        self
    }
    pub(crate) fn stopped(mut self, why: Stop) -> Answer {
        if let Reply::Turn(turn, _) = &mut self.reply {
            turn.stop = why;
        }
        self
    }
    /// The same answer with a text beside its calls.
    pub(crate) fn saying(mut self, words: &str) -> Answer {
        if let Reply::Turn(turn, _) = &mut self.reply {
            turn.text = words.into();
        }
        self
    }
    /// The same answer with reasoning of this model.
    pub(crate) fn thinking(mut self, by: &str, blocks: Vec<Value>) -> Answer {
        if let Reply::Turn(turn, _) = &mut self.reply {
            turn.reasoning = Some(Reasoning { by: ModelName::new(by), blocks });
        }
        self
    }
}

/// The usual count of an input; see `sim::counted`.
pub(crate) const USUAL: u64 = 20;

fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage { input_tokens, cached_tokens: 0, output_tokens }
}

fn answer(reply: Reply) -> Answer {
    Answer { reply, latency: 5 }
}

/// A final turn.
pub(crate) fn says(text: &str) -> Answer {
    let turn = Turn { text: text.into(), ..Turn::default() };
    answer(Reply::Turn(turn, usage(USUAL, 10)))
}

/// A final turn of JSON.
pub(crate) fn says_of(value: &Value) -> Answer {
    says(&value.to_string())
}

/// A turn with calls.
pub(crate) fn calls(list: &[(&str, Value)]) -> Answer {
    let one = |(name, arguments): &(&str, Value)| ToolCall {
        name: (*name).to_string(),
        arguments: match arguments.get("malformed").and_then(Value::as_str) {
            Some(text) => Arguments::Malformed(text.into()),
            None => Arguments::Json(arguments.clone()),
        },
    };
    let turn =
        Turn { text: String::new(), calls: list.iter().map(one).collect(), stop: Stop::ToolCalls, ..Turn::default() };
    answer(Reply::Turn(turn, usage(USUAL, 10)))
}

/// A turn of delegations.
pub(crate) fn delegates(briefs: &[Value]) -> Answer {
    let list: Vec<(&str, Value)> = briefs.iter().map(|b| ("delegate", b.clone())).collect();
    calls(&list)
}

/// What a tool gives.
pub(crate) fn text(output: &str) -> Answer {
    answer(Reply::Text(output.into()))
}

/// A failure.
pub(crate) fn fails(code: Code, retry: Retry) -> Answer {
    let failure = Failure { code, why: "as scripted".into(), retry };
    answer(Reply::Fails(failure, usage(0, 0)))
}

/// The world.
pub(crate) struct Script {
    pub(crate) model: Box<dyn Fn(&Asked<'_>) -> Answer>,
    pub(crate) tool: Box<dyn Fn(&Used<'_>) -> Answer>,
}

impl Script {
    /// Models as given; every tool says what it was asked.
    pub(crate) fn new(model: impl Fn(&Asked<'_>) -> Answer + 'static) -> Script {
        let tool = |used: &Used<'_>| text(&format!("<{} {}>", used.tool, used.arguments));
        Script { model: Box::new(model), tool: Box::new(tool) }
    }
    /// Other tools.
    pub(crate) fn tools(mut self, tool: impl Fn(&Used<'_>) -> Answer + 'static) -> Script {
        self.tool = Box::new(tool);
        self
    }
}
