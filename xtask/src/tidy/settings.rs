//! `tidy.toml`: the named exceptions to the rules and the core's list of dependencies.

use super::finding::Finding;
use super::rule;
use crate::fault::{Fault, Result};
use serde::Deserialize;

/// The file's name.
pub(crate) const FILE: &str = "tidy.toml";

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// What the core may use.
    pub(crate) core: Core,
    /// Named exceptions.
    #[serde(default, rename = "exception")]
    pub(crate) exceptions: Vec<Exception>,
}

/// What the core may use.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Core {
    /// Exactly the packages in its manifest.
    pub(crate) dependencies: Vec<String>,
}

/// One thing that may break one rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exception {
    /// Path from the root.
    pub(crate) file: String,
    /// The function, path or word of the finding; empty for the whole file.
    #[serde(default)]
    pub(crate) item: String,
    /// The rule's name.
    pub(crate) rule: String,
    /// For rules with a limit: this item's own.
    pub(crate) limit: Option<usize>,
    /// Why the code is better this way.
    pub(crate) reason: String,
}

/// What is left after the exceptions.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Findings that no exception covers, and exceptions that are wrong.
    pub(crate) findings: Vec<Finding>,
    /// Exceptions that covered something.
    pub(crate) used: usize,
}

impl Settings {
    /// Reads the text of the file.
    pub(crate) fn parse(text: &str) -> Result<Settings> {
        toml::from_str(text).map_err(|cause| Fault::new(format!("{FILE}: {cause}")))
    }

    /// Takes out the findings that exceptions cover and adds one for each exception that is unused or goes too far.
    pub(crate) fn judge(&self, findings: Vec<Finding>) -> Verdict {
        let mut verdict = Verdict::default();
        for exception in &self.exceptions {
            if let Some(text) = exception.fault() {
                verdict.findings.push(exception.finding(text));
            } else if findings.iter().any(|finding| exception.covers(finding)) {
                verdict.used += 1;
            } else {
                let text = "nothing needs this exception any more: remove it".to_owned();
                verdict.findings.push(exception.finding(text));
            }
        }
        let left =
            findings.into_iter().filter(|finding| !self.exceptions.iter().any(|exception| exception.covers(finding)));
        verdict.findings.extend(left);
        verdict.findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        verdict
    }
}

impl Exception {
    fn covers(&self, finding: &Finding) -> bool {
        let named = self.file == finding.file && self.item == finding.item && self.rule == finding.rule;
        let within = match (finding.measure, self.limit) {
            (Some(measure), Some(limit)) => measure <= limit,
            (None, _) => true,
            (Some(_), None) => false,
        };
        named && within && self.fault().is_none()
    }

    fn fault(&self) -> Option<String> {
        if self.reason.split_whitespace().count() < 3 {
            return Some("an exception needs a reason in words".to_owned());
        }
        let hard = rule::LIMITS.iter().find(|(rule, _)| *rule == self.rule)?.1;
        match self.limit {
            None => Some(format!("an exception to {} needs a `limit`", self.rule)),
            Some(limit) if limit > hard => Some(format!("the limit is {limit}, at most {hard}")),
            Some(_) => None,
        }
    }

    fn finding(&self, text: String) -> Finding {
        let named = format!("{} `{}` {}", self.file, self.item, self.rule);
        Finding {
            file: FILE.to_owned(),
            line: 1,
            rule: "exceptions",
            item: self.item.clone(),
            measure: None,
            text: format!("{named}: {text}"),
        }
    }
}

#[cfg(test)]
mod tests;
