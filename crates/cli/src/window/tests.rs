//! What is said of a window.

use super::choice;
use deputize_core::id::ModelName;

fn said(told: Result<u64, &str>, written: Option<u64>) -> Option<(String, String)> {
    let model = ModelName::new("lab:small");
    choice(&model, told.map_err(String::from), written, 128_000).map(|choice| (choice.code, choice.text))
}

// covers U-12
#[test]
fn what_a_file_says_wins_and_what_is_too_large_is_said() {
    let (code, text) = said(Ok(8192), None).unwrap_or_default();
    assert_eq!((code.as_str(), text.contains("is 8192 tokens")), ("model.window", true), "{text}");
    let (code, text) = said(Ok(8192), Some(32_000)).unwrap_or_default();
    assert_eq!(code, "model.window_over");
    assert!(text.starts_with("warning: ") && text.contains("32000") && text.contains("8192"), "{text}");
    assert_eq!(said(Ok(8192), Some(4096)), None);
    assert_eq!(said(Err("it hangs"), Some(4096)), None);
    let (code, text) = said(Err("it hangs"), None).unwrap_or_default();
    assert_eq!(code, "model.window_guess");
    assert!(text.contains("it hangs") && text.contains("128000 tokens are a guess"), "{text}");
}
