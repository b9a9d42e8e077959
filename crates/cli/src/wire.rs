//! The one place that chooses adapters: which store, which providers, which tools. Owns the way from a setup to a world.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::inert;
use crate::stored::Stored;
use deputize_adapters::ids::RandomIds;
use deputize_adapters::loader::{self, Origin, Provider, ProviderKind, Setup};
use deputize_adapters::provider::{self, Config, ConfigError, Kind, Limits, Look, Router, Secret, Timeouts};
use deputize_adapters::store::lock::TreeLock;
use deputize_adapters::store::retention::{Candidate, Rule};
use deputize_adapters::store::sqlite::{self, SqliteStore};
use deputize_adapters::tool::{BUILTIN, Builtin, FileTools};
use deputize_core::definition::{Definition, ToolSpec};
use deputize_core::id::{AgentName, AgentPath, Label, ModelName, RunId, Time};
use deputize_core::step::Failure;
use deputize_runtime::port::{Clock as _, Model, Store, StoreError, Who};
use deputize_runtime::{TokioClock, World};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub(crate) use deputize_adapters::loader::Sync;
pub(crate) use deputize_adapters::store::free_space;

/// A layer between this program and an answer.
pub(crate) type Layer = provider::Layer;
/// The layer that fails, and why.
pub(crate) type Trouble = provider::Trouble;

/// How the names begin of what this program keeps in a state folder.
const OURS: [&str; 5] = ["store.sqlite3", "stores", "locks", "logs", "demo"];

/// The lock of a tree, held until it is dropped.
pub(crate) struct Lock {
    _held: TreeLock,
}

impl Lock {
    /// None when another process drives the tree.
    pub(crate) fn try_acquire(folder: &Path, root: &RunId) -> Result<Option<Lock>, Fault> {
        let lock = TreeLock::try_acquire(folder, root).map_err(|e| unlockable(folder, root, &e))?;
        Ok(lock.map(|held| Lock { _held: held }))
    }
    /// Whether a process drives the tree now.
    pub(crate) fn is_held(folder: &Path, root: &RunId) -> Result<bool, Fault> {
        TreeLock::is_held(folder, root).map_err(|e| unlockable(folder, root, &e))
    }
}

fn unlockable(folder: &Path, root: &RunId, error: &std::io::Error) -> Fault {
    Fault::new("store.failed", format!("run {root} cannot be locked in {}: {error}", folder.display()))
}

/// Opens a store, and makes it where there is none.
pub(crate) fn store(path: &Path, sync: Sync) -> Result<(Arc<dyn Store>, Upkeep), Fault> {
    let sync = match sync {
        Sync::Full => sqlite::Sync::Full,
        Sync::Normal => sqlite::Sync::Normal,
    };
    let store = SqliteStore::open(path, sync)?;
    Ok((Arc::new(store.clone()), Upkeep(store)))
}

/// What the port of a store has no word for: its file and what is done with it.
#[derive(Clone)]
pub(crate) struct Upkeep(SqliteStore);

impl Upkeep {
    /// Last records that were only half written when a machine went down, those that were met so far; reads leave them
    /// out.
    pub(crate) fn torn(&self) -> Vec<StoreError> {
        self.0.dropped()
    }
    /// The trees that go, oldest first: of `all`, each with the moment of its last event and whether it may go.
    pub(crate) async fn choose(&self, old: &Old, all: Vec<(RunId, Time, bool)>) -> Result<Vec<RunId>, Fault> {
        let rule = Rule { older: old.older, max_bytes: old.max_size, keep: old.keep };
        let candidate = |(root, updated, may_go)| Candidate { root, updated, may_go };
        let all: Vec<Candidate> = all.into_iter().map(candidate).collect();
        let survey = if old.max_size.is_some() { self.0.survey().await? } else { sqlite::Survey::default() };
        Ok(rule.choose(&all, &survey, TokioClock::system().now()))
    }
    /// Gives free pages back; whether it could. See [`SqliteStore::shrink`].
    pub(crate) async fn shrink_file(&self, alone: bool) -> Result<bool, Fault> {
        Ok(self.0.shrink(alone).await? == sqlite::Shrunk::Done)
    }
}

