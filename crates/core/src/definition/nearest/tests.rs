//! Tests of the search for the nearest word.

use super::nearest;

#[test]
fn slips_are_found_and_strangers_are_not() {
    let known = ["grep", "glob", "read_file", "write_file", "budget", "base_url"];
    let table = [
        ("grpe", Some("grep")),
        ("Gerp", Some("grep")),
        ("gre", Some("grep")),
        ("greps", Some("grep")),
        ("readfile", Some("read_file")),
        ("base_ulr", Some("base_url")),
        ("bugdet", Some("budget")),
        ("zebra", None),
        ("", None),
        ("x", None),
    ];
    for (word, expected) in table {
        assert_eq!(nearest(word, known), expected, "{word}");
    }
}
