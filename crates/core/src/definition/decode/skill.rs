//! The front matter of a skill.

use super::{Decoded, Decoder, Field};
use crate::definition::keys::File;
use crate::definition::node::{Kind, Node, Place};
use crate::definition::spec::{At, SkillSpec};

/// Longest description of a skill.
const MAX_DESCRIPTION: usize = 1_024;
/// Longest `compatibility`.
const MAX_COMPATIBILITY: usize = 500;

/// Decodes the front matter of a `SKILL.md`.
pub fn skill(node: &Node) -> Decoded<SkillSpec> {
    let mut d = Decoder::new(File::Skill);
    let mut spec = SkillSpec::default();
    let mut fields = d.top(node);
    if !matches!(node.kind, Kind::Null | Kind::Map(_)) {
        return d.finish(spec);
    }
    for (key, into) in [("name", &mut spec.name), ("description", &mut spec.description)] {
        let missing = fields.lacks(key);
        match fields.take(&mut d, key) {
            Some(field) => *into = d.required(&field),
            None if missing => d.missing(key, node.at),
            None => {}
        }
    }
    d.long("description", spec.description.as_ref(), MAX_DESCRIPTION);
    for key in ["license", "allowed-tools"] {
        if let Some(field) = fields.take(&mut d, key) {
            d.text(&field);
        }
    }
    if let Some(field) = fields.take(&mut d, "compatibility") {
        let text = d.text(&field);
        d.long("compatibility", text.as_ref(), MAX_COMPATIBILITY);
    }
    if let Some(field) = fields.take(&mut d, "metadata") {
        for (_, field) in d.free_map(&field) {
            d.text(&field);
        }
    }
    d.finish(spec)
}

impl Decoder {
    fn missing(&mut self, key: &str, at: Place) {
        let text = format!("`{key}` is missing: a skill is nothing without it");
        self.error(if key == "name" { "name.missing" } else { "description.missing" }, at, text);
    }

    /// A text that may not be blank.
    fn required(&mut self, field: &Field<'_>) -> Option<At<String>> {
        let blank = match &field.node.kind {
            Kind::Null => true,
            Kind::Scalar { text, .. } => text.trim().is_empty(),
            _ => false,
        };
        if blank {
            self.missing(&field.path, field.at());
            return None;
        }
        self.text(field)
    }

    fn long(&mut self, key: &str, text: Option<&At<String>>, most: usize) {
        let Some(text) = text else { return };
        let length = text.value.chars().count();
        if length > most {
            self.warn("skill.long", text.at, format!("`{key}` has {length} characters; other products read {most}"));
        }
    }
}
