//! Licence expressions that a list satisfies and that it does not.

use super::is_met;

#[track_caller]
fn check(expression: &str, wanted: bool) {
    let accepted = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    assert_eq!(is_met(expression, &accepted), wanted, "{expression}");
}

#[test]
fn one_of_several_is_enough() {
    check("MIT", true);
    check("MIT OR GPL-3.0", true);
    check("GPL-3.0/MIT", true);
    check("GPL-3.0", false);
}

#[test]
fn all_of_several_are_needed() {
    check("MIT AND ISC", true);
    check("MIT AND GPL-3.0", false);
    check("(MIT OR GPL-3.0) AND ISC", true);
    check("MIT OR GPL-3.0 AND LGPL-2.1", true);
    check("(MIT OR GPL-3.0) AND LGPL-2.1", false);
}

#[test]
fn exceptions_are_part_of_the_name() {
    check("Apache-2.0 WITH LLVM-exception OR GPL-3.0", true);
    check("Apache-2.0", false);
}

#[test]
fn what_cannot_be_read_is_not_met() {
    for text in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC"] {
        check(text, false);
    }
}
