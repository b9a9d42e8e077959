//! Tests of context windows.

use super::{Windows, shown};
use serde_json::json;

#[test]
fn a_call_asks_for_what_it_needs_in_steps_and_never_for_less_than_before() {
    let windows = Windows::new([("small".to_string(), 8000), ("big".to_string(), 40_000)].into());
    assert_eq!(windows.fitting("small", 100, 100), 8000, "never more than is known");
    assert_eq!(windows.fitting("big", 100, 100), 16_384);
    // About 20,000 tokens and a quarter.
    assert_eq!(windows.fitting("big", 72_000, 100), 32_768);
    assert_eq!(windows.fitting("big", 100, 100), 32_768, "another size would load the model again");
    assert_eq!(windows.fitting("big", 720_000, 100), 40_000);
    assert_eq!(windows.fitting("unknown", 720_000, 100), 262_144);
}

#[test]
fn the_window_is_the_models_own_setting_or_its_training() {
    let info = json!({"general.architecture": "qwen3", "other.context_length": 1, "qwen3.context_length": 40960});
    let table = [
        (json!({"model_info": info}), Some(40960)),
        (json!({"model_info": info, "parameters": "stop    \"<|im_end|>\"\nnum_ctx       4096"}), Some(4096)),
        (json!({"model_info": {"llama.context_length": 131072}}), Some(131072)),
        (json!({"model_info": {"general.architecture": "x"}}), None),
        (json!({"parameters": "temperature 0.6"}), None),
        (json!([]), None),
    ];
    for (answer, expect) in table {
        assert_eq!(shown(&answer), expect, "{answer}");
    }
}
