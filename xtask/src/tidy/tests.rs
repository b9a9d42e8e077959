//! Snippets in, findings out: what the tests of the rules share. Also that all rules run together.

use super::finding::Finding;
use super::names::Names;
use super::rule::Rule;
use super::source::Source;

/// The lines on which a rule finds something in a file of this path and text.
pub(super) fn lines(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let found = findings(rule, &[(path, text)]);
    found.into_iter().map(|finding| finding.line).collect()
}

/// What a rule finds in some files that know of one another.
pub(super) fn findings(rule: Rule, files: &[(&str, &str)]) -> Vec<Finding> {
    let sources: Vec<Source> = files.iter().map(|(path, text)| Source::parse(path, text).unwrap()).collect();
    let names = Names::of(&sources);
    sources.iter().flat_map(|source| rule(source, &names)).collect()
}

#[test]
fn broken_rust_is_a_finding_with_its_line() {
    let Err(finding) = Source::parse("crates/core/src/a.rs", "//! One two three.\nfn f( {}\n") else {
        panic!("it parsed");
    };
    assert_eq!((finding.rule, finding.line), ("syntax", 2));
}

#[test]
fn a_finding_reads_as_file_line_rule_text() {
    let source = Source::parse("crates/core/src/a.rs", "fn f() {}").unwrap();
    let found = super::check(&[source]);
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    let wanted = "crates/core/src/a.rs:1: header: the first line must be `//!` and say what the file owns";
    assert_eq!(texts, [wanted]);
}
