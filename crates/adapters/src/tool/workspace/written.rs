//! A path as a model wrote it: the forms that are accepted, and the names it is made of. Touches no disk.

use super::fault;
use crate::tool::text;
use deputize_core::policy;
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
        let parts = policy::written(raw, roots).map_err(|why| fault::path(&shown, &why.to_string()))?;
        let folder = raw.ends_with('/') || raw.ends_with("/.");
        Ok(Written { parts: parts.into_iter().map(str::to_string).collect(), folder, shown })
    }
}
