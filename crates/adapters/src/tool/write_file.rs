//! `write_file`: the whole content of one file.

use super::arguments::{Kind, Parameter, wrong};
use super::text;
use super::workspace::beneath::{self, Facts};
use super::workspace::{Found, Workspace, fault, replace};
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure};
use std::io::{self, Read, Write};

pub(super) const TOOL: Builtin = Builtin {
    name: "write_file",
    description: "Writes the whole content of a file of the workspace: creates it, with the folders above it, or replaces \
                  it. To change a part of a file use edit_file.",
    parameters: &[
        Parameter::required("path", Kind::Text, "The file, relative to the workspace."),
        Parameter::required("content", Kind::Text, "The whole new content."),
    ],
    effect: EffectClass::Idempotent,
    operation: Operation::Write,
    uses: &[Use::Write],
    prepare: None,
    perform,
};

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    let content = call.arguments.text("content").as_bytes();
    let _turn = call.workspace.turn();
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    let shown = &found.written.shown;
    let len = text::bytes(u64::try_from(content.len()).unwrap_or(u64::MAX));
    let Some(old) = target(call.workspace, &found)? else {
        store(call, &found, content)?;
        return Ok(format!("Created {shown} ({len}).\n"));
    };
    // A file that may not be read is not compared either: the answer would tell whether a guess at it is right.
    let compared = call.workspace.permits(&found, Use::Read);
    if compared && same(call, &found, &old, content).unwrap_or(false) {
        return Ok(format!("{shown} already has this content ({len}); nothing was changed.\n"));
    }
    store(call, &found, content)?;
    let shared = if old.shared { " It had further names (hard links); they keep the old content." } else { "" };
    Ok(format!("Replaced {shown} ({} before, {len} now).{shared}\n", text::bytes(old.len)))
}

/// The file that is to be replaced, none when there is none yet.
fn target(workspace: &Workspace, found: &Found) -> Result<Option<Facts>, Failure> {
    let shown = &found.written.shown;
    if let beneath::Kind::Missing(_) = found.place.kind {
        let folder = found.written.folder;
        return if folder { Err(wrong(format!("{shown} ends in `/`: name a file, not a folder"))) } else { Ok(None) };
    }
    if let beneath::Kind::Folder(_) = found.place.kind {
        return Err(fault::failed(format!("{shown} is a folder: name a file")));
    }
    writable(found, &found.file(workspace)?).map(Some)
}

/// Whether the file may be replaced: a rename would not ask for its own permissions.
pub(super) fn writable(found: &Found, facts: &Facts) -> Result<Facts, Failure> {
    let shown = &found.written.shown;
    if !facts.writable() {
        return Err(fault::failed(format!("{shown} could not be written: the file is marked read-only")));
    }
    found.place.try_write().map_err(|error| fault::system(shown, "written", error))?;
    Ok(*facts)
}

/// Puts the new content in place.
pub(super) fn store(call: &Call<'_>, found: &Found, content: &[u8]) -> Result<(), Failure> {
    replace::replace(&found.place, call.key, call.stop, |file| file.write_all(content))
        .map_err(|error| fault::system(&found.written.shown, "written", error))
}

fn same(call: &Call<'_>, found: &Found, old: &Facts, content: &[u8]) -> io::Result<bool> {
    if usize::try_from(old.len).ok() != Some(content.len()) {
        return Ok(false);
    }
    let mut file = found.open(call.workspace, call.stop).map_err(|_| io::ErrorKind::NotFound)?;
    let mut block = vec![0; 64 * 1024];
    let mut rest = content;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(rest.is_empty());
        }
        match (block.get(..read), rest.split_at_checked(read)) {
            (Some(block), Some((part, after))) if block == part => rest = after,
            _ => return Ok(false),
        }
    }
}
