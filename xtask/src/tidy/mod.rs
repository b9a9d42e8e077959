//! `cargo xtask tidy`: the size, shape and architecture rules that the compiler and clippy do not know.

mod finding;
mod functions;
mod mentions;
mod names;
pub(crate) mod place;
mod rule;
mod settings;
mod source;
mod tokens;

use crate::fault::Result;
use crate::say;
use crate::shop::Shop;
use finding::Finding;
use names::Names;
use settings::Settings;
use source::Source;

/// Files that are no Rust but must not point outside the repository either.
const OTHER_TEXTS: &[&str] = &["toml", "md", "yaml", "yml", "json", "sh"];

/// Checks the whole repository and prints what is wrong; whether nothing is.
pub(crate) fn run(shop: &Shop) -> Result<bool> {
    let settings = Settings::parse(&shop.read(settings::FILE)?)?;
    let (sources, mut findings) = sources(shop)?;
    findings.extend(check(&sources));
    for path in shop.files(OTHER_TEXTS)? {
        findings.extend(rule::foreign_path_in_text(&path, &shop.read(&path)?));
    }
    let metadata = shop.metadata(&["--no-deps"])?;
    findings.extend(rule::dependencies::check(&metadata, &settings.core.dependencies));

    let verdict = settings.judge(findings);
    for finding in &verdict.findings {
        say::line(finding);
    }
    let functions: usize = sources.iter().map(|source| functions::all(source).len()).sum();
    say::line(format_args!(
        "tidy: {} files, {functions} functions, {} exceptions in use, {} findings",
        sources.len(),
        verdict.used,
        verdict.findings.len()
    ));
    Ok(verdict.findings.is_empty())
}

/// Every rule over every file.
fn check(sources: &[Source]) -> Vec<Finding> {
    let names = Names::of(sources);
    let mut found = Vec::new();
    for source in sources {
        for rule in rule::ALL {
            found.extend(rule(source, &names));
        }
    }
    found
}

fn sources(shop: &Shop) -> Result<(Vec<Source>, Vec<Finding>)> {
    let mut sources = Vec::new();
    let mut broken = Vec::new();
    for path in shop.files(&["rs"])? {
        match Source::parse(&path, &shop.read(&path)?) {
            Ok(source) => sources.push(source),
            Err(finding) => broken.push(finding),
        }
    }
    Ok((sources, broken))
}

#[cfg(test)]
mod tests;
