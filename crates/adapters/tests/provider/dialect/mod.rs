//! How each provider says what all of them can say. A further provider is a further implementation of [`Dialect`] and a line
//! in [`all`]: the whole suite then runs for it.

mod anthropic;
mod gemini;
mod ollama;
mod openai;

use crate::fake::{End, Given, Sent};
use deputize_adapters::provider::Kind;
use deputize_core::message::Stop;
use serde_json::Value;

/// Every provider of this build.
pub(crate) fn all() -> Vec<Box<dyn Dialect>> {
    vec![Box::new(openai::OpenAi), Box::new(anthropic::Anthropic), Box::new(gemini::Gemini), Box::new(ollama::Ollama)]
}

/// What a model says in a test.
#[derive(Clone, Debug)]
pub(crate) struct Spoken {
    /// Its text, in the pieces of a stream.
    pub(crate) pieces: Vec<&'static str>,
    /// Its calls.
    pub(crate) calls: Vec<(&'static str, Value)>,
    /// Whether it gives its blocks of reasoning first.
    pub(crate) reasoning: bool,
    pub(crate) stop: Stop,
    /// Input with what was cached of it, that part, output, as the server writes them; none when it does not count.
    pub(crate) usage: Option<[Value; 3]>,
}

impl Spoken {
    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }
}

/// What one message of a request says, whatever form it has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    User(String),
    Assistant { text: String, calls: Vec<(String, Value)>, reasoning: Vec<Value> },
    Result { name: String, text: String },
}

/// What a request says, whatever form it has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) system: String,
    pub(crate) tools: Vec<String>,
    pub(crate) talk: Vec<Said>,
    pub(crate) schema: Option<Value>,
    pub(crate) most: Option<u64>,
}

/// How one kind of provider says things. Its server is `crate::fake::Fake`.
pub(crate) trait Dialect: Sync {
    fn kind(&self) -> Kind;
    /// What its `base_url` has behind the machine's name.
    fn root(&self) -> &'static str;
    /// A model of it that has everything the suite asks for.
    fn model(&self) -> &'static str;
    /// The header that carries this key.
    fn credential(&self, key: &str) -> (&'static str, String);
    /// An answer as one body.
    fn whole(&self, said: &Spoken) -> Value;
    /// The same as the events of a stream.
    fn events(&self, said: &Spoken) -> Vec<Value>;
    /// An event on the wire.
    fn framed(&self, event: &Value) -> String {
        format!("data: {event}\n\n")
    }
    /// What follows the last event.
    fn closing(&self) -> &'static str {
        ""
    }
    /// The type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }
    /// The body of an error response.
    fn error(&self, status: u16, message: &str) -> Value;
    /// An error in the middle of a stream that says the provider is overloaded.
    fn overloaded(&self) -> Value;
    /// Blocks of reasoning as its adapter keeps them for a turn whose reasoning is first; empty when it keeps none.
    fn reasoning(&self) -> Vec<Value>;
    /// Whether it has a word for this end.
    fn ends(&self, stop: Stop) -> bool;
    /// Which rule of its protocol a request breaks.
    fn check(&self, sent: &Sent) -> Result<(), String>;
    /// What a request says.
    fn read(&self, sent: &Sent) -> Seen;

    /// The answer as a server gives it.
    fn given(&self, said: &Spoken, stream: bool) -> Given {
        if !stream {
            return Given::body(200, "application/json", self.whole(said).to_string());
        }
        let mut pieces: Vec<Vec<u8>> = self.events(said).iter().map(|e| self.framed(e).into_bytes()).collect();
        pieces.push(self.closing().into());
        let headers = vec![("content-type", self.stream_type().to_string())];
        Given { status: 200, headers, pieces, end: End::Whole }
    }
    /// Whether its streams are server-sent events.
    fn is_sse(&self) -> bool {
        self.stream_type() == "text/event-stream"
    }
}

/// The text at a place.
pub(crate) fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_string()
}

/// The list at a place.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
