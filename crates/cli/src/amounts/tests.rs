//! Tests of the forms.

use super::{age, size, some};

#[test]
fn ages_sizes_and_counts() {
    assert_eq!(age("30d"), Ok(30 * 86_400_000));
    assert_eq!(age("2w"), Ok(14 * 86_400_000));
    assert_eq!(age("12h"), Ok(12 * 3_600_000));
    for wrong in ["", "d", "0d", "-1d", "1.5d", "30 days", "unlimited"] {
        assert!(age(wrong).is_err(), "{wrong}");
    }
    for (text, bytes) in [("0", 0), ("64k", 65_536), ("500M", 500 << 20), ("1G", 1 << 30)] {
        assert_eq!(size(text), Ok(bytes));
    }
    for wrong in ["", "G", "-1", "1GB", "1.5G", "99999999999T"] {
        assert!(size(wrong).is_err(), "{wrong}");
    }
    assert!(some("1").is_ok() && some("0").is_err() && some("x").is_err());
}
