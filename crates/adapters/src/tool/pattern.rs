//! Glob patterns of glob and grep: how a model writes them, and how they are matched.

use super::arguments::wrong;
use super::text;
use deputize_core::policy::inside;
use deputize_core::step::Failure;
use globset::{GlobBuilder, GlobMatcher};
use std::path::Path;

/// Compiles a pattern: `*` stops at `/`, `**` does not, `{a,b}` and `[a-z]` work, names that begin with a dot match.
pub(super) fn compile(name: &str, pattern: &str) -> Result<GlobMatcher, Failure> {
    let build = GlobBuilder::new(pattern).literal_separator(true).empty_alternates(true).build();
    match build {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(wrong(format!("`{name}` {} is no glob pattern: {}", text::shown(pattern), error.kind()))),
    }
}

/// The pattern from the searched folder down.
pub(super) fn relative<'a>(name: &str, pattern: &'a str, roots: &[&Path]) -> Result<&'a str, Failure> {
    if pattern.is_empty() {
        return Err(wrong(format!("`{name}` is empty: give a pattern such as **/*.rs")));
    }
    if pattern.starts_with('~') || pattern.split('/').any(|part| part == "..") {
        return Err(wrong(format!("`{name}` {} is refused: `~` and `..` are not allowed", text::shown(pattern))));
    }
    let below = inside(pattern, roots);
    Ok(below.strip_prefix("./").unwrap_or(below))
}
