//! Tests of the scan for digests.

use super::digests;

#[test]
fn a_digest_is_a_word_of_64_hexadecimal_digits() {
    let one = "0123456789abcdef".repeat(4);
    let two = "f".repeat(64);
    let record = format!(r#"{{"a":"{one}","b":["{two}","{two}0","{}"],"text":"see {one}."}}"#, "f".repeat(63));
    assert_eq!(digests(record.as_bytes()).collect::<Vec<_>>(), [&one, &two, &one]);
    assert_eq!(digests(&[0xff; 80]).count(), 0);
}
