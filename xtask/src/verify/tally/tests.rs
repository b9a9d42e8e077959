//! Lines of the test harness and what they add up to.

use super::Tally;

#[test]
fn result_lines_add_up_and_other_lines_do_not() {
    let mut tally = Tally::default();
    for line in [
        "running 4 tests",
        "test a::b ... ok",
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        "test result: FAILED. 10 passed; 2 failed; 0 ignored; 0 measured; 7 filtered out; finished in 1.25s",
        " test result: ok. 9 passed; 0 failed",
    ] {
        tally.add_line(line);
    }
    assert_eq!(tally.to_string(), "13 passed, 2 failed, 1 skipped");
}

#[test]
fn a_test_that_skips_itself_did_not_pass() {
    let mut tally = Tally { passed: 5, failed: 0, skipped: 1 };
    tally.skip(2);
    assert_eq!(tally.to_string(), "3 passed, 0 failed, 3 skipped");
}
