//! The sentences of refused and failed file operations. They name a path as the model wrote it and never where it leads.

use deputize_core::code;
use deputize_core::step::Failure;
use std::io::{self, ErrorKind};

/// The path itself is not one that is accepted.
pub(in crate::tool) fn path(shown: &str, why: &str) -> Failure {
    Failure::fixed(code::TOOL_ARGUMENTS, format!("the path {shown} is refused: {why}"))
}

/// A link on the way leads out of the workspace.
pub(super) fn outside(shown: &str) -> Failure {
    Failure::fixed(code::PERMISSION_DENIED, format!("{shown} leads out of the workspace, so it cannot be used"))
}

/// By another of its names it may not be read.
pub(super) fn other_name(shown: &str) -> Failure {
    let why = format!("{shown} may not be read: it is another name (a hard link) of a file that may not be read");
    Failure::fixed(code::PERMISSION_DENIED, why)
}

/// It could not be done.
pub(in crate::tool) fn failed(why: impl Into<String>) -> Failure {
    Failure::fixed(code::TOOL_FAILED, why)
}

/// The system refused it; `verb` is `read`, `written` and the like.
pub(in crate::tool) fn system(shown: &str, verb: &str, error: impl Into<io::Error>) -> Failure {
    failed(format!("{shown} could not be {verb}: {}", explain(&error.into())))
}

/// An error of the system in plain words.
fn explain(error: &io::Error) -> String {
    let words = match error.kind() {
        ErrorKind::NotFound => "it does not exist any more",
        ErrorKind::PermissionDenied => "the system gives no permission",
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the disk quota is used up",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::FileTooLarge => "the file would be too large for the file system",
        ErrorKind::InvalidFilename => "a name in it is too long or not valid for the file system",
        ErrorKind::ExecutableFileBusy => "a program is running from it",
        ErrorKind::Interrupted => "the call was stopped",
        _ => return error.to_string(),
    };
    words.into()
}

#[cfg(test)]
mod tests;
