//! That the list of rules is whole: each file of a rule over files is in it.

use super::ALL;

#[test]
fn every_rule_is_in_the_list() {
    let listed = include_str!("mod.rs");
    let rules = listed.lines().filter(|line| line.contains("::check,")).count();
    assert_eq!(rules, ALL.len());
    // `dependencies` works on metadata, `tests` is this file.
    let modules = listed.lines().filter(|line| line.starts_with("mod ") || line.starts_with("pub(crate) mod ")).count();
    assert_eq!(modules - 2, ALL.len());
}
