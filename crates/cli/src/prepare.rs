//! From arguments to a setup that can be run: the loader asked, its messages shown, a model found. Owns what is said on
//! the way; every choice that was made for the person is one line here and a field of the run.

use crate::ambient::Ambient;
use crate::args::TeamFlags;
use crate::discover;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::wire;
use deputize_adapters::loader::{self, LoadRequest, Loaded, Overrides, Purpose, Setup};
use deputize_core::definition::message::{Level, Message};
use deputize_core::event::Choice;
use std::path::PathBuf;

/// Characters of a choice that are shown.
const CHOICE: usize = 400;

/// What a run starts from, beside its objective.
pub(crate) struct Prepared {
    /// The setup.
    pub(crate) setup: Setup,
    /// Choices made for the person, in the order in which they were said.
    pub(crate) choices: Vec<Choice>,
}

/// Asks the loader.
pub(crate) fn load(ambient: &Ambient, flags: &TeamFlags, team: Option<PathBuf>, purpose: Purpose) -> Loaded {
    let overrides = Overrides {
        model: flags.model.clone(),
        roles: flags.roles.clone(),
        budgets: flags.budget.given(),
        allow: flags.allow.clone(),
        script: flags.script.clone(),
    };
    loader::load(&LoadRequest {
        purpose,
        team,
        cwd: ambient.cwd.clone(),
        agent: flags.agent.clone(),
        workspace: flags.workspace.clone(),
        overrides,
        user_config: ambient.user_config(),
        user_agents: ambient.user_agents(),
        tools: wire::tools(),
        env: ambient.env.clone(),
    })
}

/// Loads a team to run it; says every warning and every choice.
pub(crate) async fn prepare(
    ambient: &Ambient,
    out: &Out,
    flags: &TeamFlags,
    team: Option<PathBuf>,
) -> Result<Prepared, Fault> {
    let loaded = load(ambient, flags, team, Purpose::Run);
    let blockers = loaded.blockers();
    if let Some(first) = blockers.first() {
        return Err(blocked(first, &blockers, &loaded));
    }
    let Some(mut setup) = loaded.setup else {
        return Err(Fault::new("team.invalid", "the team did not load"));
    };
    let mut choices = Vec::new();
    for message in &loaded.messages {
        match message.level {
            Level::Info => {
                let text = placed(message);
                out.note(&one_line(&text, CHOICE));
                choices.push(Choice { code: message.code.clone(), text });
            }
            Level::Error | Level::Warning => out.note(&loader::render(message, &loaded.sources)),
        }
    }
    for choice in discover::default_model(&mut setup, ambient).await? {
        out.note(&one_line(&choice.text, CHOICE));
        choices.push(choice);
    }
    Ok(Prepared { setup, choices })
}

/// All errors at once for the person, the first one for the machine.
fn blocked(first: &Message, blockers: &[Message], loaded: &Loaded) -> Fault {
    let count = blockers.len();
    let mut shown: String = blockers.iter().map(|m| loader::render(m, &loaded.sources)).collect();
    let errors = if count == 1 { "1 error".to_string() } else { format!("{count} errors") };
    shown.push_str(&format!("{errors}: nothing was started"));
    let fault = Fault::from(first).shown(shown);
    if count == 1 { fault } else { fault.more(count - 1) }
}

fn placed(message: &Message) -> String {
    match (&message.file, message.line) {
        (Some(file), Some(line)) => format!("{file}:{line}: {}", message.text),
        (Some(file), None) => format!("{file}: {}", message.text),
        (None, _) => message.text.clone(),
    }
}
