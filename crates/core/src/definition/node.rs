//! A spanned tree: what any configuration text is read into before the core decodes it. The core never sees YAML.

/// A place in a text, 1-based, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub kind: Kind,
    /// Where it begins.
    pub at: Place,
}

/// A value of a configuration text.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Nothing (`key:` or `null`).
    Null,
    /// Something that could not be read, and that has been complained about. It is neither absent nor its default, and
    /// nobody complains about it again; a spec that was decoded over one is not to be used.
    Unreadable,
    /// A scalar: its text as written, and whether it was quoted. Typing it is the decoder's work, so `no` stays a text.
    Scalar {
        /// The text.
        text: String,
        /// Whether it stood in quotes or in a block.
        quoted: bool,
    },
    /// A list.
    List(Vec<Node>),
    /// A map in the order written; keys are unique.
    Map(Vec<Entry>),
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub at: Place,
    /// The value.
    pub value: Node,
}
