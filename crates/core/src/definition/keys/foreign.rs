//! Keys that only other products' forms of agent files have: what each is here. A key that is in none of the tables stays
//! an unknown key.

/// A product whose agent files differ from the common form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dialect {
    /// VS Code and GitHub Copilot: `.github/agents`, files `*.agent.md`.
    Copilot,
    /// Gemini CLI: `.gemini/agents`.
    Gemini,
    /// opencode: `.opencode/agents`.
    Opencode,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 3] = [Dialect::Copilot, Dialect::Gemini, Dialect::Opencode];

    /// The product's name.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Copilot => "VS Code and Copilot",
            Dialect::Gemini => "Gemini CLI",
            Dialect::Opencode => "opencode",
        }
    }
}

/// What becomes of a foreign key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// It is this key of ours.
    As(&'static str),
    /// It is translated, as its sentence says.
    Read,
    /// It has no effect: a warning.
    NoEffect,
}

/// A key of one dialect.
#[derive(Clone, Copy, Debug)]
pub struct ForeignKey {
    /// Whose.
    pub dialect: Dialect,
    /// The key.
    pub key: &'static str,
    /// What becomes of it.
    pub treatment: Treatment,
    /// One sentence.
    pub doc: &'static str,
}

const fn row(dialect: Dialect, key: &'static str, treatment: Treatment, doc: &'static str) -> ForeignKey {
    ForeignKey { dialect, key, treatment, doc }
}

use Dialect::{Copilot, Gemini, Opencode};
use Treatment::{As, NoEffect, Read};

/// Every foreign key.
pub const FOREIGN: &[ForeignKey] = &[
    row(Copilot, "name", Read, "May be absent: the name of the file is used."),
    row(Copilot, "model", Read, "May be a list of models; the first is used, and no other is tried after it."),
    row(Copilot, "disable-model-invocation", Read, "`true`: no agent may delegate to it but one that names it."),
    row(Copilot, "infer", Read, "`false` is `disable-model-invocation: true`."),
    row(Copilot, "mcp-servers", As("mcpServers"), "Connectors."),
    row(Copilot, "user-invocable", NoEffect, "Whether it stands in a menu."),
    row(Copilot, "user-invokable", NoEffect, "Whether it stands in a menu."),
    row(Copilot, "argument-hint", NoEffect, "A hint in an input field."),
    row(Copilot, "handoffs", NoEffect, "Buttons that a person clicks."),
    row(Copilot, "target", NoEffect, "Which product it is for."),
    row(Copilot, "metadata", NoEffect, "Notes."),
    row(Gemini, "kind", Read, "`local` only; a `remote` agent is not loaded."),
    row(Gemini, "max_turns", As("maxTurns"), "Turns."),
    row(Gemini, "timeout_mins", Read, "Wall time in minutes."),
    row(Gemini, "mcp_servers", As("mcpServers"), "Connectors."),
    row(Gemini, "display_name", NoEffect, "For display only."),
    row(Gemini, "temperature", NoEffect, "The temperature of a model is set under `models` of `deputize.yaml`."),
    row(Gemini, "agent_card_url", NoEffect, "The address of a remote agent."),
    row(Gemini, "auth", NoEffect, "How a remote agent is logged in to."),
    row(Opencode, "name", Read, "The name is the path of the file below the folder, with `-` between its parts."),
    row(Opencode, "model", Read, "`provider/model#variant` is `provider:model`; the variant has no effect."),
    row(Opencode, "mode", Read, "`primary`: no agent may delegate to it but one that names it."),
    row(Opencode, "disable", Read, "`true`: it is not loaded."),
    row(Opencode, "steps", As("maxTurns"), "Turns."),
    row(Opencode, "maxSteps", As("maxTurns"), "Turns."),
    row(Opencode, "tools", Read, "A map of tool to true or false takes away; it never adds."),
    row(Opencode, "permission", Read, "What is denied or asked for is taken away whole; `allow` adds nothing."),
    row(Opencode, "permissions", Read, "Rules `{action, resource, effect}`, read as `permission`."),
    row(Opencode, "mcp", As("mcpServers"), "Connectors."),
    row(Opencode, "temperature", NoEffect, "The temperature of a model is set under `models` of `deputize.yaml`."),
    row(Opencode, "top_p", NoEffect, "Sampling."),
    row(Opencode, "variant", NoEffect, "A variant of the model."),
    row(Opencode, "options", NoEffect, "Options of the provider; they are `body` of a provider here."),
    row(Opencode, "hidden", NoEffect, "Whether it stands in a menu."),
];

/// The row of a key, in any spelling.
pub fn foreign(dialect: Dialect, written: &str) -> Option<&'static ForeignKey> {
    let small = super::folded(written);
    FOREIGN.iter().find(|f| f.dialect == dialect && super::folded(f.key) == small)
}
