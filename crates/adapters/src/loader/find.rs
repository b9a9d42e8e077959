//! Where agent files are: the folders that a team loads, walked in a fixed order, each real folder once.

use super::files;
use super::findings::Findings;
use super::paths;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use deputize_core::definition::spec::At;
use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are read when a team names none.
pub(super) const USUAL: [&str; 2] = ["agents", ".claude/agents"];
/// Of these the first that exists, when none of the usual ones does.
pub(super) const FOREIGN: [&str; 3] = [".github/agents", ".gemini/agents", ".opencode/agents"];
/// Folders that hold other people's files by the thousand.
pub(super) const SKIPPED: [&str; 2] = [".git", "node_modules"];
/// Deepest sub-folder; nobody sorts agents deeper, a mistaken `load: [/]` would.
const MAX_DEPTH: usize = 16;
/// Most files, and most folders; the largest public collection has about 2,500 files.
const MAX_FILES: usize = 20_000;

/// A file that may be an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The `load` entry it came from.
    pub(super) source: String,
}

/// Collects files in order of precedence.
pub(super) struct Search {
    found: Vec<Found>,
    folders: BTreeSet<PathBuf>,
    files: BTreeSet<PathBuf>,
    full: bool,
}

impl Search {
    pub(super) fn new() -> Search {
        Search { found: Vec::new(), folders: BTreeSet::new(), files: BTreeSet::new(), full: false }
    }

    pub(super) fn finish(self, findings: &mut Findings) -> Vec<Found> {
        if self.full {
            findings.error(
                "load.too_many",
                format!("more than {MAX_FILES} files or folders are to be searched for agents"),
            );
        }
        self.found
    }

    /// One file.
    pub(super) fn file(&mut self, path: &Path, source: &str) {
        if self.found.len() >= MAX_FILES {
            self.full = true;
        } else if self.files.insert(path.to_path_buf()) {
            self.found.push(Found { path: path.to_path_buf(), source: source.to_string() });
        }
    }

    /// A folder with its sub-folders: files in byte order of their paths.
    pub(super) fn folder(&mut self, folder: &Path, source: &str, findings: &mut Findings) {
        let mut files = Vec::new();
        self.walk(folder, 0, &mut files, findings);
        files.sort_by(|a, b| a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes()));
        for path in files {
            self.file(&path, source);
        }
    }

    fn walk(&mut self, folder: &Path, depth: usize, files: &mut Vec<PathBuf>, findings: &mut Findings) {
        // A folder is known by where it really is, so that a link into itself ends and a linked folder counts once.
        let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
        self.full |= files.len() > MAX_FILES || self.folders.len() > MAX_FILES;
        if self.full || !self.folders.insert(real) {
            return;
        }
        if depth > MAX_DEPTH {
            let text = format!("this folder is more than {MAX_DEPTH} levels deep and is not searched");
            let file = findings.shown(folder);
            return findings.push(Message::new(Level::Warning, "load.too_deep", text).file(file));
        }
        let listed = fs::read_dir(folder).and_then(|entries| entries.map(|e| Ok(e?.path())).collect());
        let mut paths: Vec<PathBuf> = match listed {
            Ok(paths) => paths,
            Err(e) => {
                let text = format!("this folder cannot be read: {}", files::plain(&e));
                let file = findings.shown(folder);
                return findings.push(Message::new(Level::Error, "file.unreadable", text).file(file));
            }
        };
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if SKIPPED.contains(&name.as_str()) {
                continue;
            }
            if path.is_dir() {
                self.walk(&path, depth + 1, files, findings);
            } else if is_markdown(&path) {
                files.push(path);
            }
        }
    }

    /// One entry of `load`: a folder, a file, or a glob over both; `base` is the folder of the configuration.
    pub(super) fn entry(&mut self, base: &Path, entry: &At<String>, config: &str, findings: &mut Findings) {
        let message = |code: &str, level, text: String| Message::new(level, code, text).file(config).at(entry.at);
        let text = entry.value.trim_end_matches('/');
        if !text.contains(['*', '?', '[', '{']) {
            let path = paths::join(base, text);
            if path.is_dir() {
                self.folder(&path, &entry.value, findings);
            } else if fs::symlink_metadata(&path).is_ok() {
                self.file(&path, &entry.value);
            } else {
                findings.push(message("load.missing", Level::Warning, format!("there is no folder `{}`", entry.value)));
            }
            return;
        }
        let glob = match GlobBuilder::new(text).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(e) => {
                let text = format!("`{}` is no glob: {}", entry.value, e.kind());
                return findings.push(message("key.value", Level::Error, text));
            }
        };
        let mut matched = Vec::new();
        self.matches(base, Path::new(""), &glob, 0, &mut matched);
        if matched.is_empty() {
            findings.push(message("load.missing", Level::Warning, format!("nothing matches `{}`", entry.value)));
        }
        for path in matched {
            if path.is_dir() { self.folder(&path, &entry.value, findings) } else { self.file(&path, &entry.value) }
        }
    }

    fn matches(&self, base: &Path, below: &Path, glob: &GlobMatcher, depth: usize, out: &mut Vec<PathBuf>) {
        if depth > MAX_DEPTH || out.len() > MAX_FILES {
            return;
        }
        let folder = base.join(below);
        let mut names: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.file_name()).collect();
        names.sort();
        for name in names.into_iter().filter(|n| !SKIPPED.iter().any(|s| n == s)) {
            let below = below.join(name);
            let path = base.join(&below);
            // Links to folders are not followed by a pattern: they could lead anywhere, and in circles.
            let folder = path.is_dir();
            if glob.is_match(&below) && (folder || is_markdown(&path)) {
                out.push(path);
            } else if folder && !path.is_symlink() {
                self.matches(base, &below, glob, depth + 1, out);
            }
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("md"))
}

/// The `load` entries of a team that names none.
pub(super) fn usual(base: &Path, findings: &mut Findings) -> Vec<At<String>> {
    let entry = |name: &str| At { value: name.to_string(), at: Place::default() };
    let there = |name: &&str| base.join(name).is_dir();
    let usual: Vec<_> = USUAL.iter().filter(|n| there(n)).map(|n| entry(n)).collect();
    if !usual.is_empty() {
        return usual;
    }
    let first = FOREIGN.iter().find(|n| there(n));
    if let Some(name) = first {
        findings.info("load.fallback", format!("no `agents` folder: the agents are read from `{name}`"));
    }
    first.map(|n| entry(n)).into_iter().collect()
}
