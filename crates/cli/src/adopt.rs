//! Whether the files of a team still say what a run goes on with, and taking what they say now. Only the agents are taken:
//! models, providers, budgets and the workspace stay as they were stored. Owns the comparison; the log keeps what came of it.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::out::Out;
use crate::prepare;
use crate::stored::Stored;
use crate::wire;
use deputize_adapters::loader::{self, LoadRequest, Loaded, Overrides, Purpose, Setup};
use deputize_core::id::{AgentName, RunId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the run is to go on with, when that is asked for and something has changed. When it is not asked for, one line
/// says that the files have changed.
pub(crate) fn look(
    stored: &Stored,
    root: &RunId,
    wanted: bool,
    ambient: &Ambient,
    out: &Out,
) -> Result<Option<Stored>, Fault> {
    let Some(source) = &stored.source else {
        let text = format!("run {root} was started by a version that did not keep where its files are");
        let fault = Fault::new("run.changed", text).hint("without --adopt it goes on with what it started with");
        return if wanted { Err(fault) } else { Ok(None) };
    };
    let stays = "the run goes on with what it started with";
    match change(stored, source, ambient) {
        Err(fault) if wanted => Err(fault),
        Err(_) => {
            out.note(&format!("the files of the team have changed and do not load any more (deputize check): {stays}"));
            Ok(None)
        }
        Ok(None) => {
            if wanted {
                out.note("no agent has changed since: there is nothing to adopt");
            }
            Ok(None)
        }
        Ok(Some(Change { stored, files })) => {
            let files = files.join(", ");
            if wanted {
                out.note(&format!("taken as they are now: {files}"));
                return Ok(Some(stored));
            }
            let command = out.command(&format!("deputize resume {root} --adopt"));
            out.note(&format!("{files} changed since: {stays}; to take the change, stop it and type: {command}"));
            Ok(None)
        }
    }
}

/// What is different now.
struct Change {
    /// With the agents as they are now.
    stored: Stored,
    /// Where.
    files: Vec<String>,
}

fn change(stored: &Stored, source: &Path, ambient: &Ambient) -> Result<Option<Change>, Fault> {
    let loaded = loader::load(&request(&stored.setup, source, ambient));
    let blockers = loaded.blockers();
    if let Some(first) = blockers.first() {
        return Err(prepare::blocked(first, &blockers, &loaded));
    }
    let Some(setup) = &loaded.setup else {
        return Err(Fault::new("team.invalid", "the team did not load"));
    };
    let mut next = stored.clone();
    next.setup.team.agents.clone_from(&setup.team.agents);
    let protected: BTreeSet<PathBuf> = prepare::protected(ambient, &loaded.agents, setup).into_iter().collect();
    next.protected.extend(protected.into_iter().filter(|path| !stored.protected.contains(path)));
    next.clean(&ambient.secrets(stored.variables()))?;
    let (old, new) = (&stored.setup.team.agents, &next.setup.team.agents);
    let names: BTreeSet<&AgentName> = old.keys().chain(new.keys()).collect();
    let changed = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    let files: Vec<String> = changed.map(|name| place(name, &loaded)).collect();
    Ok((!files.is_empty()).then_some(Change { stored: next, files }))
}

fn place(name: &AgentName, loaded: &Loaded) -> String {
    match loaded.agents.iter().find(|agent| agent.name == name.as_str()) {
        Some(agent) => agent.file.clone().unwrap_or_else(|| format!("agent {name}")),
        None => format!("agent {name} (gone)"),
    }
}

/// The same question as when the run began, as far as it is about agents.
fn request(setup: &Setup, source: &Path, ambient: &Ambient) -> LoadRequest {
    let forced = setup.team.models.forced.as_ref();
    let script = forced.filter(|model| model.provider() == "scripted").and_then(|_| setup.providers.get("scripted"));
    let script = script.and_then(|provider| provider.script.clone());
    let model = forced.filter(|_| script.is_none()).map(ToString::to_string);
    LoadRequest {
        purpose: Purpose::Run,
        team: Some(source.to_path_buf()),
        cwd: ambient.cwd.clone(),
        agent: Some(setup.team.root.to_string()),
        workspace: Some(setup.workspace.clone()),
        overrides: Overrides { model, script, ..Overrides::default() },
        user_config: ambient.user_config(),
        user_agents: ambient.user_agents(),
        tools: wire::tools(),
        env: ambient.env.clone(),
    }
}
