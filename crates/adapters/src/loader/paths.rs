//! Paths as data: made absolute without a look at the disk, and shown relative to the current folder.

use std::path::{Component, Path, PathBuf};

/// `path` below `base`, without `.` and with `..` resolved by name.
pub(super) fn join(base: &Path, path: impl AsRef<Path>) -> PathBuf {
    let mut out = PathBuf::new();
    for part in base.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// As messages show it: relative to `cwd`, with `/`. A path that shares nothing with `cwd` but the root stays absolute.
pub(super) fn shown(cwd: &Path, path: &Path) -> String {
    let parts: Vec<Component<'_>> = path.components().collect();
    let base: Vec<Component<'_>> = cwd.components().collect();
    let common = parts.iter().zip(&base).take_while(|(a, b)| a == b).count();
    let up = base.len() - common;
    if common < 2 && up > 0 {
        return path.to_string_lossy().into_owned();
    }
    let above = std::iter::repeat_n("..".to_string(), up);
    let below = parts.iter().skip(common).map(|c| c.as_os_str().to_string_lossy().into_owned());
    let text = above.chain(below).collect::<Vec<_>>().join("/");
    if text.is_empty() { ".".into() } else { text }
}
