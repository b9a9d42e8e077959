//! `edit_file`: one exact piece of a file replaced by another. The hash before and after is noted before the effect, so
//! that a repetition after a crash can tell whether the edit was applied.

use super::arguments::{Kind, Parameter, wrong};
use super::splice::{self, Edit};
use super::text;
use super::workspace::{Found, fault};
use super::write_file::{store, writable};
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::digest;
use deputize_core::id::Digest;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure, Note};
use serde::{Deserialize, Serialize};
use std::io::Read;

/// The largest file that is edited: it is held in memory.
const MOST: u64 = 16 * 1024 * 1024;

pub(super) const TOOL: Builtin = Builtin {
    name: "edit_file",
    description: "Replaces an exact piece of text in a file of the workspace. `old` must be the text as read_file shows \
                  it, white space included, and must occur exactly once unless replace_all is true. To create a file or \
                  to write all of it use write_file.",
    parameters: &[
        Parameter::required("path", Kind::Text, "The file, relative to the workspace."),
        Parameter::required("old", Kind::Text, "The exact text to replace, with enough around it to occur only once."),
        Parameter::required("new", Kind::Text, "The text to put in its place; may be empty."),
        Parameter::optional("replace_all", Kind::Flag, "Replace every occurrence. Default: false."),
    ],
    effect: EffectClass::Idempotent,
    operation: Operation::Write,
    uses: &[Use::Read, Use::Write],
    prepare: Some(prepare),
    perform,
};

/// What is noted before an edit: SHA-256 of the whole file.
#[derive(Serialize, Deserialize)]
struct Hashes {
    before: Digest,
    after: Digest,
}

fn prepare(call: &Call<'_>) -> Result<Note, Failure> {
    let (_, content, edit) = plan(call)?;
    let hashes = Hashes { before: digest::of_bytes(&content), after: digest::of_bytes(&edit.content) };
    serde_json::to_value(hashes).map_err(|error| fault::failed(format!("the edit cannot be noted: {error}")))
}

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    let _turn = call.workspace.turn();
    if let Some(note) = call.note {
        let hashes = Hashes::deserialize(note)
            .map_err(|error| fault::failed(format!("the note of this edit cannot be read: {error}")))?;
        let (found, content) = load(call)?;
        let shown = &found.written.shown;
        let now = digest::of_bytes(&content);
        if now == hashes.after {
            return Ok(format!("{shown} already has this edit; nothing was changed.\n"));
        }
        if now != hashes.before {
            return Err(fault::failed(format!("{shown} was changed meanwhile: read it again and repeat the edit")));
        }
    }
    let (found, _, edit) = plan(call)?;
    store(call, &found, &edit.content)?;
    let lines: Vec<String> = edit.lines.iter().map(u64::to_string).collect();
    let more = if u64::try_from(lines.len()).is_ok_and(|told| told < edit.count) { " and more" } else { "" };
    let (word, line) = if edit.count == 1 { ("occurrence", "line") } else { ("occurrences", "lines") };
    Ok(format!(
        "Replaced {} {word} in {} ({line} {}{more}); it has {} now.\n",
        edit.count,
        found.written.shown,
        lines.join(", "),
        text::bytes(u64::try_from(edit.content.len()).unwrap_or(u64::MAX))
    ))
}

/// The file, its content, and what it would become.
fn plan(call: &Call<'_>) -> Result<(Found, Vec<u8>, Edit), Failure> {
    let (old, new) = (call.arguments.text("old"), call.arguments.text("new"));
    if old.is_empty() {
        return Err(wrong("`old` is empty: give the text to replace, or use write_file to create a file"));
    }
    if old == new {
        return Err(wrong("`old` and `new` are the same: the edit would change nothing"));
    }
    let (found, content) = load(call)?;
    let edit = splice::splice(&content, old, new, call.arguments.flag("replace_all"))
        .map_err(|why| fault::failed(format!("{}: {why}", found.written.shown)))?;
    Ok((found, content, edit))
}

fn load(call: &Call<'_>) -> Result<(Found, Vec<u8>), Failure> {
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    let facts = writable(&found, &found.file(call.workspace)?)?;
    let shown = &found.written.shown;
    if facts.len > MOST {
        return Err(fault::failed(format!("{shown} is too large to edit: {}, at most {MOST}", text::bytes(facts.len))));
    }
    let mut content = Vec::new();
    found
        .open(call.workspace, call.stop)?
        .take(MOST)
        .read_to_end(&mut content)
        .map_err(|error| fault::system(shown, "read", error))?;
    Ok((found, content))
}
