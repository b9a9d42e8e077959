//! From arguments to a setup that can be run: the loader asked, its messages shown, a model found. Owns what is said on
//! the way; every choice that was made for the person is one line here and a field of the run.

use crate::ambient::Ambient;
use crate::args::TeamFlags;
use crate::discover;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::window;
use crate::wire;
use deputize_adapters::loader::{self, Listing, LoadRequest, Loaded, Overrides, Purpose, Setup};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::{Definition, ModelChoice};
use deputize_core::event::Choice;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Characters of a choice that are shown.
const CHOICE: usize = 400;

/// What a run starts from, beside its objective.
pub(crate) struct Prepared {
    /// The setup.
    pub(crate) setup: Setup,
    /// Files that no agent may change.
    pub(crate) protected: Vec<PathBuf>,
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
    // From here on sources are quoted, in which somebody may have written what a variable holds.
    out.set_redactor(&ambient.secrets(setup.providers.values().filter_map(|p| p.api_key_env.as_deref())));
    let warnings = loaded.messages.iter().filter(|m| m.level != Level::Info);
    warnings.for_each(|m| out.note(&loader::render(m, &loaded.sources)));
    let infos = loaded.messages.iter().filter(|m| m.level == Level::Info && m.file.is_some());
    infos.for_each(|m| out.detail(&loader::render(m, &loaded.sources)));
    let mut choices: Vec<Choice> = loaded.messages.iter().filter_map(choice).collect();
    choices.extend(discover::default_model(&mut setup, ambient).await?);
    choices.extend(unset_roles(&setup));
    choices.extend(window::ask(&mut setup, ambient).await);
    choices.iter().for_each(|choice| out.note(&one_line(&choice.text, CHOICE)));
    let protected = protected(ambient, &loaded.agents, &setup);
    Ok(Prepared { setup, protected, choices })
}

/// A choice is about the run as a whole; what was chosen inside a file is for `check` to say.
fn choice(message: &Message) -> Option<Choice> {
    let chosen = message.level == Level::Info && message.file.is_none();
    chosen.then(|| Choice { code: message.code.clone(), text: message.text.clone() })
}

/// Roles that agents name and nobody sets; the role `default` stands in for them.
fn unset_roles(setup: &Setup) -> Vec<Choice> {
    let models = &setup.team.models;
    if models.forced.is_some() {
        return Vec::new();
    }
    let role = |model: ModelChoice| models.resolve(&model, None).ok().and_then(|chosen| chosen.role);
    let named: BTreeSet<String> =
        setup.team.agents.values().flat_map(Definition::named_models).filter_map(role).collect();
    let unset = named.into_iter().filter(|role| !models.roles.contains_key(role));
    let text = |role: &str| format!("the role `{role}` is not set: `default` is used in its place");
    unset.map(|role| Choice { code: "role.unset".to_string(), text: text(&role) }).collect()
}

/// The files and folders that make the team, absolute: no agent of it may change them, wherever they lie.
pub(crate) fn protected(ambient: &Ambient, agents: &[Listing], setup: &Setup) -> Vec<PathBuf> {
    let files = agents.iter().filter_map(|agent| agent.file.as_ref()).map(|file| ambient.cwd.join(file));
    // Their folders too: a new agent file is a new agent.
    let files: Vec<PathBuf> = files.collect();
    let project = ambient.cwd.join(&setup.project);
    let folders = files.iter().filter_map(|f| f.parent()).filter(|f| *f != project && *f != setup.workspace);
    let folders: BTreeSet<PathBuf> = folders.map(Path::to_path_buf).collect();
    let own = ["deputize.yaml", "AGENTS.md"].map(|name| project.join(name));
    // Who writes a script answers for the model.
    let scripts = setup.providers.values().filter_map(|provider| provider.script.clone());
    files.into_iter().chain(folders).chain(own).chain(scripts).collect()
}

/// All errors at once for the person, the first one for the machine.
pub(crate) fn blocked(first: &Message, blockers: &[Message], loaded: &Loaded) -> Fault {
    let count = blockers.len();
    let mut shown: String = blockers.iter().map(|m| loader::render(m, &loaded.sources)).collect();
    let errors = if count == 1 { "1 error".to_string() } else { format!("{count} errors") };
    shown.push_str(&format!("{errors}: nothing was started"));
    let fault = Fault::from(first).shown(shown);
    if count == 1 { fault } else { fault.more(count - 1) }
}
