//! The folders and files that a run touches beside its agents: workspace, context files, store.

use super::config::Config;
use super::files;
use super::findings::Findings;
use super::paths;
use super::project::{CONTEXT, Project};
use super::request::LoadRequest;
use super::setup::{StoreChoice, Sync};
use deputize_core::definition::ContextFile;
use deputize_core::definition::message::{Level, Message};
use std::path::PathBuf;

/// The workspace, where it really is.
pub(super) fn workspace(request: &LoadRequest, config: &Config, findings: &mut Findings) -> Option<PathBuf> {
    let (path, at) = match (&request.workspace, &config.spec.workspace) {
        (Some(flag), _) => (paths::join(&request.cwd, flag), None),
        (None, Some(written)) => (paths::join(&config.folder, &written.value), Some(written.at)),
        (None, None) => (request.cwd.clone(), None),
    };
    match std::fs::canonicalize(&path) {
        Ok(real) if real.is_dir() => Some(real),
        found => {
            let why = if found.is_ok() { "is no folder" } else { "does not exist" };
            let message = Message::new(
                Level::Error,
                "workspace.missing",
                format!("the workspace {} {why}", findings.shown(&path)),
            );
            findings.push(match at {
                Some(at) => message.file(&config.file).at(at),
                None => message,
            });
            None
        }
    }
}

/// The context files: those that the team names, else `AGENTS.md` if it is there.
pub(super) fn context(project: &Project, config: &Config, findings: &mut Findings) -> Vec<ContextFile> {
    let mut files = Vec::new();
    let Some(named) = &config.spec.project_context else {
        let path = project.folder.join(CONTEXT);
        if path.symlink_metadata().is_err() {
            return files;
        }
        // Nobody asked for it, so one that cannot be read keeps nobody from working.
        match files::read(&path) {
            Ok(text) => files.push(ContextFile { path: CONTEXT.into(), text }),
            Err(m) => findings.push(Message { level: Level::Warning, ..m }.file(findings.shown(&path))),
        }
        return files;
    };
    for written in named {
        let path = paths::join(&config.folder, &written.value);
        match files::read(&path) {
            Ok(text) => files.push(ContextFile { path: written.value.clone(), text }),
            Err(m) => {
                let text = format!("`project_context`: {}: {}", written.value, m.text);
                findings.push(Message::new(Level::Error, &m.code, text).file(&config.file).at(written.at));
            }
        }
    }
    files
}

/// Where logs are kept; the project's word before the person's.
pub(super) fn store(project: &Config, user: &Config) -> StoreChoice {
    let path_of = |c: &Config| c.spec.store_path.as_ref().map(|p| paths::join(&c.folder, &p.value));
    let lazy = project.spec.store_lazy.or(user.spec.store_lazy).unwrap_or_default();
    StoreChoice { path: path_of(project).or_else(|| path_of(user)), sync: if lazy { Sync::Normal } else { Sync::Full } }
}
