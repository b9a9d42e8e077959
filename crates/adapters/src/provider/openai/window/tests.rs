//! What servers of people's own machines say, as they say it.

use super::{of_list, of_llama};
use serde_json::json;

// covers U-12
#[test]
fn each_server_says_it_at_its_own_place() {
    let llama = json!({"default_generation_settings": {"n_ctx": 8192, "params": {}}, "total_slots": 2});
    assert_eq!(of_llama(&llama), Some(8192));
    assert_eq!(of_llama(&json!({"error": {"code": 404}})), None);
    let vllm = json!({"data": [{"id": "other", "max_model_len": 1}, {"id": "m", "max_model_len": 32768}]});
    assert_eq!(of_list(&vllm, "m", "max_model_len"), Some(32768));
    assert_eq!(of_list(&vllm, "unknown", "max_model_len"), None);
    let studio =
        json!({"data": [{"id": "m", "state": "loaded", "max_context_length": 131072, "loaded_context_length": 4096}]});
    assert_eq!(of_list(&studio, "m", "loaded_context_length"), Some(4096));
    let not_loaded = json!({"data": [{"id": "m", "state": "not-loaded", "max_context_length": 131072}]});
    assert_eq!(of_list(&not_loaded, "m", "loaded_context_length"), None, "what it could have is not what it has");
}

// What a model was trained with is in the list of llama.cpp, too, and is no window.
// covers U-12
#[test]
fn the_window_of_the_training_is_not_taken() {
    let list = json!({"data": [{"id": "m", "meta": {"n_ctx_train": 32768}}]});
    assert_eq!(of_list(&list, "m", "max_model_len"), None);
}
