//! Exceptions: what they cover, and when they are wrong themselves.

use super::super::finding::Finding;
use super::Settings;

const FILE: &str = "crates/core/src/event/kind.rs";

fn long(lines: usize) -> Finding {
    Finding {
        file: FILE.to_owned(),
        line: 7,
        rule: "function-length",
        item: "Event::name".to_owned(),
        measure: Some(lines),
        text: "too long".to_owned(),
    }
}

/// An exception for the function of `long`.
fn exception(limit: &str, reason: &str) -> Settings {
    let text = format!(
        "core.dependencies = []\n[[exception]]\nfile = \"{FILE}\"\nitem = \"Event::name\"\n\
         rule = \"function-length\"\n{limit}\nreason = \"{reason}\"\n"
    );
    Settings::parse(&text).unwrap()
}

/// The findings that are left, as rule and whether they are about the exception itself; and the exceptions in use.
fn judge(settings: &Settings, findings: Vec<Finding>) -> (Vec<&'static str>, usize) {
    let verdict = settings.judge(findings);
    (verdict.findings.iter().map(|finding| finding.rule).collect(), verdict.used)
}

#[test]
fn an_exception_covers_up_to_its_limit() {
    let settings = exception("limit = 100", "one exhaustive match");
    assert_eq!(judge(&settings, vec![long(100)]), (vec![], 1));
    let over = judge(&settings, vec![long(101)]);
    assert_eq!(over, (vec!["function-length", "exceptions"], 0));
}

#[test]
fn an_unused_exception_is_an_error() {
    let settings = exception("limit = 100", "one exhaustive match");
    assert_eq!(judge(&settings, vec![]), (vec!["exceptions"], 0));
}

#[test]
fn no_exception_without_limit_reason_or_within_the_hard_limit() {
    let reason = "one exhaustive match";
    for settings in [exception("", reason), exception("limit = 151", reason), exception("limit = 100", "because")] {
        let (left, used) = judge(&settings, vec![long(90)]);
        assert_eq!((left.len(), used), (2, 0));
    }
}

#[test]
fn a_rule_without_limit_takes_an_exception_for_a_named_item() {
    let mut finding = long(0);
    finding.rule = "marks";
    finding.measure = None;
    let text = format!(
        "core.dependencies = []\n[[exception]]\nfile = \"{FILE}\"\nitem = \"Event::name\"\nrule = \"marks\"\n\
         reason = \"a word of the format\"\n"
    );
    assert_eq!(judge(&Settings::parse(&text).unwrap(), vec![finding]), (vec![], 1));
}

#[test]
fn unknown_keys_are_refused() {
    assert!(Settings::parse("core.dependencies = []\nexceptions = []").is_err());
}
