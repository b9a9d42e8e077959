//! The only place that reads environment and current folder. Owns where the state folder and the person's own
//! configuration are.

use crate::fault::Fault;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the process finds around itself.
#[derive(Clone)]
pub(crate) struct Ambient {
    /// The current folder.
    pub(crate) cwd: PathBuf,
    /// The environment; entries that are no text are left out.
    pub(crate) env: BTreeMap<String, String>,
    /// The state folder.
    pub(crate) state: PathBuf,
    /// The state folder, when the flag `--home` says it.
    pub(crate) flag: Option<PathBuf>,
}

impl Ambient {
    /// `home`: the flag `--home`.
    pub(crate) fn read(home: Option<PathBuf>) -> Result<Ambient, Fault> {
        let cwd = std::env::current_dir()
            .map_err(|e| Fault::new("workspace.missing", format!("the current folder cannot be read: {e}")))?;
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let env: BTreeMap<String, String> = std::env::vars_os().filter_map(text).collect();
        let flag = home.map(|folder| cwd.join(folder));
        let state = state_folder(&cwd, &env, flag.clone())?;
        Ok(Ambient { cwd, env, state, flag })
    }
    /// A variable that is set to something.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        set(&self.env, name)
    }
    /// The person's own configuration, whether it exists or not.
    pub(crate) fn user_config(&self) -> Option<PathBuf> {
        let folder = match set(&self.env, "XDG_CONFIG_HOME").map(Path::new).filter(|p| p.is_absolute()) {
            Some(folder) => folder.to_path_buf(),
            None => self.user_home()?.join(".config"),
        };
        Some(folder.join("deputize").join("config.yaml"))
    }
    /// Where the person's own agents may be; read only when a team asks for them.
    pub(crate) fn user_agents(&self) -> Vec<PathBuf> {
        self.user_home().map(|home| vec![home.join(".claude").join("agents")]).unwrap_or_default()
    }
    fn user_home(&self) -> Option<PathBuf> {
        user_home(&self.env)
    }
}

fn set<'a>(env: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
    env.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
}

fn user_home(env: &BTreeMap<String, String>) -> Option<PathBuf> {
    set(env, "HOME").map(PathBuf::from).filter(|p| p.is_absolute())
}

fn state_folder(cwd: &Path, env: &BTreeMap<String, String>, flag: Option<PathBuf>) -> Result<PathBuf, Fault> {
    if let Some(folder) = flag.or_else(|| set(env, "DEPUTIZE_HOME").map(PathBuf::from)) {
        return Ok(cwd.join(folder));
    }
    let state = match set(env, "XDG_STATE_HOME").map(PathBuf::from).filter(|p| p.is_absolute()) {
        Some(folder) => Some(folder),
        None => user_home(env).map(|home| home.join(".local").join("state")),
    };
    let none = || {
        Fault::new("store.failed", "there is no place for runs: HOME is not set")
            .hint("set DEPUTIZE_HOME, or give --home DIR")
    };
    state.map(|folder| folder.join("deputize")).ok_or_else(none)
}
