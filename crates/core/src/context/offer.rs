//! The tools that a model is offered: those of its brief, and `delegate` when there is somebody to delegate to.

use crate::definition::{DELEGATE, Definition, LISTED_DESCRIPTION, Profile, Team};
use crate::event::Started;
use crate::govern::{Field, Shape, may_delegate, offered, required};
use crate::id::ToolName;
use crate::message::ToolOffer;
use crate::policy::{Layer, Source};
use serde_json::{Map, Value, json};

/// The offer of a run, `delegate` first, then the tools in the order of the brief.
pub(super) fn tools(team: &Team, agent: &Definition, started: &Started) -> Vec<ToolOffer> {
    let children = may_delegate(team, agent, started.depth);
    let delegate = (!children.is_empty()).then(|| delegate_tool(team.profile, &children, ruled(team)));
    let own = started.brief.tools.value.iter().filter_map(|name| {
        let spec = team.tools.get(name)?;
        let (description, input_schema) = (spec.description.clone(), spec.input_schema.clone());
        Some(ToolOffer { name: name.clone(), description, input_schema })
    });
    delegate.into_iter().chain(own).collect()
}

/// Whether somebody wrote rules on paths for this team.
fn ruled(team: &Team) -> bool {
    let written = |layer: &Layer| layer.source != Source::Ceiling;
    team.layers.as_slice().iter().any(written) || team.agents.values().any(|agent| agent.permissions.is_some())
}

/// The `delegate` tool for these children. Names stand in the description, not in an enum, so that a name that does not
/// exist is answered `degraded` instead of being impossible.
pub fn delegate_tool(profile: Profile, children: &[&Definition], rules: bool) -> ToolOffer {
    let mut properties = Map::new();
    for field in offered(children, rules) {
        properties.insert(field.name.into(), schema(field));
    }
    let list: Vec<String> = children.iter().map(|c| entry(c)).collect();
    let description = format!(
        "Hand a task to another agent and get its summary back. It starts with an empty conversation and sees only what you \
         write here. Several calls in one turn run at the same time.\nAgents:\n{}",
        list.join("\n")
    );
    let input_schema = json!({
        "type": "object",
        "properties": Value::Object(properties),
        "required": required(profile, children),
        "additionalProperties": false
    });
    ToolOffer { name: ToolName::new(DELEGATE), description, input_schema }
}

fn entry(child: &Definition) -> String {
    let kinds = match &child.task_types[..] {
        [] => String::new(),
        kinds => format!(" (task types: {})", kinds.join(", ")),
    };
    format!("- {}: {}{kinds}", child.name, listed(&child.description))
}

/// A description as a list of agents shows it: whole up to [`LISTED_DESCRIPTION`] characters, else cut with a mark.
pub(super) fn listed(description: &str) -> String {
    let text = description.trim();
    match text.char_indices().nth(LISTED_DESCRIPTION) {
        Some((end, _)) => format!("{} ...", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_string(),
    }
}

fn schema(field: &Field) -> Value {
    match field.shape {
        Shape::Text => json!({"type": "string", "description": field.about}),
        Shape::Texts => json!({"type": "array", "items": {"type": "string"}, "description": field.about}),
        Shape::Caps => {
            let number = json!({"type": "integer", "minimum": 1});
            let caps = ["tokens", "time_s", "turns", "tool_calls"].map(|c| (c.to_string(), number.clone()));
            json!({
                "type": "object",
                "properties": Value::Object(Map::from_iter(caps)),
                "additionalProperties": false,
                "description": field.about
            })
        }
        Shape::Rules => {
            let texts = |words: Value| json!({"type": "array", "items": words});
            json!({
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "operations": texts(json!({"type": "string", "enum": ["read", "write"]})),
                        "paths": texts(json!({"type": "string"})),
                        "mode": {"type": "string", "enum": ["deny", "ask"]},
                    },
                    "required": ["operations", "paths", "mode"],
                    "additionalProperties": false
                },
                "description": field.about
            })
        }
    }
}
