//! The written part of a brief: what the model gives in a `delegate` call. One list of its fields, from which the tool's
//! schema, the checks and the sentences derive.

use crate::brief::Incomplete;
use crate::budget::Caps;
use crate::code::{self, clip};
use crate::definition::{Definition, Profile};
use crate::id::ToolName;
use crate::message::Arguments;
use crate::policy::{Permission, Rule};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The form of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A text.
    Text,
    /// A list of texts.
    Texts,
    /// `{tokens, time_s, turns, ...}`.
    Caps,
    /// A list of rules on paths.
    Rules,
}

/// A field of the written part.
pub(crate) struct Field {
    /// Its name in the call.
    pub(crate) name: &'static str,
    /// Its form.
    pub(crate) shape: Shape,
    /// What it is, for the model.
    pub(crate) about: &'static str,
}

/// The longest name that a sentence quotes, in characters.
pub(super) const NAME: usize = 64;
/// The longest complaint of a parser that a sentence quotes.
const REASON: usize = 160;

/// Every field, in the order of the tool's schema.
const FIELDS: [Field; 12] = [
    Field { name: "agent", shape: Shape::Text, about: "Name of the agent to hand the task to." },
    Field {
        name: "objective",
        shape: Shape::Text,
        about: "What the agent is to find out or do. It sees nothing of this conversation.",
    },
    Field { name: "output_format", shape: Shape::Text, about: "The form the result must have." },
    Field { name: "guidance", shape: Shape::Text, about: "Which tools and sources to use, and which not." },
    Field { name: "boundaries", shape: Shape::Text, about: "What belongs to the task and what must be left alone." },
    Field { name: "success_condition", shape: Shape::Text, about: "When the task is done; the agent reports on it." },
    Field {
        name: "context",
        shape: Shape::Text,
        about: "Everything the agent needs to know, word for word: paths, errors, decisions.",
    },
    Field { name: "task_type", shape: Shape::Text, about: "Kind of task, to find an agent by when none is named." },
    Field { name: "tools", shape: Shape::Texts, about: "Narrows the agent's tools to these." },
    Field {
        name: "budget",
        shape: Shape::Caps,
        about: "Narrows the agent's budget: tokens, time_s, turns, tool_calls.",
    },
    Field {
        name: "permissions",
        shape: Shape::Rules,
        about: "Takes paths away from the agent; a path begins with /, the workspace, and dir/ is all below it.",
    },
    Field { name: "reason", shape: Shape::Text, about: "Why this delegation; kept in the log." },
];

/// The written part, read.
#[derive(Debug, Default)]
pub(crate) struct Written {
    texts: Map<String, Value>,
    pub(crate) tools: Option<Vec<ToolName>>,
    pub(crate) budget: Caps,
    /// Rules that only take away.
    pub(crate) permissions: Option<Vec<Rule>>,
    /// Texts under names that no field has; profile `assisted` passes them on as context.
    pub(crate) stray: Vec<(String, String)>,
}

