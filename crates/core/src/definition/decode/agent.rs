//! The front matter of an agent file.

use super::budget::NOT_POSITIVE;
use super::list::{Entries, bracketed};
use super::success::Output;
use super::{Decoded, Decoder, Field, Fields, read};
use crate::definition::keys::File;
use crate::definition::message::{Level, Message};
use crate::definition::name;
use crate::definition::node::{Kind, Node, Place};
use crate::definition::spec::{AgentSpec, At, Choice};
use crate::definition::{EvidenceMode, ModelChoice};

/// The only pattern of this build.
const REACT: &str = "react";

/// Decodes a front matter.
pub fn agent(node: &Node) -> Decoded<AgentSpec> {
    let mut d = Decoder::new(File::Agent);
    let mut fields = d.top(node);
    let mut spec = AgentSpec::default();
    if !matches!(node.kind, Kind::Null | Kind::Map(_)) {
        // Its shape was complained about; that its keys are missing is no news.
        return d.finish(spec);
    }
    d.identity(&mut fields, &mut spec, node.at);
    d.tools(&mut fields, &mut spec);
    d.program(&mut fields, &mut spec);
    d.contract(&mut fields, &mut spec);
    d.caps(&mut fields, &mut spec);
    d.rest(&mut fields, &mut spec);
    d.finish(spec)
}

impl Decoder {
    /// Who it is: name, description, identity, rules, version, model.
    fn identity(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec, top: Place) {
        let (nameless, undescribed) = (fields.lacks("name"), fields.lacks("description"));
        match fields.take(self, "name") {
            Some(field) => self.name(&field, spec),
            None if nameless => self.error("name.missing", top, "`name` is missing: every agent needs one"),
            None => {}
        }
        let description = fields.take(self, "description");
        match description.as_ref().map(|f| (f, &f.node.kind)) {
            None if !undescribed => {}
            None => self.error("description.missing", top, "`description` is missing: others choose an agent by it"),
            Some((f, Kind::Null)) => self.error("description.missing", f.at(), "`description` is empty"),
            Some((f, Kind::Scalar { text, .. })) if text.trim().is_empty() => {
                self.error("description.missing", f.at(), "`description` is blank");
            }
            Some((f, _)) => {
                spec.definition.description = self.text(f).map(|t| t.value).unwrap_or_default();
            }
        }
        if let Some(field) = fields.take(self, "model") {
            spec.model = self.words(&field);
            spec.definition.model = match &spec.model {
                Some(At { value, .. }) if value != "inherit" => ModelChoice::Named(value.clone()),
                _ => ModelChoice::Inherit,
            };
        }
        if let Some(field) = fields.take(self, "fallback") {
            spec.fallback = self.names(&field).unwrap_or_default();
            spec.definition.fallback = spec.fallback.iter().map(|name| name.value.clone()).collect();
        }
        if let Some(field) = fields.take(self, "identity") {
            spec.definition.identity = self.words(&field).map(|t| t.value);
        }
        if let Some(field) = fields.take(self, "rules") {
            let rules = self.texts(&field).unwrap_or_default();
            spec.definition.rules = rules.into_iter().map(|t| t.value).collect();
        }
        if let Some(field) = fields.take(self, "version") {
            spec.definition.version = self.text(&field).map(|t| t.value);
        }
    }

    fn name(&mut self, field: &Field<'_>, spec: &mut AgentSpec) {
        if field.node.kind == Kind::Null {
            return self.error("name.missing", field.at(), "`name` is empty");
        }
        let Some(written) = self.text(field) else { return };
        match name::normal(&written.value) {
            Ok(normal) => {
                if normal.changed {
                    let text = format!("the name `{}` is read as `{}`", written.value, normal.name);
                    let hint = "a name is 1 to 64 lower-case letters, digits and single inner hyphens";
                    self.push(Message::new(Level::Warning, "name.slug", text).at(written.at).hint(hint));
                }
                spec.definition.name = normal.name;
            }
            Err(why) => {
                self.error("name.invalid", written.at, format!("the name `{}` cannot be used: {why}", written.value))
            }
        }
        spec.name = Some(written);
    }

