//! `deputize.yaml`, and the person's own configuration.

use super::budget::NOT_POSITIVE;
use super::{Decoded, Decoder, Field, Fields, amount, join};
use crate::definition::codes::{CODES, is_code};
use crate::definition::keys::{self, File};
use crate::definition::message::{Level, Message};
use crate::definition::nearest::nearest;
use crate::definition::node::{Kind, Node};
use crate::definition::spec::{At, Severity, TeamSpec};
use crate::definition::{InDoubt, ModelLimits, OutputLimits, Profile, ROLES, Structured, ToolTimeouts};
use crate::id::ToolName;
use std::collections::BTreeMap;

/// The form of `deputize.yaml` that this build reads.
const VERSION: u32 = 1;

/// Whose configuration is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The project's `deputize.yaml`.
    Project,
    /// The person's own, which has fewer keys.
    User,
}

/// Decodes a configuration.
pub fn team(node: &Node, whose: Whose) -> Decoded<TeamSpec> {
    let mut d = Decoder::new(File::Team);
    let mut fields = d.top(node);
    if whose == Whose::User {
        d.only_user_keys(&mut fields);
    }
    let mut spec = TeamSpec::default();
    d.version(&mut fields);
    d.project(&mut fields, &mut spec);
    d.models(&mut fields, &mut spec);
    d.limits(&mut fields, &mut spec);
    d.store_and_check(&mut fields, &mut spec);
    d.finish(spec)
}

impl Decoder {
    fn only_user_keys(&mut self, fields: &mut Fields<'_>) {
        let strange: Vec<&str> = fields.found.keys().copied().filter(|k| !keys::USER.contains(k)).collect();
        for key in strange {
            if let Some(field) = fields.found.remove(key) {
                let text = format!("`{key}` belongs into a project's `deputize.yaml`");
                let hint = format!("your own configuration may hold {}", keys::USER.join(", "));
                self.push(Message::new(Level::Error, "key.not_here", text).at(field.key_at).hint(hint));
            }
        }
    }

    fn version(&mut self, fields: &mut Fields<'_>) {
        let Some(field) = fields.take(self, "version") else { return };
        match self.whole(&field) {
            Some(v) if v > VERSION => {
                let text = format!(
                    "this file has version {v} and needs a newer program than deputize {}",
                    env!("CARGO_PKG_VERSION")
                );
                let hint = format!("this program reads version {VERSION}");
                self.push(Message::new(Level::Error, "version.newer", text).at(field.at()).hint(hint));
            }
            _ => {}
        }
    }

    fn project(&mut self, fields: &mut Fields<'_>, spec: &mut TeamSpec) {
        if let Some(field) = fields.take(self, "profile") {
            spec.profile = self.one_of(&field, &[("strict", Profile::Strict), ("assisted", Profile::Assisted)]);
        }
        if let Some(field) = fields.take(self, "name") {
            spec.name = self.words(&field).map(|t| t.value);
        }
        if let Some(field) = fields.take(self, "root") {
            spec.root = self.words(&field);
        }
        if let Some(field) = fields.take(self, "load") {
            spec.load = self.texts(&field);
        }
        if let Some(field) = fields.take(self, "user_agents") {
            spec.user_agents = self.flag(&field).unwrap_or_default();
        }
        if let Some(field) = fields.take(self, "project_context") {
            spec.project_context = self.texts(&field);
        }
        if let Some(field) = fields.take(self, "workspace") {
            spec.workspace = self.words(&field);
        }
        if let Some(field) = fields.take(self, "tools") {
            spec.tools = self.names(&field);
        }
        if let Some(field) = fields.take(self, "permissions") {
            spec.permissions = self.permissions(&field);
        }
    }

    fn models(&mut self, fields: &mut Fields<'_>, spec: &mut TeamSpec) {
        if let Some(field) = fields.take(self, "providers") {
            spec.providers = self.providers(&field);
        }
        if let Some(field) = fields.take(self, "roles") {
            let mut roles = self.fields(&field, "roles");
            for role in ROLES {
                if let Some(model) = roles.take(self, role).and_then(|f| self.model_name(&f)) {
                    spec.roles.insert(role.to_string(), model);
                }
            }
        }
        if let Some(field) = fields.take(self, "aliases") {
            spec.aliases = self.aliases(&field);
        }
        if let Some(field) = fields.take(self, "models") {
            for (name, field) in self.free_map(&field) {
                let at = field.key_at;
                if !name.contains(':') {
                    self.error("model.unknown", at, format!("`{}`: a model is named `provider:model`", field.path));
                }
                let value = self.model_limits(&field);
                spec.models.insert(name, At { value, at });
            }
        }
    }

