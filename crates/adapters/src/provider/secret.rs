//! A credential: a text that no print, no log and no stored form ever shows.

use std::fmt;
use std::sync::Arc;

/// A key or password. Has no `Display`, no `Serialize`, and a `Debug` that hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Wraps a credential; white space around it (the line break of a file, say) is taken off.
    pub fn new(text: impl AsRef<str>) -> Secret {
        Secret(Arc::from(text.as_ref().trim()))
    }
    /// The credential itself, for the one place that sends it.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}
