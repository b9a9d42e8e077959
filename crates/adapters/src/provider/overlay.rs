//! The members of `body` in the settings, laid over what an adapter writes.

use serde_json::{Map, Value};

/// Lays the settings over the adapter's own members: an object is laid over an object member by member, `null` takes a
/// member out, everything else replaces or is added at the end. So `options: {top_k: 20}` leaves the other options alone.
pub(super) fn overlay(base: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (key, value) in extra {
        if value.is_null() {
            base.shift_remove(key);
        } else if let (Some(Value::Object(inner)), Value::Object(more)) = (base.get_mut(key), value) {
            overlay(inner, more);
        } else {
            base.insert(key.clone(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests;
