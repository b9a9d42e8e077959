//! Tests of counts and durations.

use super::{Bad, count, duration, whole};

#[test]
fn counts() {
    let table = [
        ("1", Ok(1)),
        (" 30 ", Ok(30)),
        ("200k", Ok(200_000)),
        ("200K", Ok(200_000)),
        ("2M", Ok(2_000_000)),
        ("0", Err(Bad::NotPositive)),
        ("0k", Err(Bad::NotPositive)),
        ("-3", Err(Bad::NotPositive)),
        ("-.5", Err(Bad::NotPositive)),
        ("unlimited", Err(Bad::NotPositive)),
        ("Infinity", Err(Bad::NotPositive)),
        ("-.inf", Err(Bad::NotPositive)),
        (".NaN", Err(Bad::NotPositive)),
        ("1.5", Err(Bad::Form)),
        ("2m", Err(Bad::Form)),
        ("k", Err(Bad::Form)),
        ("", Err(Bad::Form)),
        ("1_000", Err(Bad::Form)),
        ("99999999999999999999", Err(Bad::TooBig)),
        ("18446744073709551615k", Err(Bad::TooBig)),
    ];
    for (text, expected) in table {
        assert_eq!(count(text), expected, "{text}");
    }
    assert_eq!(whole("4294967296"), Err(Bad::TooBig));
    assert_eq!(whole("7"), Ok(7));
}

#[test]
fn durations() {
    let table = [
        ("500ms", Ok(500)),
        ("90s", Ok(90_000)),
        ("90", Ok(90_000)),
        ("15m", Ok(900_000)),
        ("2h", Ok(7_200_000)),
        ("1h30m", Ok(5_400_000)),
        ("1h1s500ms", Ok(3_601_500)),
        ("0s", Err(Bad::NotPositive)),
        ("-5s", Err(Bad::NotPositive)),
        ("never", Err(Bad::NotPositive)),
        ("30m1h", Err(Bad::Form)),
        ("1h1h", Err(Bad::Form)),
        ("5 m", Err(Bad::Form)),
        ("m", Err(Bad::Form)),
        ("1.5h", Err(Bad::Form)),
        ("1d", Err(Bad::Form)),
        ("", Err(Bad::Form)),
        ("9999999999999999999h", Err(Bad::TooBig)),
    ];
    for (text, expected) in table {
        assert_eq!(duration(text), expected, "{text}");
    }
}
