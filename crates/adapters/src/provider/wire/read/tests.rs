//! Tests of lenient reading: what is mended, what is believed, and what is said of the rest.

use super::{arguments, count, mended, read};
use deputize_core::code;
use deputize_core::message::Arguments;
use serde_json::{Value, json};

#[test]
fn half_of_a_surrogate_pair_is_replaced_and_a_whole_one_is_kept() {
    let table = [
        (r#""a\ud83d""#, Some("a\u{fffd}")),
        (r#""\ude00b""#, Some("\u{fffd}b")),
        (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
        (r#""\uD83DA""#, Some("\u{fffd}A")),
        (r#""\ud83d\n""#, Some("\u{fffd}\n")),
        (r#""\ud83d\ude00""#, None),
        (r#""\\ud83d""#, None),
        (r#""ä\"\u00e4""#, None),
        (r#""\"#, None),
        (r#""\ud8"#, None),
    ];
    for (json, expect) in table {
        let mended = mended(json).map(|text| serde_json::from_str::<String>(&text).unwrap());
        assert_eq!(mended.as_deref(), expect, "{json}");
        if let Some(expect) = expect {
            assert_eq!(read::<String>(json.as_bytes()).unwrap(), expect);
        }
    }
    assert_eq!(arguments(r#"{"a":"\ud83d"}"#), Arguments::Json(json!({"a": "\u{fffd}"})));
    assert_eq!(arguments("{\"a\":"), Arguments::Malformed("{\"a\":".to_string()));
}

#[test]
fn counts_are_read_as_servers_write_them() {
    let table = [
        (json!(12), Some(12)),
        (json!(0), Some(0)),
        (json!(12.0), Some(12)),
        (json!(12.2), Some(13)),
        (json!("12"), Some(12)),
        (json!(" 12.0 "), Some(12)),
        (json!(-1), None),
        (json!(-0.5), None),
        (json!("-3"), None),
        (json!("many"), None),
        (json!("NaN"), None),
        (json!(9_007_199_254_740_992_u64), Some(9_007_199_254_740_992)),
        (json!(9_007_199_254_740_993_u64), None),
        (json!(u64::MAX), None),
        (json!(1e300), None),
        (json!(null), None),
        (json!({"total": 1}), None),
    ];
    for (value, expect) in table {
        assert_eq!(count(Some(&value)), expect, "{value}");
    }
    assert_eq!(count(None), None);
}

#[test]
fn what_cannot_be_read_is_shown_and_cut() {
    let said = |body: &str| read::<Value>(body.as_bytes()).unwrap_err();
    assert_eq!(said("").code, code::MODEL_MALFORMED);
    assert!(said(" \n").why.ends_with("it is empty"), "{}", said(" \n").why);
    let page = said("<html>\n<h1>502 Bad Gateway</h1>").why;
    assert!(page.contains("`<html> <h1>502 Bad Gateway</h1>`"), "{page}");
    let long = said(&"ü".repeat(500)).why;
    assert!(long.contains(&format!("`{}…`", "ü".repeat(200))), "{long}");
}