    /// `provider:model`.
    fn model_name(&mut self, field: &Field<'_>) -> Option<At<String>> {
        let name = self.words(field)?;
        match name.value.split_once(':') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Some(name),
            _ => {
                self.expected(field, "a model as `provider:model`");
                None
            }
        }
    }

    fn aliases(&mut self, field: &Field<'_>) -> BTreeMap<String, At<String>> {
        let mut aliases = BTreeMap::new();
        for (name, field) in self.free_map(field) {
            if ROLES.contains(&name.as_str()) || name == "inherit" {
                self.error("key.value", field.key_at, format!("`{}`: `{name}` has a meaning of its own", field.path));
                continue;
            }
            let Some(target) = self.words(&field) else { continue };
            if ROLES.contains(&target.value.as_str()) {
                aliases.insert(name, target);
            } else if let Some(model) = self.model_name(&field) {
                aliases.insert(name, model);
            }
        }
        aliases
    }

    fn model_limits(&mut self, field: &Field<'_>) -> ModelLimits {
        let mut fields = self.fields(field, "models.MODEL");
        let mut limits = ModelLimits::default();
        if let Some(n) = fields.take(self, "context").and_then(|f| self.count(&f)) {
            limits.context = n;
            limits.context_known = true;
        }
        if let Some(n) = fields.take(self, "max_output").and_then(|f| self.count(&f)) {
            limits.max_output = n;
        }
        if let Some(f) = fields.take(self, "temperature") {
            limits.temperature = self.temperature(&f);
        }
        if let Some(f) = fields.take(self, "structured") {
            let words = [("auto", Structured::Auto), ("native", Structured::Native), ("prompt", Structured::Prompt)];
            limits.structured = self.one_of(&f, &words).unwrap_or_default();
        }
        if let Some(b) = fields.take(self, "streaming").and_then(|f| self.flag(&f)) {
            limits.streaming = b;
        }
        limits
    }

    fn temperature(&mut self, field: &Field<'_>) -> Option<f64> {
        let number = super::read::plain(field.node).and_then(|t| t.parse::<f64>().ok());
        let good = number.filter(|n| (0.0..=2.0).contains(n));
        if good.is_none() {
            self.expected(field, "a number from 0 to 2");
        }
        good
    }

    fn limits(&mut self, fields: &mut Fields<'_>, spec: &mut TeamSpec) {
        if let Some(field) = fields.take(self, "budget") {
            spec.budget = self.budget(&field);
        }
        if let Some(field) = fields.take(self, "output_limits") {
            let mut inner = self.fields(&field, "output_limits");
            let mut limits = OutputLimits::default();
            if let Some(n) = inner.take(self, "tool_result").and_then(|f| self.count(&f)) {
                limits.tool_result = n;
            }
            if let Some(n) = inner.take(self, "child_summary").and_then(|f| self.count(&f)) {
                limits.child_summary = n;
            }
            spec.output_limits = Some(limits);
        }
        if let Some(field) = fields.take(self, "tool_timeout") {
            spec.tool_timeout = Some(self.tool_timeouts(&field));
        }
        if let Some(field) = fields.take(self, "in_doubt") {
            match super::read::plain(field.node) {
                Some("ask") => self.unsupported(&field, "ask", "`fail` and `retry`"),
                _ => spec.in_doubt = self.one_of(&field, &[("fail", InDoubt::Fail), ("retry", InDoubt::Retry)]),
            }
        }
    }

    fn tool_timeouts(&mut self, field: &Field<'_>) -> ToolTimeouts {
        let mut timeouts = ToolTimeouts::default();
        if !matches!(field.node.kind, Kind::Map(_)) {
            let what = "a duration such as `90s`, or a map of tool to duration";
            if let Some(ms) = self.amount(field, amount::duration, what, NOT_POSITIVE) {
                timeouts.default = ms;
            }
            return timeouts;
        }
        for (tool, field) in self.free_map(field) {
            if let Some(ms) = self.duration(&field) {
                timeouts.by_tool.insert(ToolName::new(tool), ms);
            }
        }
        timeouts
    }

    fn store_and_check(&mut self, fields: &mut Fields<'_>, spec: &mut TeamSpec) {
        if let Some(field) = fields.take(self, "store") {
            let mut store = self.fields(&field, "store");
            spec.store_path = store.take(self, "path").and_then(|f| self.words(&f));
            if let Some(f) = store.take(self, "sync") {
                spec.store_lazy = self.one_of(&f, &[("full", false), ("normal", true)]);
            }
        }
        if let Some(field) = fields.take(self, "check") {
            let words = [("error", Severity::Error), ("warning", Severity::Warning), ("off", Severity::Off)];
            for (code, field) in self.free_map(&field) {
                if !is_code(&code) {
                    self.no_code(&code, &field);
                } else if let Some(value) = self.one_of(&field, &words) {
                    spec.check.insert(code, At { value, at: field.key_at });
                }
            }
        }
    }

    fn no_code(&mut self, code: &str, field: &Field<'_>) {
        let text = format!("`{}`: no message has the code `{code}`", field.path);
        let message = Message::new(Level::Error, "check.unknown", text).at(field.key_at);
        self.push(match nearest(code, CODES.iter().map(|c| c.code)) {
            Some(near) => message.hint(format!("did you mean `{near}`?")),
            None => message,
        });
    }

    /// The entries of a map whose keys are free.
    pub(super) fn free_map<'n>(&mut self, field: &Field<'n>) -> Vec<(String, Field<'n>)> {
        let Kind::Map(entries) = &field.node.kind else {
            self.expected(field, "a map");
            return Vec::new();
        };
        let of = |e: &'n crate::definition::node::Entry| {
            (e.key.clone(), Field { path: join(&field.path, &e.key), key_at: e.at, node: &e.value })
        };
        entries.iter().map(of).collect()
    }
}
