//! What passes between a run and a model: turns, tool calls, usage, tool outputs, and the request that is sent.

use crate::depth::{DEEPEST, deeper};
use crate::id::{Digest, ModelName, ToolName};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The arguments of a tool call as the model gave them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arguments {
    /// Valid JSON (an object, if the model kept to the schema).
    Json(Value),
    /// Text that is no JSON, or JSON nested too deep to be kept as such; kept as it came.
    Malformed(String),
}

impl Arguments {
    /// Reads what a provider sent; an empty text is an empty object.
    pub fn from_text(text: &str) -> Arguments {
        if text.trim().is_empty() {
            return Arguments::Json(Value::Object(serde_json::Map::new()));
        }
        match serde_json::from_str(text).or_else(|_| serde_json::from_str(&paired(text))) {
            Ok(value) if !deeper(&value, DEEPEST) => Arguments::Json(value),
            _ => Arguments::Malformed(text.to_string()),
        }
    }
    fn is_too_deep(&self) -> bool {
        matches!(self, Arguments::Json(value) if deeper(value, DEEPEST))
    }
}

/// The same JSON with the replacement character for each half of a surrogate pair that stands alone (`\ud83d` without its
/// second half, as a model that is cut in the middle of an emoji writes it): no text can hold such a half.
pub(crate) fn paired(json: &str) -> Cow<'_, str> {
    const LONE: &str = "\\ufffd";
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = escape + 2; // a backslash and what it escapes; if that is longer than a byte, `get` ends the loop
        let second = || unit(json, escape + 6).is_some_and(|unit| (0xdc00..0xe000).contains(&unit));
        match unit(json, escape) {
            Some(0xd800..=0xdbff) if second() => at = escape + 12,
            Some(0xd800..=0xdfff) => {
                out.push_str(json.get(from..escape).unwrap_or_default());
                out.push_str(LONE);
                (from, at) = (escape + 6, escape + 6);
            }
            _ => {}
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(json.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// The code unit that an escape `\uXXXX` at this place names.
fn unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok().filter(|_| digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// One tool call of a turn. Its id in requests is made from the step's label, so that ids are unique and stable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The name as the model wrote it.
    pub name: String,
    /// Its arguments.
    pub arguments: Arguments,
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It had said all.
    #[default]
    End,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The output limit cut it off.
    Length,
    /// A filter of the provider cut it off.
    Filter,
    /// It declined.
    Refusal,
}

/// What a model answered: text and calls, in the order of the calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Its text; may be empty when there are calls.
    pub text: String,
    /// Its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    #[serde(default)]
    pub stop: Stop,
    /// Its reasoning, where the model that reasoned wants it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
}

/// Reasoning as a provider gave it, signed or encrypted as the case may be. Nobody but its own adapter looks into it; it
/// goes back unchanged with its message, to the model that made it and to no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reasoning {
    /// The model that reasoned.
    pub by: ModelName,
    /// What its adapter wants back with the message.
    pub blocks: Vec<Value>,
}

impl Turn {
    /// Its blocks of reasoning, if this model is the one that made them.
    pub(crate) fn reasoning_for(&self, model: &ModelName) -> Vec<Value> {
        let own = self.reasoning.as_ref().filter(|reasoning| reasoning.by == *model);
        own.map(|reasoning| reasoning.blocks.clone()).unwrap_or_default()
    }
    /// Makes texts of arguments that are nested too deep for a record, whoever read them. Reasoning that is cannot be
    /// changed, so it is left out.
    pub(crate) fn flatten(mut self: Arc<Turn>) -> Arc<Turn> {
        if self.reasoning.iter().flat_map(|r| &r.blocks).any(|block| deeper(block, DEEPEST)) {
            Arc::make_mut(&mut self).reasoning = None;
        }
        if self.calls.iter().any(|c| c.arguments.is_too_deep()) {
            for call in &mut Arc::make_mut(&mut self).calls {
                if let (true, Arguments::Json(value)) = (call.arguments.is_too_deep(), &call.arguments) {
                    call.arguments = Arguments::Malformed(value.to_string());
                }
            }
        }
        self
    }
}

/// Tokens as a provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// The part of the input that came from a prompt cache.
    pub cached_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
}

impl Usage {
    /// What a token budget counts: input and output.
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
    /// Adds another usage to this one.
    pub fn add(&mut self, other: &Usage) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
    /// Takes off another usage, down to nothing.
    pub fn less(&mut self, other: &Usage) {
        self.input_tokens = self.input_tokens.saturating_sub(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_sub(other.cached_tokens);
        self.output_tokens = self.output_tokens.saturating_sub(other.output_tokens);
    }
}

/// What a tool gave back: bounded text, and the whole by reference when it was longer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model is shown.
    pub text: String,
    /// The whole, when `text` is only its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<BlobRef>,
}

/// Content kept beside the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobRef {
    /// SHA-256 of the content.
    pub sha256: Digest,
    /// Its length in bytes.
    pub len: u64,
}

/// A tool as a model is offered it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOffer {
    /// Its name.
    pub name: ToolName,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
}

/// A call as it stands in a request: the id and the arguments' text are made here, not taken from the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SentCall {
    /// Unique in the conversation.
    pub id: String,
    /// The tool's name as the model wrote it; what is no letter, digit, `_` or `-` became `_`.
    pub name: String,
    /// A JSON object as text.
    pub arguments: String,
}

/// One message of a request. Every call of an assistant message is answered by exactly one tool message, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The task, or a repair or closing request of the program. Never empty.
    User {
        /// The text.
        text: String,
    },
    /// An earlier answer.
    Assistant {
        /// Its text; may be empty only when there are calls.
        text: String,
        /// Its calls.
        calls: Vec<SentCall>,
        /// Blocks of reasoning that the provider gave with it and wants back. Its own adapter reads them, every other one
        /// leaves them out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        reasoning: Vec<Value>,
    },
    /// The result of a call. Never empty.
    Tool {
        /// The id of the call.
        call: String,
        /// The tool.
        name: String,
        /// The result.
        text: String,
    },
}

/// The whole of one model call as the core decides it; a provider's adapter only translates it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// `provider:model`.
    pub model: ModelName,
    /// Tools, in a stable order.
    pub tools: Vec<ToolOffer>,
    /// The system prompt.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The schema that the answer must have, when the model is to be held to it natively.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// Output limit in tokens.
    pub max_output: u64,
    /// Sampling temperature, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Reasoning effort, if one is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}
