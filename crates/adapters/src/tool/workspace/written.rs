//! A path as a model wrote it: the forms that are accepted, and the names it is made of. Touches no disk.

use super::fault;
use crate::tool::text;
use deputize_core::step::Failure;
use std::path::Path;

/// A path of the workspace, before anything is known of the disk.
#[derive(Clone, Debug)]
pub(in crate::tool) struct Written {
    /// As the model wrote it, made safe for a sentence.
    pub(in crate::tool) shown: String,
    /// Its names from the workspace down; empty for the workspace itself.
    pub(in crate::tool) parts: Vec<String>,
    /// It ends in `/`, so it can only mean a folder.
    pub(in crate::tool) folder: bool,
}

impl Written {
    /// Reads a path; `roots` are the absolute forms of the workspace.
    pub(super) fn parse(raw: &str, roots: &[&Path]) -> Result<Written, Failure> {
        let shown = text::shown(raw);
        if raw.contains('\0') {
            return Err(fault::path(&shown, "it holds a NUL character"));
        }
        if raw.starts_with('~') {
            return Err(fault::path(&shown, "`~` is not expanded; write it relative to the workspace"));
        }
        if raw.split('/').any(|part| part == "..") {
            return Err(fault::path(&shown, "`..` is not allowed; write it from the workspace down"));
        }
        let parts = inside(raw, roots).split('/').filter(|part| !part.is_empty() && *part != ".");
        let folder = raw.ends_with('/') || raw.ends_with("/.");
        Ok(Written { parts: parts.map(str::to_string).collect(), folder, shown })
    }
}

/// The part below the workspace: an absolute path that lies in it loses the prefix, every other `/x` means `x`.
pub(in crate::tool) fn inside<'a>(raw: &'a str, roots: &[&Path]) -> &'a str {
    let below = |root: &&Path| Path::new(raw).strip_prefix(root).ok().and_then(Path::to_str);
    // The workspace `/` would strip nothing but the slash, which is what the last line does anyway.
    roots.iter().filter(|root| root.parent().is_some()).find_map(below).unwrap_or(raw).trim_start_matches('/')
}