impl std::ops::Deref for Upkeep {
    type Target = SqliteStore;
    fn deref(&self) -> &SqliteStore {
        &self.0
    }
}

/// What counts as old, when trees are to go.
pub(crate) struct Old {
    /// Last active longer ago than so many milliseconds.
    pub(crate) older: Option<u64>,
    /// Beyond so many bytes.
    pub(crate) max_size: Option<u64>,
    /// Not among the newest so many.
    pub(crate) keep: Option<usize>,
}

/// Makes a folder that only this user can look into.
pub(crate) fn private_folder(path: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Closes a state folder that others can reach, if nothing but our own is in it. What there is to say about it.
pub(crate) fn close(folder: &Path) -> Option<String> {
    let mode = std::fs::metadata(folder).ok()?.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 {
        return None;
    }
    let (shown, at) = (folder.display(), format!("{mode:04o}"));
    let open = format!("the state folder {shown} is open to others (mode {at})");
    let own = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            OURS.iter().any(|ours| name.to_string_lossy().starts_with(ours))
        })
    };
    let ours = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(own));
    let closed = ours && std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)).is_ok();
    match (closed, mode & 0o022) {
        (true, _) => Some(format!("{open}: it is closed to them now")),
        // Others can read names, not content: the files have mode 0600.
        (false, 0) => None,
        (false, _) => {
            Some(format!("{open}, who could replace its files: chmod 700 {shown}, or give another one with --home"))
        }
    }
}

/// The tools that this build can perform.
pub(crate) fn tools() -> Vec<ToolSpec> {
    BUILTIN.iter().map(Builtin::spec).collect()
}

/// Everything outside the core, for a run of what was stored.
pub(crate) fn world(stored: &Stored, ambient: &Ambient, store: Arc<dyn Store>) -> Result<World, Fault> {
    let Stored { setup, protected, .. } = stored;
    let protected: Vec<&Path> = protected.iter().map(PathBuf::as_path).collect();
    let tools = FileTools::open_protecting(&setup.workspace, &protected).map_err(|e| {
        Fault::new("workspace.missing", e.to_string()).hint("make the folder, or name another one with --workspace DIR")
    })?;
    let model = Arc::new(Router::new(models(setup, ambient)?));
    let world =
        World { model, tools: Arc::new(tools), store, clock: Arc::new(TokioClock::system()), ids: Arc::new(RandomIds) };
    Ok(world.guarded(&ambient.secrets(stored.variables())))
}

/// A world in which nothing is done: for ending a run without doing more of it.
pub(crate) fn still_world(store: Arc<dyn Store>) -> World {
    let (model, tools) = (Arc::new(inert::Inert), Arc::new(inert::Inert));
    World { model, tools, store, clock: Arc::new(TokioClock::system()), ids: Arc::new(RandomIds) }
}

/// The providers that a run of this setup can need.
fn models(setup: &Setup, ambient: &Ambient) -> Result<BTreeMap<String, Arc<dyn Model>>, Fault> {
    let used = used(setup);
    let mut built = BTreeMap::new();
    for (name, settings) in setup.providers.iter().filter(|(name, _)| used.contains(*name)) {
        script_is_there(settings)?;
        let key = key(name, settings, ambient)?;
        let model = provider::build(&config(setup, name, settings, ambient), key, &ambient.cwd);
        let model = model.map_err(|e| Fault::new("provider.invalid", format!("provider `{name}`: {e}")))?;
        built.insert(name.clone(), model);
    }
    Ok(built)
}

