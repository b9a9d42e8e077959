//! The only place that reads environment and current folder. Owns where the state folder and the person's own
//! configuration are.

use crate::fault::Fault;
use deputize_runtime::secret::{Redactor, Secret};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// How the parts of a variable's name end that holds a credential.
const CREDENTIAL: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "PAT"];

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
    /// Why there is no current folder.
    pub(crate) lost: Option<String>,
}

impl Ambient {
    /// `home`: the flag `--home`.
    pub(crate) fn read(home: Option<PathBuf>) -> Result<Ambient, Fault> {
        let found = std::env::current_dir();
        let lost = found.as_ref().err().map(ToString::to_string);
        // Nothing is looked for there: what needs the current folder is refused first.
        let cwd = found.unwrap_or_else(|_| PathBuf::from("/"));
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let env: BTreeMap<String, String> = std::env::vars_os().filter_map(text).collect();
        let given = home.clone();
        let flag = home.map(|folder| cwd.join(folder));
        let state = state_folder(&cwd, &env, flag.clone())?;
        let ambient = Ambient { cwd, env, state, flag, lost };
        let relative = |folder: &Path| !folder.is_absolute();
        if given.as_deref().is_some_and(relative)
            || set(&ambient.env, "DEPUTIZE_HOME").is_some_and(|home| relative(Path::new(home)))
        {
            ambient.needs_folder()?;
        }
        Ok(ambient)
    }
    /// For what cannot do without the current folder, which may be gone.
    pub(crate) fn needs_folder(&self) -> Result<(), Fault> {
        self.lost.as_ref().map_or(Ok(()), |why| {
            let text = format!("the current folder cannot be read: {why}");
            Err(Fault::new("workspace.missing", text).hint("go to a folder that is there"))
        })
    }
    /// A variable that is set to something.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        set(&self.env, name)
    }
    /// Whether messages may be coloured: standard error is a terminal that can, and nobody has said no (no-color.org).
    pub(crate) fn colour(&self) -> bool {
        let refused = self.var("NO_COLOR").is_some() || self.var("TERM").is_none_or(|term| term == "dumb");
        !refused && std::io::stderr().is_terminal()
    }
    /// The values of variables whose names say that they are credentials, and of `named` ones.
    pub(crate) fn secrets<'a>(&'a self, named: impl IntoIterator<Item = &'a str>) -> Redactor {
        let by_name =
            self.env.iter().filter(|(name, value)| is_credential(name, value)).map(|(_, value)| value.as_str());
        let named = named.into_iter().filter_map(|name| self.var(name));
        Redactor::new(by_name.chain(named).map(Secret::new))
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

/// Whether a variable holds a credential: its name says so, and its value is no path, number or sentence.
fn is_credential(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let says = |word: &str| CREDENTIAL.iter().any(|end| word.ends_with(end));
    let path = value.starts_with(['/', '.', '~']);
    let sentence = value.trim().contains(char::is_whitespace);
    name.split('_').any(says) && !path && !sentence && value.contains(|c: char| !c.is_ascii_digit())
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