    /// What it may call, pass on, and delegate to.
    fn tools(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec) {
        let mut in_tools = None;
        if let Some(field) = fields.take(self, "tools") {
            spec.tools_at = Some(field.at());
            let entries = self.entries(&field).unwrap_or_default();
            spec.tools = Some(entries.choice());
            in_tools = entries.delegates();
            spec.tools_written = entries.written;
        }
        let denied = match fields.take(self, "disallowedTools") {
            Some(field) => self.entries(&field).unwrap_or_default(),
            None => Entries::default(),
        };
        if let Some(at) = denied.all {
            self.error("key.value", at, "`disallowedTools: *` leaves nothing: write `tools: []`");
        }
        spec.agents = in_tools;
        if let Some(field) = fields.take(self, "agents") {
            spec.agents = self.choice(&field).map(|own| match (own, spec.agents.take()) {
                (Choice::Listed(mut own), Some(Choice::Listed(more))) => {
                    own.extend(more.into_iter().filter(|m| own.iter().all(|o| o.value != m.value)).collect::<Vec<_>>());
                    Choice::Listed(own)
                }
                (own, _) => own,
            });
        }
        if denied.any_agent.is_some() && denied.agents.is_empty() {
            spec.agents = None;
        }
        spec.agents_denied = denied.agents.into_iter().map(|a| a.value).collect();
        spec.disallowed = denied.tools;
        spec.disallowed_written = denied.written;
        if let Some(field) = fields.take(self, "grant") {
            spec.grant = self.choice(&field);
        }
        if let Some(field) = fields.take(self, "permissions") {
            spec.permissions = self.permissions(&field);
            let rules = spec.permissions.iter().flat_map(|list| &list.value);
            spec.definition.permissions = spec.permissions.as_ref().map(|_| rules.map(|r| r.value.clone()).collect());
        }
        if let Some(field) = fields.take(self, "permissionMode") {
            self.mode(&field, spec);
        }
    }

    fn mode(&mut self, field: &Field<'_>, spec: &mut AgentSpec) {
        const MODES: [(&str, &str); 6] = [
            ("default", ""),
            ("plan", "plan"),
            ("dontAsk", ""),
            ("auto", ""),
            ("acceptEdits", "wider"),
            ("bypassPermissions", "wider"),
        ];
        match self.one_of(field, &MODES) {
            Some("plan") => spec.definition.read_only = true,
            Some("wider") => {
                let text = "`permissionMode` never widens anything here; the grants of the team hold";
                self.warn("permission.not_widened", field.at(), text);
            }
            _ => {}
        }
    }

    /// How it works: context, pattern, composition.
    fn program(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec) {
        if let Some(field) = fields.take(self, "context") {
            match read::plain(field.node) {
                Some("fork") => self.unsupported(&field, "fork", "`isolated`"),
                _ => drop(self.one_of(&field, &[("isolated", ())])),
            }
        }
        spec.definition.pattern = REACT.into();
        if let Some(field) = fields.take(self, "pattern") {
            self.pattern(&field, spec);
        }
        let delegates = match &spec.agents {
            None => false,
            Some(Choice::All(_)) => true,
            Some(Choice::Listed(names)) => !names.is_empty(),
        };
        spec.composition = if delegates { "supervisor" } else { "single" };
        let Some(field) = fields.take(self, "composition") else { return };
        let Some(name) = self.program_name(&field, "composition") else { return };
        match name.value.as_str() {
            "supervisor" | "single" if name.value == spec.composition => {}
            "single" => {
                self.error("composition.agents", field.at(), "`composition: single` and `agents` exclude each other");
            }
            "supervisor" => {
                let text = "`composition: supervisor` without `agents`: there is nobody to delegate to";
                self.warn("composition.agents", field.at(), text);
                spec.composition = "supervisor";
            }
            other => self.unsupported(&field, other, "`supervisor` and `single`"),
        }
    }

    fn pattern(&mut self, field: &Field<'_>, spec: &mut AgentSpec) {
        if let Some(name) = self.program_name(field, "pattern").filter(|n| n.value != REACT) {
            self.unsupported(field, &name.value, "`react`");
        }
        if matches!(field.node.kind, Kind::Map(_)) {
            let found = field.clone();
            let mut fields = self.quiet(&found, "pattern");
            if let Some(turns) = fields.take(self, "max_turns") {
                spec.definition.budget.turns = self.turns_like(&turns).map(u64::from);
            }
        }
    }

