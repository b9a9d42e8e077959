//! Runs that are in a store: which stores there are, how a run is named on the command line, its tree. Owns the list of
//! stores outside the state folder; reads logs and never writes any.

use crate::ambient::Ambient;
use crate::fault::Fault;
use crate::out::{Out, one_line};
use crate::wire;
use deputize_core::id::RunId;
use deputize_core::projection::Tree;
use deputize_runtime::port::{RunHead, Store};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The store of the state folder.
pub(crate) const STORE: &str = "store.sqlite3";
/// Paths of other stores that runs were started in, one a line.
const OTHERS: &str = "stores";
/// Candidates that are looked at for an id.
const CANDIDATES: usize = 20;
/// Candidates that a message names.
const NAMED: usize = 5;
/// Characters of an objective in a message.
const OBJECTIVE: usize = 60;

/// One store and where it is.
#[derive(Clone)]
pub(crate) struct Shelf {
    /// The store.
    pub(crate) store: Arc<dyn Store>,
    /// The same, as a file.
    upkeep: wire::Upkeep,
    /// Its file.
    path: PathBuf,
}

impl Shelf {
    /// Opens or makes a store; `path`: another one than that of the state folder.
    pub(crate) fn open(ambient: &Ambient, path: Option<&Path>, sync: wire::Sync) -> Result<Shelf, Fault> {
        let path = path.map_or_else(|| store_path(ambient), Path::to_path_buf);
        let (store, upkeep) = wire::store(&path, sync)?;
        Ok(Shelf { store, upkeep, path })
    }
    /// The file and what is done with it.
    pub(crate) fn upkeep(&self) -> &wire::Upkeep {
        &self.upkeep
    }
    /// Where it is.
    pub(crate) fn place(&self) -> std::path::Display<'_> {
        self.path.display()
    }
    /// Whether both are the same store.
    pub(crate) fn is(&self, other: &Shelf) -> bool {
        self.path == other.path
    }
    /// Locks belong to the store, whichever state folder it was reached from.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
    /// Takes the right to drive a tree; none when another process has it.
    pub(crate) fn lock(&self, root: &RunId) -> Result<Option<wire::Lock>, Fault> {
        wire::Lock::try_acquire(self.folder(), root)
    }
    /// Whether a process drives the tree now.
    pub(crate) fn is_driven(&self, root: &RunId) -> Result<bool, Fault> {
        wire::Lock::is_held(self.folder(), root)
    }
}

/// The store of the state folder, whether it is there or not.
pub(crate) fn store_path(ambient: &Ambient) -> PathBuf {
    ambient.state.join(STORE)
}

/// A run and the store it is in.
pub(crate) struct Found {
    /// Its store.
    pub(crate) shelf: Shelf,
    /// Its line in the list of runs.
    pub(crate) head: RunHead,
}

/// Every store that is there: that of the state folder first.
pub(crate) fn shelves(ambient: &Ambient) -> Result<Vec<Shelf>, Fault> {
    // A state folder that cannot even be looked at is an error; one that is not there yet holds no runs.
    let own = ambient.state.join(STORE);
    let others = std::fs::read_to_string(ambient.state.join(OTHERS)).unwrap_or_default();
    let paths = std::iter::once(own).chain(others.lines().map(PathBuf::from));
    let there = paths.filter(|path| path.is_absolute() && path.try_exists().unwrap_or(true));
    there.map(|path| Shelf::open(ambient, Some(&path), wire::Sync::Full)).collect()
}

/// Notes where a run is kept, so that it is found by its id alone.
pub(crate) fn remember(ambient: &Ambient, shelf: &Shelf) -> Result<(), Fault> {
    let file = ambient.state.join(OTHERS);
    let path = shelf.path.to_string_lossy().into_owned();
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    if shelf.path == ambient.state.join(STORE) || known.lines().any(|line| line == path) {
        return Ok(());
    }
    make_state_folder(ambient)?;
    let failed = |e: std::io::Error| Fault::new("store.failed", format!("{} cannot be written: {e}", file.display()));
    let mut open = std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(&file).map_err(failed)?;
    open.write_all(format!("{path}\n").as_bytes()).map_err(failed)
}

/// Makes the state folder with mode 0700.
pub(crate) fn make_state_folder(ambient: &Ambient) -> Result<(), Fault> {
    wire::private_folder(&ambient.state).map_err(|e| {
        let text = format!("the state folder {} cannot be made: {e}", ambient.state.display());
        Fault::new("store.failed", text).hint("give another one with --home DIR or DEPUTIZE_HOME")
    })
}

