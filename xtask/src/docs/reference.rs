//! The pages under `docs/reference`: what the binary says about itself, written down or compared.

use crate::fault::{Fault, Result};
use crate::say;
use crate::shop::Shop;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::{Component, Path};
use std::process::{Command, Stdio};

const FOLDER: &str = "docs/reference";
/// Endings of what is made.
const MADE: [&str; 2] = ["md", "json"];
const BINARY: &str = "deputize";
/// The hidden subcommand that prints all pages as one JSON document.
const SUBCOMMAND: &str = "__reference";
/// What an argument parser exits with when it does not know a subcommand.
const UNKNOWN: i32 = 2;

#[derive(Debug, Deserialize)]
struct Document {
    files: Vec<Page>,
}

/// One page.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Page {
    path: String,
    text: String,
}

/// Writes every page and removes those that are no longer made.
pub(crate) fn write(shop: &Shop) -> Result<()> {
    let pages = pages(shop)?;
    for page in &pages {
        let path = shop.root.join(&page.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|cause| Fault::at(folder, cause))?;
        }
        fs::write(&path, &page.text).map_err(|cause| Fault::at(&path, cause))?;
    }
    for stale in stale(shop, &pages)? {
        let path = shop.root.join(stale);
        fs::remove_file(&path).map_err(|cause| Fault::at(&path, cause))?;
    }
    say::line(format_args!("docs: {} reference pages", pages.len()));
    Ok(())
}

/// Says which pages differ from what the binary says now; whether none does.
pub(crate) fn check(shop: &Shop) -> Result<bool> {
    let pages = pages(shop)?;
    let mut good = true;
    for page in &pages {
        let now = shop.read(&page.path).unwrap_or_default();
        if now != page.text {
            good = false;
            say::line(format_args!("{}:1: docs: out of date, run `cargo xtask docs`", page.path));
        }
    }
    for path in stale(shop, &pages)? {
        good = false;
        say::line(format_args!("{path}:1: docs: no longer made, run `cargo xtask docs`"));
    }
    say::line(format_args!("docs: {} reference pages compared", pages.len()));
    Ok(good)
}

fn stale(shop: &Shop, pages: &[Page]) -> Result<Vec<String>> {
    let mut there = shop.files(&MADE)?;
    there.retain(|path| {
        path.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/'))
            && !pages.iter().any(|page| page.path == *path)
    });
    Ok(there)
}

fn pages(shop: &Shop) -> Result<Vec<Page>> {
    let output = Command::new(binary(shop)?)
        .arg(SUBCOMMAND)
        .current_dir(&shop.root)
        .output()
        .map_err(|cause| Fault::new(format!("the binary does not start: {cause}")))?;
    let silent = output.status.success() && output.stdout.is_empty();
    if silent || output.status.code() == Some(UNKNOWN) {
        say::line(format_args!("docs: the binary has no `{SUBCOMMAND}` yet, nothing is generated"));
        return Ok(Vec::new());
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Fault::new(format!("{SUBCOMMAND}: {}", said.trim())));
    }
    read(&output.stdout)
}

/// Builds the binary beside the tests: the same features as in the test step, so nothing is compiled twice.
fn binary(shop: &Shop) -> Result<String> {
    let targets = ["build", "--quiet", "--locked", "--workspace", "--bins", "--tests"];
    let format = ["--message-format", "json-render-diagnostics"];
    let output = shop
        .cargo(&[&targets[..], &format[..]].concat())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|cause| Fault::new(format!("cargo build does not start: {cause}")))?;
    if !output.status.success() {
        return Err(Fault::new("the binary does not build"));
    }
    let built = String::from_utf8_lossy(&output.stdout);
    built
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| executable(&message))
        .ok_or_else(|| Fault::new("cargo build names no binary"))
}

/// The path in cargo's message about the binary itself; its unit tests have one too.
fn executable(message: &Value) -> Option<String> {
    let named = message.pointer("/target/name")? == BINARY && message.pointer("/target/kind/0")? == "bin";
    let tests = message.pointer("/profile/test")? == true;
    let path = message.get("executable")?.as_str()?;
    (named && !tests).then(|| path.to_owned())
}

fn read(json: &[u8]) -> Result<Vec<Page>> {
    let document: Document = serde_json::from_slice(json)
        .map_err(|cause| Fault::new(format!("{SUBCOMMAND} prints no document: {cause}")))?;
    match document.files.iter().find(|page| !is_ours(&page.path)) {
        Some(page) => Err(Fault::new(format!("`{}` is no page under {FOLDER}", page.path))),
        None => Ok(document.files),
    }
}

/// A page or a schema below the folder, named without detours.
fn is_ours(path: &str) -> bool {
    let path = Path::new(path);
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    let made = path.extension().is_some_and(|extension| MADE.iter().any(|made| extension == *made));
    plain && made && path.starts_with(FOLDER)
}

#[cfg(test)]
mod tests;