    /// `name`, or `{name, ...}`.
    fn program_name(&mut self, field: &Field<'_>, table: &str) -> Option<At<String>> {
        if !matches!(field.node.kind, Kind::Map(_)) {
            return self.words(field);
        }
        let mut fields = self.fields(field, table);
        match fields.take(self, "name") {
            Some(name) => self.words(&name),
            None => {
                self.error("key.value", field.at(), format!("`{}` has no `name`", field.path));
                None
            }
        }
    }

    /// The fields of a map whose strangers were already complained about.
    fn quiet<'n>(&mut self, field: &Field<'n>, table: &str) -> Fields<'n> {
        let before = self.messages.len();
        let fields = self.fields(field, table);
        self.messages.truncate(before);
        fields
    }

    /// What a delegation to it says and what it must give.
    fn contract(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec) {
        if let Some(field) = fields.take(self, "task_types") {
            let types = self.names(&field).unwrap_or_default();
            spec.definition.task_types = types.into_iter().map(|t| t.value).collect();
        }
        if let Some(field) = fields.take(self, "output") {
            match self.output(&field) {
                Some(Output::Inline(schema)) => spec.definition.output = Some(schema),
                Some(Output::Path(path)) => spec.output_path = Some(path),
                None => {}
            }
        }
        if let Some(field) = fields.take(self, "brief") {
            spec.definition.brief = self.brief(&field);
        }
        if let Some(field) = fields.take(self, "success") {
            spec.definition.success = self.success(&field);
        }
        if let Some(field) = fields.take(self, "evidence") {
            let words = [("derived", EvidenceMode::Derived), ("cite", EvidenceMode::Cite)];
            spec.definition.evidence = self.one_of(&field, &words).unwrap_or_default();
        }
    }

    /// Budget, `maxTurns` and `timeout`; two that speak of turns must agree.
    fn caps(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec) {
        let mut turns: Vec<u64> = spec.definition.budget.turns.into_iter().collect();
        if let Some(field) = fields.take(self, "budget") {
            spec.definition.budget = self.run_caps(&field, "budget");
            turns.extend(spec.definition.budget.turns);
        }
        let mut at = None;
        if let Some(field) = fields.take(self, "maxTurns") {
            at = Some(field.at());
            turns.extend(self.amount(&field, super::amount::count, "a whole number above 0", NOT_POSITIVE));
        }
        spec.definition.budget.turns = turns.first().copied();
        if turns.iter().any(|t| Some(t) != turns.first()) {
            let said: Vec<String> = turns.iter().map(u64::to_string).collect();
            let text = format!("the turns of the agent are given as {}: they must agree", said.join(" and "));
            self.error("budget.turns_differ", at.unwrap_or_default(), text);
        }
        if let Some(field) = fields.take(self, "timeout") {
            spec.definition.timeout = self.duration(&field);
        }
    }

    /// Everything else.
    fn rest(&mut self, fields: &mut Fields<'_>, spec: &mut AgentSpec) {
        if let Some(field) = fields.take(self, "project_context") {
            spec.definition.project_context = self.flag(&field);
        }
        if let Some(field) = fields.take(self, "trust")
            && self.one_of(&field, &[("low", true), ("standard", false)]) == Some(true)
        {
            self.warn("key.no_effect", field.at(), "`trust: low` changes nothing in this build");
        }
        if let Some(field) = fields.take(self, "effort") {
            spec.definition.effort = self.effort(&field);
        }
        if let Some(field) = fields.take(self, "color") {
            self.text(&field);
        }
        // Not asked of the table: `skills` is only listed.
        if let Some(field) = fields.found.remove("skills") {
            let before = self.messages.len();
            let skills = self.names(&field).unwrap_or_default();
            self.messages.truncate(before);
            spec.skills = skills.into_iter().map(|s| s.value).collect();
        }
    }

    fn effort(&mut self, field: &Field<'_>) -> Option<String> {
        let text = self.text(field)?.value;
        let known = ["low", "medium", "high", "max"].contains(&text.as_str());
        if !known && super::amount::whole(&text).is_err() {
            self.expected(field, "`low`, `medium`, `high`, `max` or a whole number above 0");
            return None;
        }
        Some(text)
    }
}

/// The name in front of the brackets of an entry such as `Bash(git:*)`, and what stands in them.
pub fn entry_parts(entry: &str) -> (&str, &str) {
    bracketed(entry)
}
