//! Requirements, claims of tests, and what follows.

use super::Coverage;

const FILE: &str = "docs/requirements.md";
const LIST: &str = "# Requirements\n\n- [x] E-11: a brief has an objective\n- [ ] L-30: likewise\n- [ ] U-01: re-run\n";

/// The coverage of `LIST` by one file.
fn of(text: &str, holds_tests: bool) -> Coverage {
    let mut coverage = Coverage::of(FILE, LIST);
    coverage.read("a/tests.rs", text, holds_tests);
    coverage.finish();
    coverage
}

#[test]
fn comments_and_names_of_tests_count() {
    let coverage = of("    // covers E-11, L-30\nfn a() {}\nfn u_01_one_child() {}", true);
    assert_eq!(coverage.errors, [""; 0]);
    assert_eq!(coverage.unmarked(), ["L-30", "U-01"]);
    assert_eq!(coverage.summary(), "docs: tests name 3 of 3 requirements (E 1/1, L 1/1, U 1/1)");
}

#[test]
fn a_marked_requirement_without_a_test_is_an_error() {
    let coverage = of("// covers L-30", true);
    assert_eq!(coverage.errors, ["docs/requirements.md:3: covers: E-11 is marked as covered, but no test names it"]);
}

#[test]
fn an_unknown_id_is_an_error() {
    let coverage = of("\n/// covers E-11 E-99, everything", true);
    let wanted = [
        "a/tests.rs:2: covers: E-99 is not in docs/requirements.md",
        "a/tests.rs:2: covers: `everything` is no id: write `// covers E-11, L-30`",
    ];
    assert_eq!(coverage.errors, wanted);
}

#[test]
fn code_that_is_no_test_covers_nothing() {
    let coverage = of("// covers E-11\nfn l_30() {}", false);
    assert_eq!(coverage.errors.len(), 2);
    assert!(coverage.unmarked().is_empty());
}

#[test]
fn an_id_stands_once() {
    let coverage = Coverage::of(FILE, "- [ ] E-01: a\n- [ ] E-01: b\n");
    assert_eq!(coverage.errors, ["docs/requirements.md:2: covers: E-01 is there twice"]);
}

#[test]
fn boxes_are_checked_for_what_tests_name_and_never_unchecked() {
    let marked = of("// covers L-30", true).marked(LIST);
    assert_eq!(marked, LIST.replace("- [ ] L-30", "- [x] L-30"));
}
