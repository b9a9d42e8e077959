//! The generated pages of `docs/reference`, made from the lists that the program itself uses.

mod cli;

use crate::exit::Exit;
use crate::out::Out;
use deputize_core::code;
use deputize_core::definition::keys::{self, File};
use serde::Serialize;
use std::fmt::Write as _;

#[derive(Serialize)]
struct Pages {
    files: Vec<Page>,
}

#[derive(Serialize)]
struct Page {
    path: &'static str,
    text: String,
}

/// Prints all pages as one JSON document.
pub(crate) fn execute(out: &Out) -> Exit {
    let files = vec![
        Page { path: "docs/reference/cli.md", text: cli::markdown() },
        Page { path: "docs/reference/codes.md", text: codes() },
        Page { path: "docs/reference/schema/deputize.schema.json", text: schema(File::Team) },
        Page { path: "docs/reference/schema/agent.schema.json", text: schema(File::Agent) },
        Page { path: "docs/reference/schema/skill.schema.json", text: schema(File::Skill) },
        Page { path: "docs/reference/messages.md", text: deputize_core::definition::codes::markdown() },
        Page { path: "docs/reference/config.md", text: keys::markdown() },
        Page { path: "docs/reference/exit-codes.md", text: exit_codes() },
    ];
    out.document(&Pages { files });
    Exit::Good
}

/// A JSON Schema for editors.
fn schema(file: File) -> String {
    format!("{:#}\n", keys::schema(file))
}

fn codes() -> String {
    let mut out = String::from(
        "# Reason codes\n\nGenerated from `deputize_core::code`. Every refusal, failure and finding carries one; `covers` names the\n\
         lines of docs/requirements.md that it answers.\n\n| code | meaning | covers |\n|---|---|---|\n",
    );
    for reason in code::ALL {
        let _ = writeln!(out, "| `{}` | {} | {} |", reason.code, reason.meaning.replace('|', "\\|"), reason.covers);
    }
    out
}

fn exit_codes() -> String {
    let mut out = String::from(
        "# Exit codes\n\nGenerated from the list that the program uses.\n\n| code | meaning |\n|---|---|\n",
    );
    for (exit, meaning) in Exit::ALL {
        let _ = writeln!(out, "| {} | {meaning} |", exit.number());
    }
    out
}
