//! How deep JSON that comes from outside may be nested. A record wraps such a value in a few levels more, and the reader of
//! records stops at 128 levels: what is let in must come out again.

use serde_json::Value;

/// The deepest nesting of a value that is let in. A text, a number or an empty list has none.
pub const DEEPEST: usize = 64;

/// Whether a value is nested deeper than so many levels. Looks no deeper than that.
pub fn deeper(value: &Value, levels: usize) -> bool {
    let inside = |inner: &Value| levels == 0 || deeper(inner, levels - 1);
    match value {
        Value::Array(list) => list.iter().any(inside),
        Value::Object(map) => map.values().any(inside),
        _ => false,
    }
}
