//! Rules on paths of either file.

use super::{Decoder, Field};
use crate::definition::message::{Level, Message};
use crate::definition::node::Kind;
use crate::definition::spec::At;
use crate::policy::{Access, Glob, Permission, Rule};

impl Decoder {
    /// A list of rules. None when it is no list or a rule is not right: a list that lacks one of its rules may say the
    /// opposite of what its author meant.
    pub(super) fn permissions(&mut self, field: &Field<'_>) -> Option<At<Vec<At<Rule>>>> {
        let Kind::List(items) = &field.node.kind else {
            self.expected(field, "a list of rules such as `{operations: [read], paths: [/docs/], mode: allow}`");
            return None;
        };
        let rules: Vec<Option<Rule>> = items.iter().map(|item| self.rule(&field.item(item))).collect();
        let places = items.iter().map(|item| item.at);
        let placed = rules.into_iter().zip(places).map(|(rule, at)| rule.map(|value| At { value, at }));
        Some(At { value: placed.collect::<Option<_>>()?, at: field.key_at })
    }

    fn rule(&mut self, field: &Field<'_>) -> Option<Rule> {
        let before = self.messages.len();
        let mut fields = self.fields(field, "permissions");
        let operations = fields.take(self, "operations");
        let paths = fields.take(self, "paths");
        let mode = fields.take(self, "mode").map_or(Some(Permission::Allow), |f| self.permission(&f));
        let reason = fields.take(self, "reason").and_then(|f| self.words(&f)).map(|t| t.value);
        let bad = |d: &Decoder| d.messages.iter().skip(before).any(|m| m.level == Level::Error);
        if bad(self) && operations.is_none() && paths.is_none() {
            return None; // A rule of another kind: its keys were complained about.
        }
        let operations = self.needed(field, operations, "operations", Decoder::operations);
        let paths = self.needed(field, paths, "paths", Decoder::globs);
        let good = !bad(self);
        let ((operations, paths), mode) = operations.zip(paths).zip(mode)?;
        good.then_some(Rule { operations, paths, mode, reason })
    }

    /// A list that a rule cannot do without.
    fn needed<T>(
        &mut self,
        rule: &Field<'_>,
        list: Option<Field<'_>>,
        name: &str,
        read: fn(&mut Decoder, &Field<'_>) -> Option<Vec<T>>,
    ) -> Option<Vec<T>> {
        let Some(list) = list else {
            if matches!(rule.node.kind, Kind::Map(_)) {
                self.error("permission.incomplete", rule.at(), format!("a rule of `{}` has no `{name}`", rule.path));
            }
            return None;
        };
        let values = read(self, &list)?;
        if values.is_empty() {
            self.error(
                "permission.incomplete",
                list.at(),
                format!("`{}` is empty: the rule speaks of nothing", list.path),
            );
            return None;
        }
        Some(values)
    }

    fn operations(&mut self, field: &Field<'_>) -> Option<Vec<Access>> {
        let names = self.names(field)?;
        let words = [("read", Access::Read), ("write", Access::Write)];
        let mut operations = Vec::new();
        let mut good = true;
        for name in names {
            match words.iter().find(|(word, _)| *word == name.value) {
                Some((_, access)) if operations.contains(access) => {}
                Some((_, access)) => operations.push(*access),
                None => {
                    good = false;
                    let text = format!("`{}`: there is no operation `{}`", field.path, name.value);
                    let message = Message::new(Level::Error, "permission.operation", text).at(name.at);
                    self.push(message.hint("the operations are `read` and `write`"));
                }
            }
        }
        good.then_some(operations)
    }

    fn globs(&mut self, field: &Field<'_>) -> Option<Vec<Glob>> {
        let mut good = true;
        let mut globs = Vec::new();
        for At { value, at } in self.texts(field)? {
            match Glob::parse(&value) {
                Ok(glob) => globs.push(glob),
                Err(why) => {
                    good = false;
                    self.error(
                        "permission.path",
                        at,
                        format!("`{}`: the path `{value}` cannot be used: {why}", field.path),
                    );
                }
            }
        }
        good.then_some(globs)
    }

    fn permission(&mut self, field: &Field<'_>) -> Option<Permission> {
        const MODES: [(&str, (Permission, bool)); 4] = [
            ("allow", (Permission::Allow, false)),
            ("deny", (Permission::Deny, false)),
            ("ask", (Permission::Ask, false)),
            ("interrupt", (Permission::Ask, true)),
        ];
        let (mode, foreign) = self.one_of(field, &MODES)?;
        if foreign {
            self.warn("permission.interrupt", field.at(), format!("`{}: interrupt` is read as `ask`", field.path));
        }
        Some(mode)
    }
}
