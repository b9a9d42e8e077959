//! Runs all tests, shows their output as it comes and counts them.
//!
//! A test that cannot run here appends one line `name: why` to the file that `DEPUTIZE_SKIPS` names and returns. With
//! `DEPUTIZE_REQUIRE=all` a skipped test is a failure.

use super::tally::Tally;
use crate::fault::{Fault, Result};
use crate::say;
use crate::shop::Shop;
use std::fs;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::Path;
use std::process::{ChildStdout, Stdio};

const SKIPS: &str = "DEPUTIZE_SKIPS";
const REQUIRE: &str = "DEPUTIZE_REQUIRE";

/// The counts, and whether the run is good.
pub(crate) fn run(shop: &Shop) -> Result<(Tally, bool)> {
    let folder = shop.root.join("target");
    fs::create_dir_all(&folder).map_err(|cause| Fault::at(&folder, cause))?;
    let skips = folder.join(format!("skips-{}.txt", std::process::id()));
    forget(&skips)?;
    let mut child = shop
        .cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])
        .env(SKIPS, &skips)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| Fault::new(format!("cargo test does not start: {cause}")))?;
    let mut tally = match child.stdout.take() {
        Some(output) => follow(output)?,
        None => Tally::default(),
    };
    let ended = child.wait().map_err(|cause| Fault::new(format!("cargo test: {cause}")))?;
    if !ended.success() && tally.failed == 0 {
        // A test program that did not build or that died prints no result line.
        tally.failed = 1;
    }
    let reasons = reasons(&skips)?;
    forget(&skips)?;
    for reason in &reasons {
        say::line(format_args!("SKIPPED: {reason}"));
    }
    tally.skip(u64::try_from(reasons.len()).unwrap_or(u64::MAX));
    let everything = std::env::var_os(REQUIRE).is_some_and(|value| value == "all");
    if everything && tally.skipped > 0 {
        say::line(format_args!("{REQUIRE}=all: {} skipped tests are failures", tally.skipped));
    }
    let good = ended.success() && tally.failed == 0 && !(everything && tally.skipped > 0);
    Ok((tally, good))
}

fn follow(output: ChildStdout) -> Result<Tally> {
    let mut tally = Tally::default();
    for line in BufReader::new(output).split(b'\n') {
        let bytes = line.map_err(|cause| Fault::new(format!("cargo test: {cause}")))?;
        let line = String::from_utf8_lossy(&bytes);
        let line = line.trim_end_matches('\r');
        say::line(line);
        tally.add_line(line);
    }
    Ok(tally)
}

fn reasons(path: &Path) -> Result<Vec<String>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(cause) => return Err(Fault::at(path, cause)),
    };
    let lines = text.lines().map(|line| line.trim().trim_start_matches("SKIPPED:").trim());
    Ok(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

fn forget(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != ErrorKind::NotFound => Err(Fault::at(path, cause)),
        _ => Ok(()),
    }
}
