//! Families of adapters that look at one another.

use super::super::super::tests::findings;
use super::check;

/// What the rule says of a file beside two families and a re-export.
fn items(path: &str, text: &str) -> Vec<String> {
    let files = [
        ("crates/adapters/src/lib.rs", "pub mod store;\npub mod tool;\nmod http;\npub use store::Sqlite;"),
        ("crates/adapters/src/store/mod.rs", "pub struct Sqlite;"),
        ("crates/adapters/src/http.rs", "pub fn get() {}"),
        (path, text),
    ];
    let found = findings(check, &files);
    found.into_iter().map(|finding| finding.item).collect()
}

#[test]
fn a_family_does_not_name_another() {
    let path = "crates/adapters/src/tool/search.rs";
    assert_eq!(items(path, "use crate::store::Sqlite;"), ["deputize_adapters::store::Sqlite"]);
    assert_eq!(items(path, "use crate::Sqlite;"), ["deputize_adapters::store::Sqlite"]);
    assert_eq!(items(path, "fn f() { super::super::loader::read(); }"), ["deputize_adapters::loader::read"]);
}

#[test]
fn it_may_name_itself_and_what_is_common() {
    let path = "crates/adapters/src/tool/search.rs";
    assert!(items(path, "use super::Registry;\nuse crate::tool::fs;\nuse crate::http::get;").is_empty());
}

#[test]
fn tests_and_common_modules_are_free() {
    assert!(items("crates/adapters/src/tool/tests.rs", "use crate::store::Sqlite;").is_empty());
    assert!(items("crates/adapters/src/wiring.rs", "use crate::store::Sqlite;").is_empty());
}
