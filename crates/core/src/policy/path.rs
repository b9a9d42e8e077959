//! A path as a model writes it, before anything is known of the disk: the forms that are accepted, and the names it is
//! made of. The gate and the tools read paths by this alone.

use std::path::Path;

/// Why a path is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPath {
    /// A NUL character.
    #[error("it holds a NUL character")]
    Nul,
    /// A home folder.
    #[error("`~` is not expanded; write it relative to the workspace")]
    Home,
    /// A way up.
    #[error("`..` is not allowed; write it from the workspace down")]
    Up,
}

/// The names of a path from the workspace down; none for the workspace itself. `roots` are its absolute forms.
///
/// # Errors
/// The path holds NUL or `..`, or begins with `~`.
pub fn written<'a>(raw: &'a str, roots: &[&Path]) -> Result<Vec<&'a str>, BadPath> {
    if raw.contains('\0') {
        return Err(BadPath::Nul);
    }
    if raw.starts_with('~') {
        return Err(BadPath::Home);
    }
    if raw.split('/').any(|part| part == "..") {
        return Err(BadPath::Up);
    }
    Ok(inside(raw, roots).split('/').filter(|part| !part.is_empty() && *part != ".").collect())
}

/// The part below the workspace: an absolute path that lies in it loses the prefix, every other `/x` means `x`.
pub fn inside<'a>(raw: &'a str, roots: &[&Path]) -> &'a str {
    let below = |root: &&Path| Path::new(raw).strip_prefix(root).ok().and_then(Path::to_str);
    // The workspace `/` would strip nothing but the slash, which is what the last line does anyway.
    roots.iter().filter(|root| root.parent().is_some()).find_map(below).unwrap_or(raw).trim_start_matches('/')
}
