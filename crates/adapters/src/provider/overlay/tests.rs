//! Tests of laying settings over a body.

use super::overlay;
use serde_json::json;

#[test]
fn settings_add_replace_take_out_and_leave_the_rest_in_its_order() {
    let mut body = json!({"a": 1, "options": {"num_ctx": 8192, "temperature": 0.5}, "b": 2});
    let extra = json!({"a": null, "options": {"temperature": null, "top_k": 20}, "b": {"c": 3}, "d": 4});
    overlay(body.as_object_mut().unwrap(), extra.as_object().unwrap());
    assert_eq!(body.to_string(), r#"{"options":{"num_ctx":8192,"top_k":20},"b":{"c":3},"d":4}"#);
}
