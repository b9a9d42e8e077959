//! Readers of single values: texts, numbers, durations, one of several words.

use super::amount::{self, Bad};
use super::{Decoder, Field};
use crate::definition::nearest::nearest;
use crate::definition::node::{Kind, Node};
use crate::definition::spec::At;

impl Decoder {
    /// A scalar's text, whatever it looks like: `no` and `12` are texts here.
    pub(super) fn text(&mut self, field: &Field<'_>) -> Option<At<String>> {
        match &field.node.kind {
            Kind::Scalar { text, .. } => Some(At { value: text.clone(), at: field.node.at }),
            _ => {
                self.expected(field, "a text");
                None
            }
        }
    }

    /// A text that is not blank.
    pub(super) fn words(&mut self, field: &Field<'_>) -> Option<At<String>> {
        let text = self.text(field)?;
        if text.value.trim().is_empty() {
            self.error("key.value", field.at(), format!("`{}` is blank", field.path));
            return None;
        }
        Some(text)
    }

    /// `true` or `false`, not in quotes.
    pub(super) fn flag(&mut self, field: &Field<'_>) -> Option<bool> {
        match plain(field.node) {
            Some("true" | "True" | "TRUE") => Some(true),
            Some("false" | "False" | "FALSE") => Some(false),
            _ => {
                self.expected(field, "`true` or `false`");
                None
            }
        }
    }

    /// One of several words.
    pub(super) fn one_of<T: Copy>(&mut self, field: &Field<'_>, words: &[(&str, T)]) -> Option<T> {
        let Kind::Scalar { text, .. } = &field.node.kind else {
            self.expected(field, &alternatives(words));
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| word == text) {
            return Some(*value);
        }
        let near = nearest(text, words.iter().map(|(w, _)| *w));
        let guess = near.map(|n| format!("; did you mean `{n}`?")).unwrap_or_default();
        self.expected(field, &format!("{}{guess}", alternatives(words)));
        None
    }

    /// A count above 0.
    pub(super) fn count(&mut self, field: &Field<'_>) -> Option<u64> {
        self.amount(field, amount::count, "a count such as `500`, `200k` or `2M`", "key.value")
    }

    /// A duration above 0, in milliseconds.
    pub(super) fn duration(&mut self, field: &Field<'_>) -> Option<u64> {
        self.amount(field, amount::duration, "a duration such as `90s`, `15m` or `1h30m`", "key.value")
    }

    /// A whole number above 0.
    pub(super) fn whole(&mut self, field: &Field<'_>) -> Option<u32> {
        self.amount(field, amount::whole, "a whole number above 0", "key.value")
    }

    /// An amount. `code` is for one that has the right form and is not positive.
    pub(super) fn amount<T>(
        &mut self,
        field: &Field<'_>,
        read: fn(&str) -> Result<T, Bad>,
        what: &str,
        code: &str,
    ) -> Option<T> {
        let result = match &field.node.kind {
            Kind::Scalar { text, .. } => read(text),
            // An empty value asks for "no limit" as a word for it would.
            Kind::Null => Err(Bad::NotPositive),
            Kind::List(_) | Kind::Map(_) | Kind::Unreadable => Err(Bad::Form),
        };
        match result {
            Ok(value) => return Some(value),
            Err(Bad::Form) => self.expected(field, what),
            Err(Bad::NotPositive) => {
                let text = format!("`{}` must be above 0 and have an end: {what}", field.path);
                self.error(code, field.at(), text);
            }
            Err(Bad::TooBig) => {
                self.error("key.value", field.at(), format!("`{}` is too big to be counted", field.path));
            }
        }
        None
    }
}

fn alternatives<T>(words: &[(&str, T)]) -> String {
    let words: Vec<String> = words.iter().map(|(w, _)| format!("`{w}`")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

/// The text of a scalar that is not in quotes.
pub(super) fn plain(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::Scalar { text, quoted: false } => Some(text),
        _ => None,
    }
}
