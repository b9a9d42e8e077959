//! `cargo xtask verify`: everything that must hold before a change goes in, in order, stopping at the first failure.
//! The totals of the test run are the last line, whatever came before.

mod audit;
mod licence;
mod suite;
mod tally;

use crate::docs;
use crate::fault::{Fault, Result};
use crate::say;
use crate::shop::Shop;
use crate::tidy;
use std::time::{Duration, Instant};
use tally::Tally;

/// One step: its name and what it does; whether all is well.
struct Step {
    name: &'static str,
    perform: fn(&Shop, &mut Option<Tally>) -> Result<bool>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", perform: |shop, _| cargo(shop, &["fmt", "--all", "--check"]) },
    Step {
        name: "clippy",
        perform: |shop, _| {
            let words = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
            cargo(shop, &words)
        },
    },
    Step {
        name: "test",
        perform: |shop, tally| {
            let (counted, good) = suite::run(shop)?;
            *tally = Some(counted);
            Ok(good)
        },
    },
    Step { name: "tidy", perform: |shop, _| tidy::run(shop) },
    Step { name: "docs", perform: |shop, _| docs::check(shop) },
    Step { name: "dependencies", perform: |shop, _| audit::run(shop) },
    Step { name: "deny", perform: |shop, _| deny(shop) },
];

/// Performs the steps; whether all of them went well.
pub(crate) fn run(shop: &Shop) -> Result<bool> {
    let mut tally = None;
    let mut times = Vec::new();
    let mut failed = None;
    for step in STEPS {
        say::line(format_args!("== {}", step.name));
        let start = Instant::now();
        let good = (step.perform)(shop, &mut tally).unwrap_or_else(|fault| {
            say::line(fault);
            false
        });
        times.push((step.name, start.elapsed(), good));
        if !good {
            failed = Some(step.name);
            break;
        }
    }
    summary(&times, failed, tally);
    Ok(failed.is_none())
}

fn summary(times: &[(&str, Duration, bool)], failed: Option<&str>, tally: Option<Tally>) {
    say::line("== summary");
    for (name, time, good) in times {
        let word = if *good { "ok" } else { "FAILED" };
        say::line(format_args!("{name:<14}{word:<8}{:>7.1} s", time.as_secs_f64()));
    }
    match failed {
        Some(name) => say::line(format_args!("verify: stopped, `{name}` failed")),
        None => say::line("verify: all is well"),
    }
    if let Some(tally) = tally {
        say::line(tally);
    }
}

fn cargo(shop: &Shop, words: &[&str]) -> Result<bool> {
    let status = shop.cargo(words).status().map_err(|cause| Fault::new(format!("cargo does not start: {cause}")))?;
    Ok(status.success())
}

/// The audit step has judged licences, bans and sources already; this asks a second judge where there is one.
fn deny(shop: &Shop) -> Result<bool> {
    let installed = shop.cargo(&["deny", "--version"]).output().is_ok_and(|output| output.status.success());
    if !installed {
        say::line("cargo-deny is not installed; the dependencies step has judged without it");
        return Ok(true);
    }
    cargo(shop, &["deny", "--locked", "check", "bans", "licenses", "sources"])
}
