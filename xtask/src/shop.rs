//! Where the repository is, which files it has, and how cargo is called in it.

use crate::fault::{Fault, Result};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository that the chores work on.
pub(crate) struct Shop {
    /// Its root folder.
    pub(crate) root: PathBuf,
    cargo: OsString,
}

impl Shop {
    /// The repository that this program was started from.
    pub(crate) fn here() -> Result<Shop> {
        let manifest =
            std::env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| Fault::new("start the chores with `cargo xtask`"))?;
        let root = Path::new(&manifest).parent().ok_or_else(|| Fault::new("the xtask package has no parent folder"))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        Ok(Shop { root: root.to_path_buf(), cargo })
    }

    /// A cargo command in the root folder. The variables of this program's own package are taken out, so that
    /// build scripts see what they would see from a shell.
    pub(crate) fn cargo(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.root).args(words);
        for (name, _) in std::env::vars_os() {
            let own = name.to_string_lossy();
            if own.starts_with("CARGO_PKG_") || own.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// `cargo metadata` with further words, as JSON.
    pub(crate) fn metadata(&self, words: &[&str]) -> Result<Value> {
        let mut all = vec!["metadata", "--format-version", "1", "--locked", "--quiet"];
        all.extend_from_slice(words);
        let output =
            self.cargo(&all).output().map_err(|cause| Fault::new(format!("cargo metadata does not start: {cause}")))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Fault::new(format!("cargo metadata: {}", said.trim())));
        }
        serde_json::from_slice(&output.stdout).map_err(|cause| Fault::new(format!("cargo metadata: {cause}")))
    }

    /// The text of a file, by its path from the root.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        let path = self.root.join(path);
        fs::read_to_string(&path).map_err(|cause| Fault::at(&path, cause))
    }

    /// All files whose name ends in one of the extensions, by path from the root with `/`, sorted.
    pub(crate) fn files(&self, extensions: &[&str]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            for (name, is_folder) in entries(&self.root.join(&folder))? {
                let path = join(&folder, &name);
                if is_folder {
                    if !skipped(&name) {
                        folders.push(path);
                    }
                } else if has_extension(&name, extensions) {
                    found.push(path);
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Build output, hidden folders and recorded data are not ours to judge.
fn skipped(folder: &str) -> bool {
    folder.starts_with('.') || folder == "target" || folder == "fixtures"
}

fn has_extension(name: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(name).extension().and_then(|text| text.to_str());
    extension.is_some_and(|text| extensions.contains(&text))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn entries(folder: &Path) -> Result<Vec<(String, bool)>> {
    let fault = |cause| Fault::at(folder, cause);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let kind = entry.file_type().map_err(fault)?;
        if let Some(name) = entry.file_name().to_str()
            && !kind.is_symlink()
        {
            found.push((name.to_owned(), kind.is_dir()));
        }
    }
    Ok(found)
}
