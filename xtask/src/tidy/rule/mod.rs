//! The list of rules. A new rule is a file here, an entry in `ALL`, and a test that shows it fail.

pub(crate) mod architecture;
pub(crate) mod attributes;
pub(crate) mod dependencies;
mod file_length;
mod foreign_paths;
mod function_length;
mod header;
mod ignored;
mod inline_tests;
mod marks;
mod nesting;
mod no_async;
mod siblings;
mod sleeps;

use super::finding::Finding;
use super::names::Names;
use super::source::Source;

/// A rule over one file, with the names of all files at hand.
pub(crate) type Rule = fn(&Source, &Names) -> Vec<Finding>;

/// Every rule over one file.
pub(crate) const ALL: &[Rule] = &[
    header::check,
    file_length::check,
    function_length::check,
    nesting::check,
    inline_tests::check,
    ignored::check,
    sleeps::check,
    attributes::check,
    marks::check,
    foreign_paths::check,
    architecture::check,
    siblings::check,
    no_async::check,
];

/// The limits that `tidy.toml` may raise for a named item, and how far.
pub(crate) const LIMITS: &[(&str, usize)] = &[
    (function_length::RULE, function_length::HARD_LIMIT),
    (file_length::RULE, file_length::HARD_LIMIT),
    (nesting::RULE, nesting::HARD_LIMIT),
];

pub(crate) use foreign_paths::check_text as foreign_path_in_text;

#[cfg(test)]
mod tests;
