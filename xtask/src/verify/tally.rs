//! Counts tests: the result lines of the test harness and the tests that said they skipped themselves.

use std::fmt;

/// How many tests went how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Ran and held.
    pub(crate) passed: u64,
    /// Ran and did not hold.
    pub(crate) failed: u64,
    /// Did not run, or ended early because something was missing.
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds one line of the harness if it is a result line, such as
    /// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    pub(crate) fn add_line(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else {
            return;
        };
        for part in rest.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let count = words.next().and_then(|word| word.parse::<u64>().ok());
            match (count, words.next()) {
                (Some(count), Some("passed")) => self.passed += count,
                (Some(count), Some("failed")) => self.failed += count,
                (Some(count), Some("ignored")) => self.skipped += count,
                _ => {}
            }
        }
    }

    /// Moves tests that skipped themselves: the harness counts them as passed.
    pub(crate) fn skip(&mut self, count: u64) {
        self.passed = self.passed.saturating_sub(count);
        self.skipped += count;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { passed, failed, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

#[cfg(test)]
mod tests;
