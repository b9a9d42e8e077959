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
use deputize_core::policy::{self, Access, Permission};
use std::path::{Path, PathBuf};

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

/// The context files: those that the team names, else `AGENTS.md` if it is there. Each is named in a message, since its
/// text goes to the model.
pub(super) fn context(project: &Project, config: &Config, findings: &mut Findings) -> Vec<ContextFile> {
    let mut files = Vec::new();
    let mut take = |path: &Path, shown: &str| -> Result<(), Message> {
        let text = inside(project, path).and_then(|()| files::read(path))?;
        files.push(ContextFile { path: shown.to_string(), text });
        Ok(())
    };
    match &config.spec.project_context {
        None => {
            let path = project.folder.join(CONTEXT);
            // Nobody asked for it, so one that cannot be read keeps nobody from working.
            if path.symlink_metadata().is_ok()
                && let Err(m) = take(&path, CONTEXT)
            {
                findings.push(Message { level: Level::Warning, ..m }.file(findings.shown(&path)));
            }
        }
        Some(named) => {
            for written in named {
                if let Err(m) = take(&paths::join(&config.folder, &written.value), &written.value) {
                    let text = format!("`project_context`: {}: {}", written.value, m.text);
                    findings.push(Message::new(Level::Error, &m.code, text).file(&config.file).at(written.at));
                }
            }
        }
    }
    if !files.is_empty() {
        let names: Vec<&str> = files.iter().map(|f| f.path.as_str()).collect();
        let text = format!("project context, given to the root and to agents that ask for it: {}", names.join(", "));
        findings.push(Message::new(Level::Info, "context.given", text));
    }
    files
}

/// Whoever wrote the project must not have files from elsewhere, or secrets, sent to a model: links are followed first.
fn inside(project: &Project, path: &Path) -> Result<(), Message> {
    let bad = |text: String| Err(Message::new(Level::Error, "context.outside", text));
    let Ok(real) = path.canonicalize() else { return Ok(()) }; // reading it says why
    let folder = project.folder.canonicalize().unwrap_or_else(|_| project.folder.clone());
    if !real.starts_with(&folder) {
        return bad("it lies outside the project folder, or is a link to there".into());
    }
    let name = real.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let rules = policy::builtin().decide(Access::Read, &name);
    match rules.mode {
        Permission::Allow => Ok(()),
        _ => bad(format!("it is not given to a model: {}", rules.reason().unwrap_or_default())),
    }
}

/// Where logs are kept; the project's word before the person's.
pub(super) fn store(project: &Config, user: &Config, findings: &mut Findings) -> StoreChoice {
    let path_of = |config: &Config, findings: &mut Findings| {
        let written = config.spec.store_path.as_ref()?;
        let path = paths::join(&config.folder, &written.value);
        if let Some(why) = no_store(&written.value, &path) {
            let text = format!("`store.path: {}`: {why}", written.value);
            let message = Message::new(Level::Error, "store.path", text).file(&config.file).at(written.at);
            findings.push(message.hint("name a file, such as `logs/store.sqlite3`; it is made when it is not there"));
        }
        Some(path)
    };
    let (own, theirs) = (path_of(project, findings), path_of(user, findings));
    let lazy = project.spec.store_lazy.or(user.spec.store_lazy).unwrap_or_default();
    StoreChoice { path: own.or(theirs), sync: if lazy { Sync::Normal } else { Sync::Full } }
}

/// Why logs cannot be kept in a file.
fn no_store(written: &str, path: &Path) -> Option<&'static str> {
    if written.ends_with('/') || path.file_name().is_none() {
        return Some("this names a folder, and the store is a file");
    }
    match std::fs::metadata(path) {
        Ok(about) if about.is_dir() => Some("there is a folder, and the store is a file"),
        Ok(about) if !about.is_file() => Some("what is there is no regular file"),
        _ => None,
    }
}