/// What keeps providers of a setup from being made, whether a run would use them or not.
pub(crate) fn provider_faults(setup: &Setup, ambient: &Ambient) -> Vec<(String, ConfigError)> {
    let there = |settings: &Provider| settings.script.as_ref().is_none_or(|script| script.is_file());
    let fault = |(name, settings): (&String, &Provider)| {
        let made = provider::build(&config(setup, name, settings, ambient), None, &ambient.cwd);
        made.err().map(|e| (name.clone(), e))
    };
    setup.providers.iter().filter(|(_, settings)| there(settings)).filter_map(fault).collect()
}

/// The key of a provider, if it has and needs one.
pub(crate) fn key(name: &str, settings: &Provider, ambient: &Ambient) -> Result<Option<Secret>, Fault> {
    let key = settings.api_key_env.as_deref().and_then(|variable| ambient.var(variable)).map(Secret::new);
    if key.is_none() {
        needs_key(name, settings)?;
    }
    Ok(key)
}

/// The public address of a provider answers nobody without a key: better said before the run exists.
fn needs_key(name: &str, settings: &Provider) -> Result<(), Fault> {
    let facts = settings.kind.facts().filter(|_| settings.base_url_from == Origin::Default);
    let Some((facts, variable)) = facts.and_then(|facts| Some((facts, facts.key_variable?))) else { return Ok(()) };
    let variable = settings.api_key_env.as_deref().unwrap_or(variable);
    let text = format!("provider `{name}` at {} needs a key, and {variable} is not set", settings.base_url);
    let own = facts.url_variable.map(|url| format!(", or {url}=http://127.0.0.1:PORT/v1 for a server of your own"));
    Err(Fault::new("provider.no_key", text).hint(format!("set {variable}{}", own.unwrap_or_default())))
}

/// A run that goes on may find its script gone; said before the provider says it, and with what to do.
fn script_is_there(settings: &Provider) -> Result<(), Fault> {
    match settings.script.as_ref().filter(|script| !script.is_file()) {
        None => Ok(()),
        Some(script) => {
            let text = format!("the script {} is not there any more", script.display());
            Err(Fault::new("script.missing", text).hint("put it back; the run goes on from where it stopped"))
        }
    }
}

/// Names of providers that agents lead to. Who inherits a model inherits it, in the end, from the root or from an agent
/// that names one.
fn used(setup: &Setup) -> BTreeSet<String> {
    used_models(setup).into_iter().map(|model| model.provider().to_string()).collect()
}

/// The models that agents lead to, in the same way.
pub(crate) fn used_models(setup: &Setup) -> BTreeSet<ModelName> {
    let team = &setup.team;
    let root = team.agents.get(&team.root).map(|agent| agent.model.clone());
    let asked = root.into_iter().chain(team.agents.values().flat_map(Definition::named_models));
    let chosen = asked.filter_map(|model| team.models.resolve(&model, None).ok());
    chosen.map(|chosen| chosen.model).collect()
}

fn config(setup: &Setup, name: &str, settings: &Provider, ambient: &Ambient) -> Config {
    let ms = Duration::from_millis;
    let loader::Timeouts { connect, first_byte, idle, total } = settings.timeout;
    let own = || {
        let limits = setup.team.models.limits.iter().filter(|(model, _)| model.provider() == name);
        limits.map(|(model, limits)| (model.model().to_string(), limits))
    };
    let loader::Limits { concurrency, requests_per_minute, tokens_per_minute } = settings.limits;
    Config {
        name: name.to_string(),
        kind: kind(settings.kind),
        base_url: settings.base_url.clone(),
        api_key_env: settings.api_key_env.clone(),
        ca_file: settings.ca_file.clone(),
        proxy: settings.proxy.clone(),
        proxy_auth: settings.proxy_auth_env.as_deref().and_then(|variable| ambient.var(variable)).map(Secret::new),
        headers: settings.headers.clone(),
        body: settings.body.clone(),
        timeouts: Timeouts { connect: ms(connect), first_byte: ms(first_byte), idle: ms(idle), total: ms(total) },
        limits: Limits {
            concurrency: usize::try_from(concurrency).unwrap_or(usize::MAX),
            requests_per_minute,
            tokens_per_minute,
        },
        streaming: own().map(|(model, limits)| (model, limits.streaming)).collect(),
        context: own().map(|(model, limits)| (model, limits.context)).collect(),
        script: settings.script.as_ref().map(|path| path.to_string_lossy().into_owned()),
    }
}

