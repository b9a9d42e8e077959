//! One workspace: finds paths in it and says what may be done there. Every file operation of every tool passes here, and
//! nothing else in the tools opens a path.

pub(super) mod beneath;
pub(super) mod entries;
pub(super) mod fault;
pub(super) mod names;
pub(super) mod replace;
pub(super) mod walk;
pub(super) mod written;

use crate::tool::aside::Stop;
use crate::tool::text;
use beneath::{Facts, Kind, Lost, Place};
use deputize_core::policy::{self, Layer, Layers, Shown, Use};
use deputize_core::step::Failure;
use entries::EntryKind;
use rustix::fs::{CWD, Mode, OFlags, fstat, openat};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use written::Written;

/// How many names of a folder are compared with a name that is missing.
const COMPARED: usize = 5_000;
/// How many near names are told.
const NEAR: usize = 3;

/// Why a folder cannot be a workspace.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not there, is no folder, or may not be read.
    #[error("the workspace {} cannot be opened: {why}", .path.display())]
    Folder {
        /// The folder as given.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
}

/// A folder that file tools are bound to.
pub(super) struct Folder {
    root: Arc<OwnedFd>,
    /// Its absolute path, links resolved.
    real: PathBuf,
    /// Its absolute path as it was given.
    given: PathBuf,
    /// The built-in rules, and what the program was told to protect.
    builtin: Layer,
    /// Held from the look at a file to its replacement, so that two edits in one process never lose one of them.
    writing: Mutex<()>,
}

/// The folder as one call may use it: under the built-in rules and the lists of the run that calls.
pub(super) struct Workspace {
    folder: Arc<Folder>,
    layers: Layers,
    /// Files that have further names and may not be read by one of them; looked for when it matters.
    hidden: OnceCell<names::Hidden>,
}

/// A path that was found and may be used for what it was asked for.
#[derive(Debug)]
pub(super) struct Found {
    /// As the model wrote it.
    pub(super) written: Written,
    /// Where that is.
    pub(super) place: Place,
}

impl Folder {
    /// Takes a folder as workspace. Nothing writes `protected`, nor anything below it; what lies outside is protected anyway.
    pub(super) fn open(path: &Path, protected: &[&Path]) -> Result<Folder, OpenError> {
        let failed = |why: io::Error| OpenError::Folder { path: path.to_path_buf(), why };
        let given = std::path::absolute(path).map_err(failed)?;
        let real = path.canonicalize().map_err(failed)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = openat(CWD, &real, flags, Mode::empty()).map_err(|why| failed(why.into()))?;
        let protected: BTreeSet<String> = protected.iter().flat_map(|path| below(path, &[&real, &given])).collect();
        let builtin = policy::builtin_protecting(protected.iter().map(String::as_str));
        Ok(Folder { root: Arc::new(root), real, given, builtin, writing: Mutex::new(()) })
    }
}

/// A path to protect, and where it leads, from the workspace down.
fn below(path: &Path, roots: &[&Path]) -> Vec<String> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let inside = |form: &Path| match roots.iter().find_map(|root| form.strip_prefix(root).ok()) {
        Some(below) => Some(below.to_string_lossy().into_owned()),
        None if form.is_relative() => Some(form.to_string_lossy().into_owned()),
        None => None,
    };
    [path, &real].into_iter().filter_map(inside).collect()
}

impl Workspace {
    /// The folder under these lists.
    pub(super) fn new(folder: Arc<Folder>, layers: Layers) -> Workspace {
        Workspace { folder, layers, hidden: OnceCell::new() }
    }

    /// The absolute forms of the workspace.
    pub(super) fn roots(&self) -> [&Path; 2] {
        [&self.folder.real, &self.folder.given]
    }

    /// Waits for the right to change files. One writer that broke down has left no half-written file behind.
    pub(super) fn turn(&self) -> MutexGuard<'_, ()> {
        self.folder.writing.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Finds a path that may be used in all these ways; the path as written and the real one must both pass.
    pub(super) fn find(&self, raw: &str, uses: &[Use]) -> Result<Found, Failure> {
        let written = Written::parse(raw, &self.roots())?;
        let path = written.parts.join("/");
        self.permit(&written, &path, uses, false)?;
        let names = written.parts.iter().map(OsString::from);
        let place = beneath::find(&self.folder.root, &self.roots(), names).map_err(|lost| explain(&written, &lost))?;
        let real = joined(&place.real);
        let uses = place.uses(uses);
        self.permit(&written, &path, &uses, false)?;
        self.permit(&written, &real, &uses, real != path)?;
        if written.folder && matches!(place.kind, Kind::File(_) | Kind::Special(_)) {
            return Err(explain(&written, &Lost::NoFolder));
        }
        Ok(Found { written, place })
    }

