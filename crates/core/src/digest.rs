//! Content digests: one function for texts and one for data.

use crate::id::Digest;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

/// SHA-256 of bytes, lower-case hex.
pub fn of_bytes(bytes: &[u8]) -> Digest {
    let hash = Sha256::digest(bytes);
    let mut text = String::with_capacity(64);
    for byte in hash {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
        }
    }
    Digest::new(text)
}

/// SHA-256 of the JSON form of some data.
pub fn of(data: &impl Serialize) -> Digest {
    of_bytes(&serde_json::to_vec(data).unwrap_or_default())
}
