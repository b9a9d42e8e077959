//! What a commit waits for. Owns the choice, not the settings that follow from it.

/// What a commit waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sync {
    /// The disk has it: what was appended survives a power failure.
    #[default]
    Full,
    /// The operating system has it: what was appended survives the death of the process, not that of the machine, after
    /// which the store is whole but may end earlier.
    Normal,
}

impl Sync {
    /// The value of `PRAGMA synchronous`.
    pub(super) fn word(self) -> &'static str {
        match self {
            Sync::Full => "full",
            Sync::Normal => "normal",
        }
    }
}