    /// What the lists say against a use of a path, from the workspace down.
    fn refuses(&self, usage: Use, path: &str) -> Option<policy::Decision<'_>> {
        let builtin = self.folder.builtin.refuses(usage, path);
        policy::strictest(builtin.into_iter().chain(self.layers.refuses(usage, path)))
    }

    fn permit(&self, written: &Written, path: &str, uses: &[Use], linked: bool) -> Result<(), Failure> {
        match uses.iter().find_map(|usage| Some((*usage, self.refuses(*usage, path)?))) {
            None => Ok(()),
            Some((usage, decision)) => {
                let (code, why) = decision.refusal(usage.access(), Shown { path: &written.shown, linked });
                Err(Failure::fixed(code, why))
            }
        }
    }

    /// Whether a place that was found for another use may be used in this way, too.
    pub(super) fn permits(&self, found: &Found, usage: Use) -> bool {
        self.allows(usage, &found.written.parts.join("/"), &joined(&found.place.real))
    }

    /// Whether a use is allowed by both forms of a path.
    fn allows(&self, usage: Use, written: &str, real: &str) -> bool {
        [written, real].iter().all(|path| self.refuses(usage, path).is_none())
    }

    /// Whether an entry of a folder may be told of; `written` and `real` are the forms of its path. Where a link leads is
    /// another question.
    fn tells(&self, kind: EntryKind, written: &str, real: &str) -> bool {
        let usage = if matches!(kind, EntryKind::Folder | EntryKind::Link) { Use::List } else { Use::Read };
        self.allows(usage, written, real)
    }

    /// As [`Workspace::tells`] for an entry of a folder that was found.
    pub(super) fn tells_entry(&self, folder: &Found, name: &OsStr, kind: EntryKind) -> bool {
        let name = name.to_string_lossy();
        let below = |base: String| if base.is_empty() { name.to_string() } else { format!("{base}/{name}") };
        self.tells(kind, &below(folder.written.parts.join("/")), &below(joined(&folder.place.real)))
    }

    /// Where a link in a folder leads, if that may be told: none for a link that leads nowhere.
    pub(super) fn link(&self, real: &[OsString], name: OsString) -> Result<Option<Place>, Hidden> {
        let path = real.iter().cloned().chain([name]);
        match beneath::find(&self.folder.root, &self.roots(), path) {
            Ok(place) if place.uses(&[Use::List]).iter().any(|u| self.refuses(*u, &joined(&place.real)).is_some()) => {
                Err(Hidden)
            }
            Ok(place) if matches!(place.kind, Kind::Missing(_)) => Ok(None),
            Ok(place) => Ok(Some(place)),
            Err(Lost::Outside) => Err(Hidden),
            Err(_) => Ok(None),
        }
    }

    /// Checks a file that is open for reading: its other names must be open, too. Asked of the open file, so that a name
    /// that was swapped meanwhile gains nothing.
    fn readable(&self, file: &File, shown: &str, stop: &Stop) -> Result<(), Failure> {
        let stat = fstat(file).map_err(|error| fault::system(shown, "read", error))?;
        if !beneath::shared(&stat) {
            return Ok(());
        }
        let hidden = self.hidden.get_or_init(|| names::hidden(self, stop));
        stop.failing()?;
        if hidden.has(&stat) { Err(fault::other_name(shown)) } else { Ok(()) }
    }

    /// Opens a folder by its real path below a place, following no link.
    fn descend(&self, base: &OwnedFd, below: &Path) -> Result<OwnedFd, Lost> {
        let mut folder = base.try_clone().map_err(|_| Lost::Changed)?;
        for name in below.iter() {
            folder = beneath::step(&folder, name)?;
        }
        Ok(folder)
    }
}

impl Place {
    /// How it is used when it is asked for in these ways: only a folder is listed.
    fn uses(&self, uses: &[Use]) -> Vec<Use> {
        let folder = matches!(self.kind, Kind::Folder(_));
        uses.iter().map(|usage| if *usage == Use::List && !folder { Use::Read } else { *usage }).collect()
    }
}

/// A link that leads out of the workspace or to a denied place.
#[derive(Debug)]
pub(super) struct Hidden;

