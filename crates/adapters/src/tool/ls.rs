//! `ls`: what is in one folder.

use super::arguments::{Kind, Parameter};
use super::text::{self, Output};
use super::workspace::beneath::{self, Place};
use super::workspace::entries::{self, Entry, EntryKind};
use super::workspace::{Found, Workspace, fault};
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure};
use std::os::fd::OwnedFd;

/// The most entries that are listed, and that are read to sort them.
const LISTED: usize = 1_000;
const READ: usize = 200_000;

pub(super) const TOOL: Builtin = Builtin {
    name: "ls",
    description: "Lists one folder of the workspace, hidden entries included, in byte order: kind, size in bytes and name. \
                  Does not look into sub-folders; use glob for that.",
    parameters: &[Parameter::optional(
        "path",
        Kind::Text,
        "The folder, relative to the workspace. Default: the workspace itself.",
    )],
    effect: EffectClass::ReadOnly,
    operation: Operation::Read,
    uses: &[Use::List],
    prepare: None,
    perform,
};

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    let folder = found.folder(call.workspace)?;
    let mut entries = entries::read(&*folder, READ, call.stop)
        .map_err(|error| fault::system(&found.written.shown, "listed", error))?;
    let all = entries.list.len();
    entries.list.retain(|entry| call.workspace.tells_entry(&found, &entry.name, entry.kind));
    let mut withheld = (all - entries.list.len()) as u64;
    let total = entries.list.len();
    let mut lines = Vec::new();
    for entry in entries.list.iter().take(LISTED) {
        call.stop.failing()?;
        match line(call.workspace, &found, &folder, entry) {
            Some(line) => lines.push(line),
            None => withheld += 1,
        }
    }
    let mut output = Output::default();
    let shown = output.lines(&lines);
    if output.is_empty() {
        output.push(if withheld == 0 { "The folder is empty.\n" } else { "Nothing in the folder may be shown.\n" });
    }
    if shown < lines.len() || total > LISTED {
        let more = if entries.more { "more than " } else { "" };
        output.remark(format!(
            "the first {shown} of {more}{total} entries are shown: use glob with a narrower pattern for the rest"
        ));
    }
    output.withheld(withheld);
    Ok(output.finish())
}

/// One line of the list; none for a link whose target may not be told.
fn line(workspace: &Workspace, found: &Found, folder: &OwnedFd, entry: &Entry) -> Option<String> {
    let name = text::visible(&entry.name.to_string_lossy());
    Some(match entry.kind {
        EntryKind::Folder => format!("folder {name}/"),
        EntryKind::File => {
            let len = beneath::len(folder, &entry.name).map_or_else(|| "size unknown".into(), text::bytes);
            format!("file   {name} ({len})")
        }
        EntryKind::Link => {
            let place = workspace.link(&found.place.real, entry.name.clone()).ok()?;
            let folder = matches!(place.as_ref().map(|place| &place.kind), Some(beneath::Kind::Folder(_)));
            if !folder && !workspace.tells_entry(found, &entry.name, EntryKind::File) {
                return None;
            }
            format!("link   {name} (to {})", place.as_ref().map_or("nothing".into(), target))
        }
        EntryKind::Special(what) => format!("other  {name} ({what})"),
    })
}

fn target(place: &Place) -> String {
    match &place.kind {
        beneath::Kind::Folder(_) => "a folder".into(),
        beneath::Kind::File(facts) => format!("a file of {}", text::bytes(facts.len)),
        beneath::Kind::Special(what) => (*what).into(),
        beneath::Kind::Missing(_) => "nothing".into(),
    }
}
