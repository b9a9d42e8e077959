//! Success conditions, brief defaults and output schemas of an agent file.

use super::{Decoder, Field, Fields};
use crate::brief::{Predicate, Success, Test};
use crate::definition::BriefDefaults;
use crate::definition::node::Kind;
use crate::definition::spec::At;
use crate::schema;
use serde_json::Value;

/// An output schema in the file, or where it is.
pub(super) enum Output {
    Inline(Value),
    Path(At<String>),
}

impl Decoder {
    pub(super) fn brief(&mut self, field: &Field<'_>) -> BriefDefaults {
        let mut fields = self.fields(field, "brief");
        let mut text = |d: &mut Decoder, key| {
            let field = fields.take(d, key)?;
            Some(d.words(&field)?.value)
        };
        BriefDefaults {
            output_format: text(self, "output_format"),
            guidance: text(self, "guidance"),
            boundaries: text(self, "boundaries"),
        }
    }

    /// The schema of a result: inline, or the path of a `.json` file.
    pub(super) fn output(&mut self, field: &Field<'_>) -> Option<Output> {
        match &field.node.kind {
            Kind::Scalar { .. } => {
                let path = self.words(field)?;
                if !path.value.ends_with(".json") {
                    self.expected(field, "a JSON Schema or the path of a `.json` file");
                    return None;
                }
                Some(Output::Path(path))
            }
            Kind::Map(_) => {
                let value = self.json(field)?;
                match object_schema(&value) {
                    Ok(()) => return Some(Output::Inline(value)),
                    Err(why) => self.error("output.schema", field.at(), format!("`{}`: {why}", field.path)),
                }
                None
            }
            Kind::Null | Kind::Unreadable | Kind::List(_) => {
                self.expected(field, "a JSON Schema or the path of a `.json` file");
                None
            }
        }
    }

    pub(super) fn success(&mut self, field: &Field<'_>) -> Option<Success> {
        let mut fields = self.fields(field, "success");
        let mut success = Success::default();
        if let Some(list) = fields.take(self, "predicates") {
            success.predicates = self.predicates(&list);
        }
        if let Some(list) = fields.take(self, "statements") {
            let texts = self.texts(&list).unwrap_or_default();
            success.statements = texts.into_iter().map(|t| t.value).collect();
        }
        if success == Success::default() && matches!(&field.node.kind, Kind::Map(entries) if entries.is_empty()) {
            self.error("key.value", field.at(), format!("`{}` names no condition", field.path));
        }
        (success != Success::default()).then_some(success)
    }

    fn predicates(&mut self, field: &Field<'_>) -> Vec<Predicate> {
        let Kind::List(items) = &field.node.kind else {
            self.expected(field, "a list of maps");
            return Vec::new();
        };
        items.iter().filter_map(|item| self.predicate(&field.item(item))).collect()
    }

    /// Exactly one condition: `file_exists`, `evidence_min`, or `at` with one operator.
    fn predicate(&mut self, field: &Field<'_>) -> Option<Predicate> {
        let before = self.messages.len();
        let mut fields = self.fields(field, "success.predicates");
        let at = fields.take(self, "at").map(|f| self.pointer(&f));
        let tests = self.tests(&mut fields);
        let mut whole = Vec::new();
        if let Some(f) = fields.take(self, "file_exists") {
            whole.extend(self.workspace_path(&f).map(Predicate::FileExists));
        }
        if let Some(f) = fields.take(self, "evidence_min") {
            whole.extend(self.count(&f).map(Predicate::EvidenceMin));
        }
        if self.messages.len() > before {
            return None;
        }
        let mut found = whole;
        let half = at.is_some() == tests.is_empty();
        found.extend(at.flatten().zip(tests.first().cloned()).map(|(at, test)| Predicate::At { at, test }));
        if half || tests.len() > 1 || found.len() != 1 {
            let text = "a predicate is `{at: POINTER, OPERATOR: VALUE}`, `{file_exists: PATH}` or `{evidence_min: N}`, one a list entry";
            self.error("key.value", field.at(), text);
            return None;
        }
        found.pop()
    }

    fn tests(&mut self, fields: &mut Fields<'_>) -> Vec<Test> {
        let mut tests = Vec::new();
        if let Some(f) = fields.take(self, "exists") {
            tests.extend(self.flag(&f).map(Test::Exists));
        }
        if let Some(f) = fields.take(self, "equals") {
            tests.extend(self.json(&f).map(Test::Equals));
        }
        if let Some(f) = fields.take(self, "min_items") {
            tests.extend(self.count(&f).map(Test::MinItems));
        }
        if let Some(f) = fields.take(self, "max_items") {
            tests.extend(self.items(&f).map(Test::MaxItems));
        }
        if let Some(f) = fields.take(self, "matches") {
            tests.extend(self.pattern_text(&f).map(Test::Matches));
        }
        tests
    }

    /// A number of items; unlike a cap it may be 0.
    fn items(&mut self, field: &Field<'_>) -> Option<u64> {
        match super::read::plain(field.node).map(str::parse::<u64>) {
            Some(Ok(n)) => Some(n),
            _ => {
                self.expected(field, "a whole number");
                None
            }
        }
    }

    fn pointer(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?.value;
        if !text.is_empty() && !text.starts_with('/') {
            self.expected(field, "a JSON pointer such as `/findings`");
            return None;
        }
        Some(text)
    }

    fn pattern_text(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?.value;
        match regex::Regex::new(&text) {
            Ok(_) => Some(text),
            Err(e) => {
                let why = e.to_string().lines().last().unwrap_or_default().trim().to_string();
                self.error("key.value", field.at(), format!("`{}` is no regular expression: {why}", field.path));
                None
            }
        }
    }

    fn workspace_path(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.words(field)?.value;
        let path = text.trim_start_matches('/').to_string();
        if path.is_empty() || path.starts_with('~') || path.split('/').any(|part| part == "..") {
            self.expected(field, "a path inside the workspace");
            return None;
        }
        Some(path)
    }
}

/// Whether a value is a JSON Schema of an object, as results must be.
///
/// # Errors
/// One phrase that says why not.
pub fn object_schema(value: &Value) -> Result<(), String> {
    schema::check(value)?;
    if value.get("type").and_then(Value::as_str) != Some("object") {
        return Err("a result is an object: the schema needs `type: object`".into());
    }
    Ok(())
}