impl Found {
    /// The facts of a regular file.
    pub(super) fn file(&self, workspace: &Workspace) -> Result<Facts, Failure> {
        let shown = &self.written.shown;
        match &self.place.kind {
            Kind::File(facts) => Ok(*facts),
            Kind::Folder(_) => Err(fault::failed(format!("{shown} is a folder: use ls to see what is in it"))),
            Kind::Special(what) => Err(fault::failed(format!("{shown} is {what}, not a regular file"))),
            Kind::Missing(_) => Err(self.missing(workspace)),
        }
    }

    /// The handle of a folder.
    pub(super) fn folder(&self, workspace: &Workspace) -> Result<Arc<OwnedFd>, Failure> {
        let shown = &self.written.shown;
        match &self.place.kind {
            Kind::Folder(folder) => Ok(Arc::clone(folder)),
            Kind::File(_) => Err(fault::failed(format!("{shown} is a file, not a folder: use read_file"))),
            Kind::Special(what) => Err(fault::failed(format!("{shown} is {what}, not a folder"))),
            Kind::Missing(_) => Err(self.missing(workspace)),
        }
    }

    /// Opens the regular file to read it.
    pub(super) fn open(&self, workspace: &Workspace, stop: &Stop) -> Result<File, Failure> {
        let file = self.place.open().map_err(|lost| explain(&self.written, &lost))?;
        workspace.readable(&file, &self.written.shown, stop)?;
        Ok(file)
    }

    /// A path below this one, as a model can give it to another tool.
    pub(super) fn below(&self, path: &Path) -> String {
        let names = path.iter().map(OsStr::to_string_lossy);
        let names = self.written.parts.iter().map(|part| Cow::Borrowed(part.as_str())).chain(names);
        names.collect::<Vec<_>>().join("/")
    }

    /// Whether it is in git's own folder.
    pub(super) fn in_git(&self) -> bool {
        self.place.real.iter().any(|name| name.eq_ignore_ascii_case(".git"))
    }

    /// Says that the place does not exist, and what stands near it.
    fn missing(&self, workspace: &Workspace) -> Failure {
        let shown = &self.written.shown;
        let Kind::Missing(rest) = &self.place.kind else { return fault::failed(format!("{shown} exists")) };
        let at = self.written.parts.len().saturating_sub(rest.len() + 1);
        let above = self.written.parts.get(..at).unwrap_or_default();
        let real = self.place.real.get(..self.place.real.len().saturating_sub(rest.len() + 1)).unwrap_or_default();
        let mut why = format!("{shown} does not exist in the workspace");
        if !rest.is_empty() {
            let folder = self.written.parts.get(..=at).unwrap_or_default();
            why.push_str(&format!(": there is no folder {}", text::shown(&folder.join("/"))));
        }
        let below = |folder: &[String], name: &str| {
            folder.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join("/")
        };
        let real: Vec<String> = real.iter().map(|name| name.to_string_lossy().into_owned()).collect();
        let entries = entries::read(&*self.place.parent, COMPARED, &Stop::default()).unwrap_or_default();
        let names = entries.list.iter().filter_map(|entry| {
            let name = entry.name.to_string_lossy();
            workspace.tells(entry.kind, &below(above, &name), &below(&real, &name)).then_some(name)
        });
        let near = text::nearest(&self.place.name.to_string_lossy(), names, NEAR);
        if !near.is_empty() {
            let near: Vec<String> = near.iter().map(|name| text::shown(&below(above, name))).collect();
            why.push_str(&format!("; near it: {}", near.join(", ")));
        }
        fault::failed(why)
    }
}

/// A path that was lost on the way, in a sentence.
pub(super) fn explain(written: &Written, lost: &Lost) -> Failure {
    let shown = &written.shown;
    match lost {
        Lost::Outside => fault::outside(shown),
        Lost::Circle => fault::failed(format!("{shown} cannot be used: its links lead in a circle")),
        Lost::Dangling => fault::failed(format!("{shown} cannot be used: a link in it leads to nothing")),
        Lost::NoFolder => {
            fault::failed(format!("{shown} cannot be used: a part of it before a `/` is a file, not a folder"))
        }
        Lost::Changed => fault::failed(format!("{shown} was changed by somebody else at this moment; try again")),
        Lost::System(error) => fault::system(shown, "used", *error),
    }
}

/// A real path as text, for the rules.
fn joined(path: &[OsString]) -> String {
    path.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests;
