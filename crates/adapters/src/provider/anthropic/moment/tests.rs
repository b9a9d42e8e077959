//! Tests of moments.

use super::parse;
use std::time::{Duration, SystemTime};

#[test]
fn moments_are_read_and_nothing_else() {
    let at = |seconds: u64| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    let table = [
        ("1970-01-01T00:00:00Z", at(0)),
        ("2000-02-29T12:00:00Z", at(951_825_600)),
        ("2000-03-01T00:00:00Z", at(951_868_800)),
        ("2026-12-01T03:30:35Z", at(1_796_095_835)),
        (" 2026-12-01T03:30:35.25Z ", at(1_796_095_835)),
        ("1969-12-31T23:59:59Z", None),
        ("2026-13-01T00:00:00Z", None),
        ("2026-12-01T00:00:00", None),
        ("2026-12-01", None),
        ("soon", None),
        ("99999999999999999999-01-01T00:00:00Z", None),
    ];
    for (text, expect) in table {
        assert_eq!(parse(text), expect, "{text}");
    }
}
