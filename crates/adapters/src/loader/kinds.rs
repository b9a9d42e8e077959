//! The kinds of servers, one row each: where a kind is unless somebody says otherwise, and which variables of the environment
//! speak of it. A further kind is a further row.

use super::setup::ProviderKind;

/// What is fixed about a kind of server.
#[derive(Debug)]
pub struct Facts {
    /// The kind.
    pub kind: ProviderKind,
    /// Its name in files; a provider of this name is always there.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Its address unless somebody gives another.
    pub address: &'static str,
    /// The variable that may hold another address.
    pub url_variable: Option<&'static str>,
    /// How an address ends that the variable, by its own custom, may hold without it.
    pub url_end: &'static str,
    /// The variable that may hold its key.
    pub key_variable: Option<&'static str>,
}

/// All kinds of servers, in the order in which keys of the environment are looked for.
pub const KINDS: &[Facts] = &[
    Facts {
        kind: ProviderKind::Anthropic,
        name: "anthropic",
        title: "Anthropic",
        address: "https://api.anthropic.com/v1",
        url_variable: Some("ANTHROPIC_BASE_URL"),
        url_end: "/v1",
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    Facts {
        kind: ProviderKind::Openai,
        name: "openai",
        title: "OpenAI",
        address: "https://api.openai.com/v1",
        url_variable: Some("OPENAI_BASE_URL"),
        url_end: "",
        key_variable: Some("OPENAI_API_KEY"),
    },
    Facts {
        kind: ProviderKind::Gemini,
        name: "gemini",
        title: "Gemini",
        address: "https://generativelanguage.googleapis.com/v1beta",
        url_variable: None,
        url_end: "",
        key_variable: Some("GEMINI_API_KEY"),
    },
    Facts {
        kind: ProviderKind::Ollama,
        name: "ollama",
        title: "Ollama",
        address: "http://127.0.0.1:11434",
        url_variable: None,
        url_end: "",
        key_variable: None,
    },
];

/// The kind that is written so.
pub(super) fn named(name: &str) -> Option<&'static Facts> {
    KINDS.iter().find(|facts| facts.name == name)
}

impl ProviderKind {
    /// What is fixed about it; a script is no server.
    pub fn facts(self) -> Option<&'static Facts> {
        KINDS.iter().find(|facts| facts.kind == self)
    }
}

/// The values of `kind`, for messages.
pub(super) fn known() -> String {
    let names: Vec<String> = KINDS.iter().map(|facts| format!("`{}`", facts.name)).collect();
    format!("{} or `{}`", names.join(", "), super::providers::SCRIPTED)
}
