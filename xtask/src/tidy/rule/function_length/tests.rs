//! Functions around the limit, in all the places where functions stand.

use super::super::super::tests::findings;
use super::check;

/// The names of the functions that are too long.
fn long(text: &str) -> Vec<String> {
    let found = findings(check, &[("crates/core/src/a.rs", text)]);
    found.into_iter().map(|finding| finding.item).collect()
}

/// A function of so many lines, signature and closing brace included.
fn function(name: &str, lines: usize) -> String {
    format!("fn {name}() {{\n{}}}\n", "    step();\n".repeat(lines - 2))
}

#[test]
fn seventy_lines_pass_and_one_more_does_not() {
    assert!(long(&function("f", 70)).is_empty());
    assert_eq!(long(&function("f", 71)), ["f"]);
}

#[test]
fn attributes_and_documentation_do_not_count() {
    let text = format!("/// One.\n/// Two.\n#[must_use]\n{}", function("f", 70));
    assert!(long(&text).is_empty());
}

#[test]
fn methods_carry_the_name_of_their_type() {
    let body = function("f", 71);
    let text = format!("impl<T> Run<T> {{\n{body}}}\nimpl Step for Run {{\n{body}}}\ntrait Port {{\n{body}}}");
    assert_eq!(long(&text), ["Run::f", "Run::f", "Port::f"]);
}

#[test]
fn functions_inside_modules_and_functions_are_seen() {
    let inner = function("g", 71);
    let text = format!("mod m {{\n{inner}}}\nfn outer() {{\n{inner}}}");
    assert_eq!(long(&text), ["g", "outer", "g"]);
}
