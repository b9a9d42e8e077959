//! Teams and briefs that tests start from.

use deputize_core::brief::Success;
use deputize_core::definition::{BriefDefaults, Definition, Operation, Team, ToolChoice, ToolSpec};
use deputize_core::id::{AgentName, ModelName, ToolName};
use deputize_core::step::EffectClass;
use serde_json::{Value, json};

/// The tools of every test team: name, effect, operation.
const TOOLS: [(&str, EffectClass, Operation); 4] = [
    ("look", EffectClass::ReadOnly, Operation::Read),
    ("save", EffectClass::Idempotent, Operation::Write),
    ("send", EffectClass::Effectful, Operation::Net),
    ("shell", EffectClass::Effectful, Operation::Shell),
];

/// An agent with tools, whose success is a valid payload.
pub(crate) fn agent(name: &str, tools: &[&str]) -> Definition {
    Definition {
        name: AgentName::new(name),
        description: format!("Knows all about {name}."),
        body: format!("You are {name}."),
        pattern: "react".into(),
        tools: ToolChoice::Listed(tools.iter().map(ToolName::new).collect()),
        success: Some(Success::default()),
        ..Definition::default()
    }
}

/// An agent that delegates.
pub(crate) fn leads(name: &str, tools: &[&str], children: &[&str]) -> Definition {
    Definition { agents: children.iter().map(AgentName::new).collect(), ..agent(name, tools) }
}

/// An agent whose definition supplies all texts of its briefs.
pub(crate) fn supplied(mut agent: Definition) -> Definition {
    let text = |t: &str| Some(t.to_string());
    agent.brief = BriefDefaults {
        output_format: text("plain text"),
        guidance: text("use look"),
        boundaries: text("nothing else"),
    };
    agent
}

/// A team; the first agent is its root.
pub(crate) fn team(agents: Vec<Definition>) -> Team {
    let spec = |(name, effect, operation): (&str, EffectClass, Operation)| ToolSpec {
        name: ToolName::new(name),
        description: format!("Does {name}."),
        input_schema: json!({"type": "object", "properties": {"at": {"type": "string"}}}),
        effect,
        operation,
        paths: Vec::new(),
    };
    let mut team = Team {
        name: "test".into(),
        root: agents[0].name.clone(),
        agents: agents.into_iter().map(|a| (a.name.clone(), a)).collect(),
        tools: TOOLS.into_iter().map(|t| (ToolName::new(t.0), spec(t))).collect(),
        ceiling: TOOLS.iter().map(|t| ToolName::new(t.0)).collect(),
        ..Team::default()
    };
    team.models.roles.insert("default".into(), ModelName::new("test:small"));
    team
}

/// The written part of a brief with every text.
pub(crate) fn to(agent: &str, objective: &str) -> Value {
    json!({
        "agent": agent,
        "objective": objective,
        "output_format": "plain text",
        "guidance": "use look, no other source",
        "boundaries": "nothing beyond the objective",
    })
}