/// Finds a run by its id, a unique beginning of it, or `last`; the same for the first part of a child's id.
pub(crate) async fn find(ambient: &Ambient, id: &str) -> Result<Found, Fault> {
    let (first, rest) = id.split_once('/').map_or((id, None), |(first, rest)| (first, Some(rest)));
    let shelves = shelves(ambient)?;
    let mut roots = match first {
        "last" => last(&shelves).await?,
        _ => roots(&shelves, first).await?,
    };
    if roots.len() > 1 {
        return Err(ambiguous(id, &roots));
    }
    let found = roots.pop().ok_or_else(|| unknown(id))?;
    match rest.filter(|rest| !rest.is_empty()) {
        None => Ok(found),
        Some(rest) => child(found, rest, id).await,
    }
}

async fn last(shelves: &[Shelf]) -> Result<Vec<Found>, Fault> {
    let newest = list(shelves, 1).await?.into_iter().next();
    let none = || Fault::new("run.unknown", "there are no runs yet").hint("start one: deputize run \"OBJECTIVE\"");
    newest.map(|found| vec![found]).ok_or_else(none)
}

async fn roots(shelves: &[Shelf], prefix: &str) -> Result<Vec<Found>, Fault> {
    let mut all = Vec::new();
    if prefix.is_empty() {
        return Ok(all);
    }
    for shelf in shelves {
        let heads = shelf.store.find(prefix, CANDIDATES).await?;
        let roots = heads.into_iter().filter(|head| head.run == head.root);
        all.extend(roots.map(|head| Found { shelf: shelf.clone(), head }));
    }
    Ok(exact_or_all(all, prefix))
}

async fn child(root: Found, rest: &str, id: &str) -> Result<Found, Fault> {
    let full = format!("{}/{rest}", root.head.run);
    let heads = root.shelf.store.find(&full, CANDIDATES).await?;
    let all = heads.into_iter().map(|head| Found { shelf: root.shelf.clone(), head }).collect();
    let mut found = exact_or_all(all, &full);
    if found.len() > 1 {
        return Err(ambiguous(id, &found));
    }
    found.pop().ok_or_else(|| unknown(id))
}

fn exact_or_all(mut all: Vec<Found>, id: &str) -> Vec<Found> {
    if let Some(at) = all.iter().position(|found| found.head.run.as_str() == id) {
        return vec![all.swap_remove(at)];
    }
    all
}

/// Root runs of all stores, newest first.
pub(crate) async fn list(shelves: &[Shelf], most: usize) -> Result<Vec<Found>, Fault> {
    let mut all = Vec::new();
    for shelf in shelves {
        let heads = shelf.store.roots(most).await?;
        all.extend(heads.into_iter().map(|head| Found { shelf: shelf.clone(), head }));
    }
    all.sort_by_key(|found| std::cmp::Reverse(found.head.started));
    all.truncate(most);
    Ok(all)
}

/// A tree with all its logs.
pub(crate) async fn tree(shelf: &Shelf, root: &RunId) -> Result<Tree, Fault> {
    let mut logs = Vec::new();
    for head in shelf.store.tree(root).await? {
        let log = shelf.store.read(&head.run, 0).await?;
        logs.push((head.run, log));
    }
    Ok(Tree::new(logs))
}

/// Says which last records were left out because they were only half written. Nothing has to be done about them.
pub(crate) fn report_torn(shelf: &Shelf, out: &Out) {
    for torn in shelf.upkeep.torn() {
        out.note(&format!("a last record that was only half written is left out: {torn}"));
    }
}

/// There is no such run.
pub(crate) fn unknown(id: &str) -> Fault {
    Fault::new("run.unknown", format!("there is no run `{}`", one_line(id, OBJECTIVE)))
        .hint("deputize runs lists them; --home names another state folder")
}

fn ambiguous(id: &str, found: &[Found]) -> Fault {
    let line = |f: &Found| format!("{} ({})", f.head.run, one_line(&f.head.objective, OBJECTIVE));
    let mut named: Vec<String> = found.iter().take(NAMED).map(line).collect();
    if found.len() > NAMED {
        named.push("...".to_string());
    }
    let text = format!("`{}` is the beginning of several runs: {}", one_line(id, OBJECTIVE), named.join(", "));
    Fault::new("run.ambiguous", text).hint("write more characters of the id")
}
