//! Where a source file stands: which crate, which module, test or not. Read off the path alone.

/// The place of a file in the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The crate's name in paths, such as `deputize_core`.
    pub(crate) krate: String,
    /// The module path inside the crate; empty for the root.
    pub(crate) module: Vec<String>,
    /// Whether the file holds tests only.
    pub(crate) test: bool,
}

impl Place {
    /// The place of a path such as `crates/core/src/run/state.rs`.
    pub(crate) fn of(path: &str) -> Place {
        let mut parts: Vec<&str> = path.split('/').collect();
        let stem = parts.pop().and_then(|name| name.strip_suffix(".rs")).unwrap_or_default();
        let (krate, rest) = match parts.as_slice() {
            ["crates", folder, rest @ ..] => (crate_name(folder), rest),
            [folder, rest @ ..] => ((*folder).to_owned(), rest),
            [] => (String::new(), &[][..]),
        };
        let test = is_test_name(stem) || rest.iter().any(|part| is_test_name(part) || *part == "benches");
        Place { krate, module: module(rest, stem), test }
    }

    /// Whether the file is product code of the given crate.
    pub(crate) fn is_code_of(&self, krate: &str) -> bool {
        !self.test && self.krate == krate
    }
}

/// A module or file of this name holds tests only.
pub(crate) fn is_test_name(name: &str) -> bool {
    name == "tests" || name.ends_with("_tests")
}

/// The folder `deputize` is the facade crate of that name, every other one has the prefix.
fn crate_name(folder: &str) -> String {
    if folder == "deputize" { folder.to_owned() } else { format!("deputize_{folder}") }
}

fn module(folders: &[&str], stem: &str) -> Vec<String> {
    let inner = match folders {
        ["src", inner @ ..] => inner,
        other => other,
    };
    let mut module: Vec<String> = inner.iter().map(|part| (*part).to_owned()).collect();
    let names_its_folder = stem == "mod" || (module.is_empty() && matches!(stem, "lib" | "main"));
    if !names_its_folder {
        module.push(stem.to_owned());
    }
    module
}

#[cfg(test)]
mod tests;
