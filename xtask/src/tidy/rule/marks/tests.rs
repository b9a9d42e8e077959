//! Marks of unfinished work. The words are put together here, so that this file passes its own rule.

use super::super::super::tests::lines;
use super::{WORDS, check};

const PATH: &str = "crates/core/src/a.rs";

#[test]
fn the_words_are_found_anywhere() {
    for word in WORDS {
        assert_eq!(lines(check, PATH, &format!("fn f() {{}}\n// {word}: later")), [2]);
        assert_eq!(lines(check, PATH, &format!("const A: &str = \"{word}\";")), [1]);
    }
}

#[test]
fn other_words_that_contain_them_are_fine() {
    assert!(lines(check, PATH, "fn write_todos() {}\n// A todo list; XXXL; METODO.").is_empty());
}

#[test]
fn the_macros_are_found_inside_macros_too() {
    assert_eq!(lines(check, PATH, "fn f() { dbg!(1); }\nfn g() { todo!() }"), [1, 2]);
    assert_eq!(lines(check, PATH, "fn f() {\nassert!({ unimplemented!() }); }"), [2]);
    assert!(lines(check, PATH, "fn f() { let todo = !true; }").is_empty());
}