impl Written {
    /// A text field; blank is absent.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name)?.as_str().filter(|t| !t.trim().is_empty())
    }

    /// Reads the arguments of a call: an object, known fields, right types.
    ///
    /// # Errors
    /// `brief.malformed` with the field; `brief.budget_not_positive`.
    pub(crate) fn read(arguments: &Arguments, profile: Profile) -> Result<Written, Incomplete> {
        let bad = |why: String| Incomplete::new(code::BRIEF_MALFORMED, why);
        let map = match arguments {
            Arguments::Malformed(_) => return Err(bad("the arguments of the delegation are not valid JSON".into())),
            Arguments::Json(Value::Object(map)) => map,
            Arguments::Json(_) => return Err(bad("the arguments of the delegation must be a JSON object".into())),
        };
        let mut written = Written::default();
        for (name, value) in map {
            match FIELDS.iter().find(|f| f.name == name) {
                _ if value.is_null() => {}
                Some(field) => written.take(field, value)?,
                None if profile == Profile::Assisted => {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
                    written.stray.push((name.clone(), text));
                }
                None => {
                    let known: Vec<&str> = FIELDS.iter().map(|f| f.name).collect();
                    return Err(bad(format!(
                        "`{}` is no field of a brief; the fields are {}",
                        clip(name, NAME),
                        known.join(", ")
                    )));
                }
            }
        }
        Ok(written)
    }

    fn take(&mut self, field: &Field, value: &Value) -> Result<(), Incomplete> {
        let bad = |what: &str| Incomplete::new(code::BRIEF_MALFORMED, format!("`{}` must be {what}", field.name));
        match field.shape {
            Shape::Text if value.is_string() => {
                self.texts.insert(field.name.into(), value.clone());
            }
            Shape::Text => return Err(bad("a text")),
            Shape::Texts => {
                let list = value.as_array().ok_or_else(|| bad("a list of texts"))?;
                let names = list.iter().map(|v| v.as_str().map(ToolName::new));
                self.tools = Some(names.collect::<Option<_>>().ok_or_else(|| bad("a list of texts"))?);
            }
            Shape::Caps => {
                let map = value.as_object().ok_or_else(|| bad("an object of numbers"))?;
                for (name, value) in map {
                    self.cap(name, value)?;
                }
            }
            Shape::Rules => {
                let list = value.as_array().ok_or_else(|| bad("a list of rules"))?;
                self.permissions = Some(list.iter().map(rule).collect::<Result<_, _>>()?);
            }
        }
        Ok(())
    }

    fn cap(&mut self, name: &str, value: &Value) -> Result<(), Incomplete> {
        let name = clip(name, NAME);
        let name = name.as_str();
        let known = "tokens, time_s, turns, tool_calls, model_calls, children, runs";
        let unknown =
            || Incomplete::new(code::BRIEF_MALFORMED, format!("`budget.{name}` is not known; known are {known}"));
        let sign = || {
            let why = format!("`budget.{name}` of the brief must be a whole number above 0");
            Incomplete::new(code::BRIEF_BUDGET_NOT_POSITIVE, why)
        };
        let number = value.as_u64().filter(|n| *n > 0).ok_or_else(sign)?;
        let caps = &mut self.budget;
        let slot = match name {
            "tokens" => &mut caps.tokens,
            "time_s" => &mut caps.time,
            "turns" => &mut caps.turns,
            "tool_calls" => &mut caps.tool_calls,
            "model_calls" => &mut caps.model_calls,
            "children" => &mut caps.children,
            "runs" => &mut caps.runs,
            _ => return Err(unknown()),
        };
        *slot = Some(if name == "time_s" { number.saturating_mul(1000) } else { number });
        Ok(())
    }
}

/// One rule of a delegation: `{operations, paths, mode, reason}`, where the mode is `deny` or `ask`.
fn rule(value: &Value) -> Result<Rule, Incomplete> {
    let rule = Rule::deserialize(value).map_err(|error| {
        let why = format!("a rule in `permissions` is not right: {}", clip(&error.to_string(), REASON));
        Incomplete::new(code::BRIEF_MALFORMED, why)
    })?;
    if rule.mode == Permission::Allow {
        let why = "a rule in `permissions` allows something: a delegation only takes away, by `deny` or `ask`";
        return Err(Incomplete::new(code::BRIEF_OVERRIDE_WIDER, why));
    }
    if rule.operations.is_empty() || rule.paths.is_empty() {
        let why = "a rule in `permissions` needs `operations` (read, write) and `paths`, and neither may be empty";
        return Err(Incomplete::new(code::BRIEF_MALFORMED, why));
    }
    Ok(rule)
}

/// Whether some child takes a task type beside its own name; else nobody is offered one, since small models fill every
/// field they see.
fn by_task_type(children: &[&Definition]) -> bool {
    children.iter().any(|c| c.task_types.iter().any(|t| t != c.name.as_str()))
}

/// The fields that a model is offered. Rules on paths are for teams that have some: where nobody thinks of paths, the field
/// would only be filled because it is there.
pub(crate) fn offered(children: &[&Definition], rules: bool) -> impl Iterator<Item = &'static Field> {
    let by_task_type = by_task_type(children);
    FIELDS.iter().filter(move |f| (by_task_type || f.name != "task_type") && (rules || f.shape != Shape::Rules))
}

/// The fields that the model must give, for the tool's schema: a field that every child supplies is not among them.
pub(crate) fn required(profile: Profile, children: &[&Definition]) -> Vec<&'static str> {
    let mut fields = if by_task_type(children) { vec!["objective"] } else { vec!["agent", "objective"] };
    if profile == Profile::Assisted {
        return fields;
    }
    let all = |has: fn(&Definition) -> bool| children.iter().all(|c| has(c));
    let supplied = [
        ("output_format", all(|c| c.brief.output_format.is_some())),
        ("guidance", all(|c| c.brief.guidance.is_some())),
        ("boundaries", all(|c| c.brief.boundaries.is_some())),
        ("success_condition", all(|c| c.success.is_some())),
    ];
    fields.extend(supplied.into_iter().filter(|(_, s)| !s).map(|(name, _)| name));
    fields
}
