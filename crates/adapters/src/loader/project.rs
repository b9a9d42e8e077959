//! Which folder is the team's: from what the person named, or from the current folder.

use super::find::{FOREIGN, USUAL};
use super::paths;
use super::request::{LoadRequest, Purpose};
use deputize_core::definition::message::{Level, Message};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the configuration.
pub(super) const CONFIG: &str = "deputize.yaml";
/// The context file that is read unasked.
pub(super) const CONTEXT: &str = "AGENTS.md";

/// Where a team is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// Its `deputize.yaml`, if it has one.
    pub(super) config: Option<PathBuf>,
    /// The agent file that was named: the root.
    pub(super) file: Option<PathBuf>,
    /// Whether the folder itself is read for agents, since it is named and holds none of the usual ones.
    pub(super) bare: bool,
}

/// Finds the project of a request.
pub(super) fn locate(request: &LoadRequest) -> Result<Project, Message> {
    let Some(named) = &request.team else {
        return Ok(folder(request.cwd.clone(), false));
    };
    let path = paths::join(&request.cwd, named);
    let error = |code: &str, text: String| Err(Message::new(Level::Error, code, text));
    let shown = named.to_string_lossy();
    match fs::metadata(&path) {
        Err(_) => error("path.missing", format!("there is no file or folder `{shown}`")),
        Ok(about) if about.is_dir() => {
            let project = is_project(&path, request.purpose);
            Ok(folder(path, !project))
        }
        Ok(_) => match path.extension().and_then(|e| e.to_str()).map(str::to_lowercase).as_deref() {
            Some("yaml" | "yml") => {
                let folder = parent(&path);
                Ok(Project { folder, config: Some(path), file: None, bare: false })
            }
            Some("md") => Ok(around(path)),
            _ => error("path.kind", format!("`{shown}` is no folder, no `{CONFIG}` and no agent file (`.md`)")),
        },
    }
}

fn parent(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_path_buf()
}

fn config_of(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(CONFIG);
    // A broken link counts, so that it is complained about instead of passed over.
    fs::symlink_metadata(&path).is_ok().then_some(path)
}

fn folder(folder: PathBuf, bare: bool) -> Project {
    Project { config: config_of(&folder), folder, file: None, bare }
}

fn is_project(folder: &Path, purpose: Purpose) -> bool {
    let loads = USUAL.iter().chain(&FOREIGN).any(|name| folder.join(name).is_dir());
    loads || config_of(folder).is_some() || (purpose == Purpose::Run && folder.join(CONTEXT).is_file())
}

/// The project of an agent file: a folder above it whose agents it is among, or whose configuration stands beside it;
/// else the file alone.
fn around(file: PathBuf) -> Project {
    let home = parent(&file);
    let among = |above: &&Path| USUAL.iter().chain(&FOREIGN).any(|name| file.starts_with(above.join(name)));
    let above = home.ancestors().find(among).or_else(|| config_of(&home).is_some().then_some(home.as_path()));
    match above.map(Path::to_path_buf) {
        Some(folder) => Project { config: config_of(&folder), folder, file: Some(file), bare: false },
        None => Project { folder: home, config: None, file: Some(file), bare: false },
    }
}
