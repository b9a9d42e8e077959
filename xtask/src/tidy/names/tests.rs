//! What a name stands for: relative paths and re-exports.

use super::super::mentions::{self, Kind};
use super::super::source::Source;
use super::Names;

const LIB: &str = "mod run;\nmod view;\npub use run::state::State as Fold;";
const RUN: &str = "pub mod state;";

/// The resolved form of every import in a file that stands beside `LIB` and `RUN`.
fn imports(path: &str, text: &str) -> Vec<String> {
    let files = [
        ("crates/core/src/lib.rs", LIB),
        ("crates/core/src/run/mod.rs", RUN),
        ("crates/core/src/run/state.rs", "pub struct State;"),
        (path, text),
    ];
    let sources: Vec<Source> = files.iter().map(|(path, text)| Source::parse(path, text).unwrap()).collect();
    let names = Names::of(&sources);
    let krate = &sources[3].place.krate;
    mentions::all(&sources[3])
        .iter()
        .filter(|mention| mention.kind != Kind::Path)
        .map(|mention| names.resolve(krate, mention).join("::"))
        .collect()
}

#[test]
fn relative_paths_become_absolute() {
    let text = "use crate::run::state;\nuse super::super::run::{self, state::State as S};\nuse self::inner::Thing;";
    let wanted = [
        "deputize_core::run::state",
        "deputize_core::run",
        "deputize_core::run::state::State",
        "deputize_core::view::deep::inner::Thing",
    ];
    assert_eq!(imports("crates/core/src/view/deep.rs", text), wanted);
}

#[test]
fn other_crates_stay_as_written() {
    let wanted = ["std::collections::BTreeMap", "std::fmt"];
    assert_eq!(imports("crates/core/src/view.rs", "use std::{collections::BTreeMap, fmt};"), wanted);
}

#[test]
fn a_re_export_does_not_hide_where_a_name_lives() {
    let wanted = ["deputize_core::run::state::State"];
    assert_eq!(imports("crates/core/src/view.rs", "use crate::Fold;"), wanted);
    assert_eq!(imports("crates/cli/src/main.rs", "use deputize_core::Fold as F;"), wanted);
}

#[test]
fn a_glob_is_the_module_it_opens() {
    assert_eq!(imports("crates/core/src/view.rs", "use super::*;"), ["deputize_core"]);
}

#[test]
fn circles_of_re_exports_end() {
    let text = "pub use self::b::X as X;\nmod b { pub use super::X; }\nuse self::X as Y;";
    assert_eq!(imports("crates/core/src/view.rs", text).len(), 3);
}
