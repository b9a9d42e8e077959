//! Tests of versions in names.

use super::{Generation, Thinking};

#[test]
fn models_are_known_by_their_version() {
    use Thinking::{Adaptive, Budget, Never};
    let table = [
        ("claude-2.1", Never, true, false),
        ("claude-3-opus-20240229", Never, true, false),
        ("claude-3-5-haiku-latest", Never, true, false),
        ("claude-3-7-sonnet-20250219", Budget, true, false),
        ("claude-opus-4-20250514", Budget, true, false),
        ("claude-opus-4-1-20250805", Budget, true, false),
        ("claude-haiku-4-5", Budget, true, true),
        ("anthropic/claude-sonnet-4.5", Budget, true, true),
        ("claude-sonnet-4-6", Adaptive, true, true),
        ("claude-opus-4-7", Adaptive, false, true),
        ("claude-opus-5", Adaptive, false, true),
        ("claude-sonnet-5-5", Adaptive, false, true),
        ("claude-mythos-preview", Adaptive, false, true),
        ("MiniMax-M2", Budget, true, false),
    ];
    for (model, thinking, temperature, structured) in table {
        assert_eq!(Generation::of(model), Generation { thinking, temperature, structured }, "{model}");
    }
}
