//! `glob`: the files of a folder and all below whose path fits a pattern.

use super::arguments::{Kind, Parameter};
use super::pattern;
use super::text::{self, Output};
use super::workspace::entries::EntryKind;
use super::workspace::walk::{self, Wanted};
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure};
use std::path::Path;

/// The most paths of one answer.
const LISTED: usize = 1_000;

pub(super) const TOOL: Builtin = Builtin {
    name: "glob",
    description: "Finds files of the workspace by their path, such as **/*.rs or src/{a,b}/*.md. `*` stops at a `/`, `**` \
                  does not; hidden files match. Gives paths in byte order. A pattern that ends in `/` finds folders \
                  instead. Linked folders and git's own folders are not entered.",
    parameters: &[
        Parameter::required("pattern", Kind::Text, "The pattern, relative to `path`."),
        Parameter::optional(
            "path",
            Kind::Text,
            "The folder to look in, relative to the workspace. Default: all of it.",
        ),
    ],
    effect: EffectClass::ReadOnly,
    operation: Operation::Read,
    uses: &[Use::List],
    prepare: None,
    perform,
};

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    let written = call.arguments.text("pattern");
    let pattern = pattern::relative("pattern", written, &call.workspace.roots())?;
    let folders = pattern.ends_with('/');
    let matcher = pattern::compile("pattern", pattern.trim_end_matches('/'))?;
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    found.folder(call.workspace)?;
    let kind = if folders { EntryKind::Folder } else { EntryKind::File };
    let keep = |path: &Path, entry: EntryKind| entry == kind && matcher.is_match(path);
    let git = pattern.contains(".git/") || found.in_git();
    let wanted = Wanted { links: !folders, git, keep: &keep };
    let walked = walk::below(call.workspace, &found, &wanted, call.stop)?;
    let end = if folders { "/" } else { "" };
    let line = |path: &std::path::PathBuf| text::visible(&format!("{}{end}", found.below(path)));
    let lines: Vec<String> = walked.paths.iter().take(LISTED).map(line).collect();
    let mut output = Output::default();
    let shown = output.lines(&lines);
    if output.is_empty() {
        output.push(&format!("Nothing matches {}.\n", text::shown(written)));
        if !pattern.contains('/') {
            output.push("The pattern looks only at the folder itself: put **/ in front to look below it.\n");
        }
    }
    if shown < walked.paths.len() {
        output.remark(format!("the first {shown} of {} paths are shown: narrow the pattern", walked.paths.len()));
    }
    walked.remarks(&mut output);
    Ok(output.finish())
}