fn kind(kind: ProviderKind) -> Kind {
    match kind {
        ProviderKind::Openai => Kind::Openai,
        ProviderKind::Anthropic => Kind::Anthropic,
        ProviderKind::Gemini => Kind::Gemini,
        ProviderKind::Ollama => Kind::Ollama,
        ProviderKind::Scripted => Kind::Scripted,
    }
}

/// The models behind an address, in its own order.
pub(crate) async fn list_models(of: ProviderKind, base_url: &str, key: Option<&str>) -> Result<Vec<String>, Failure> {
    provider::list_models(kind(of), base_url, key.map(Secret::new).as_ref()).await
}

/// Looks at a provider: the names of its models, or the layer that fails. The pair says whether the environment sends
/// the connection through a proxy, and how long it may take.
pub(crate) async fn examine(
    setup: &Setup,
    name: &str,
    settings: &Provider,
    ambient: &Ambient,
    (proxied, patience): (bool, Duration),
) -> Result<Vec<String>, Trouble> {
    let look = Look { proxied, patience };
    let key = key(name, settings, ambient).ok().flatten();
    provider::examine(&config(setup, name, settings, ambient), key.as_ref(), look).await
}

/// The models behind a provider, by the way that its settings say.
pub(crate) async fn models_of(
    setup: &Setup,
    name: &str,
    settings: &Provider,
    ambient: &Ambient,
) -> Result<Vec<String>, Failure> {
    let key = key(name, settings, ambient).ok().flatten();
    provider::models_of(&config(setup, name, settings, ambient), key.as_ref()).await
}

/// One short call of a model; gives its tokens.
pub(crate) async fn say_a_word(
    setup: &Setup,
    name: &str,
    settings: &Provider,
    model: &ModelName,
    ambient: &Ambient,
) -> Result<u64, Trouble> {
    let key = key(name, settings, ambient).ok().flatten();
    let agent = AgentName::new("doctor");
    let (path, label) = (AgentPath::root(&agent), Label::under("", "t1"));
    let permissions = Default::default();
    let who = Who { run: RunId::new("doctor"), agent, path, label, attempt: 1, permissions };
    let said = provider::say_a_word(&config(setup, name, settings, ambient), key, &who, model).await;
    said.map(|usage| usage.tokens())
}

/// The context window of a model, as the server tells it; none for one that is not near: it is not asked.
pub(crate) async fn context_window(
    setup: &Setup,
    settings: &Provider,
    model: &ModelName,
    ambient: &Ambient,
) -> Option<Result<Option<u64>, Failure>> {
    let near = settings.script.is_none() && provider::is_near(&settings.base_url);
    let key = key(model.provider(), settings, ambient).ok().filter(|_| near)?;
    let config = config(setup, model.provider(), settings, ambient);
    Some(provider::context_window(&config, key.as_ref(), model.model()).await)
}

/// What is in a store that is there.
pub(crate) async fn stats(path: &Path) -> Result<sqlite::Stats, StoreError> {
    SqliteStore::open(path, sqlite::Sync::Full)?.stats().await
}

/// Whether connections to an address take no proxy of the environment.
pub(crate) fn avoids_proxies(base_url: &str, no_proxy: &str) -> bool {
    provider::avoids_proxies(base_url, no_proxy)
}

/// Whether a server says that it is Ollama.
pub(crate) async fn is_ollama(base_url: &str) -> bool {
    provider::is_ollama(base_url).await
}
