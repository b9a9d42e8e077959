//! `cargo xtask docs`: reference pages from the code's own lists, and the coverage of `docs/requirements.md` by tests.

mod coverage;
mod reference;

use crate::fault::{Fault, Result};
use crate::say;
use crate::shop::Shop;
use crate::tidy::place::Place;
use coverage::Coverage;
use std::fs;

const REQUIREMENTS: &str = "docs/requirements.md";

/// Writes the reference pages and marks the requirements that tests name.
pub(crate) fn write(shop: &Shop) -> Result<bool> {
    reference::write(shop)?;
    let before = shop.read(REQUIREMENTS)?;
    let coverage = coverage(shop, &before)?;
    let after = coverage.marked(&before);
    if after != before {
        let path = shop.root.join(REQUIREMENTS);
        fs::write(&path, after).map_err(|cause| Fault::at(&path, cause))?;
        say::line(format_args!("docs: wrote {REQUIREMENTS}"));
    }
    Ok(report(&coverage))
}

/// Says what is out of date; whether nothing is.
pub(crate) fn check(shop: &Shop) -> Result<bool> {
    let current = reference::check(shop)?;
    let coverage = coverage(shop, &shop.read(REQUIREMENTS)?)?;
    Ok(report(&coverage) && current)
}

fn report(coverage: &Coverage) -> bool {
    for error in &coverage.errors {
        say::line(error);
    }
    let unmarked = coverage.unmarked();
    if !unmarked.is_empty() {
        let ids = unmarked.join(" ");
        say::line(format_args!("docs: named by tests, not yet marked (`cargo xtask docs` marks them): {ids}"));
    }
    say::line(coverage.summary());
    coverage.errors.is_empty()
}

fn coverage(shop: &Shop, requirements: &str) -> Result<Coverage> {
    let mut coverage = Coverage::of(REQUIREMENTS, requirements);
    for path in shop.files(&["rs"])? {
        let place = Place::of(&path);
        // The chores' own tests hold examples of the comments, not claims.
        if place.krate != "xtask" {
            let holds_tests = place.test || place.krate == "deputize_testkit";
            coverage.read(&path, &shop.read(&path)?, holds_tests);
        }
    }
    coverage.finish();
    Ok(coverage)
}
