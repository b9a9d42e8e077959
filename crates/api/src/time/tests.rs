//! Tests of the moments' text.

use super::rfc3339;
use deputize_core::id::Time;

#[test]
fn known_moments() {
    let cases = [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_164_800_123, "2024-02-29T00:00:00.123Z"),
        (1_796_080_207_000, "2026-11-30T23:10:07.000Z"),
        (4_102_444_799_999, "2099-12-31T23:59:59.999Z"),
    ];
    for (ms, text) in cases {
        assert_eq!(rfc3339(Time(ms)), text);
    }
}
