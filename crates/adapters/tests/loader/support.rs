//! A folder to load from, and short ways to ask what came of it.

use deputize_adapters::loader::{LoadRequest, Loaded, Purpose, Setup, load};
use deputize_adapters::tool::BUILTIN;
use deputize_core::definition::codes::is_code;
use deputize_core::definition::message::{Level, Message};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder of files, loaded as the current folder.
pub(crate) struct Folder {
    pub(crate) dir: TempDir,
    pub(crate) request: LoadRequest,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().to_path_buf();
        let tools = BUILTIN.iter().map(|t| t.spec()).collect();
        let request = LoadRequest { purpose: Purpose::Check, cwd, tools, ..LoadRequest::default() };
        Folder { dir, request }
    }
    /// With a file.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Folder {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }
    /// With an agent whose front matter has these lines beside the two required ones.
    pub(crate) fn agent(self, name: &str, more: &str) -> Folder {
        let text = format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nYou do {name}.\n");
        self.file(&format!("agents/{name}.md"), text)
    }
    /// With a changed request.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut LoadRequest)) -> Folder {
        change(&mut self.request);
        self
    }
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
    pub(crate) fn load(&self) -> Loaded {
        let loaded = load(&self.request);
        // Whatever a test is about: no message has a code that is not in the list.
        let strange = loaded.messages.iter().find(|m| !is_code(&m.code));
        assert!(strange.is_none(), "{strange:?}");
        loaded
    }
    /// The setup of a team without errors.
    pub(crate) fn setup(&self) -> Setup {
        let loaded = self.load();
        loaded.setup.unwrap_or_else(|| panic!("{}", lines(&loaded.messages, Level::Error).join("\n")))
    }
}

/// Messages of a level as `file:line:column code text`.
pub(crate) fn lines(messages: &[Message], level: Level) -> Vec<String> {
    let number = |n: Option<u32>| n.map_or("-".to_string(), |n| n.to_string());
    let line = |m: &Message| {
        let file = m.file.clone().unwrap_or("-".into());
        format!("{file}:{}:{} {} {}", number(m.line), number(m.column), m.code, m.text)
    };
    messages.iter().filter(|m| m.level == level).map(line).collect()
}

/// Codes of the errors and warnings, in order.
pub(crate) fn codes(loaded: &Loaded) -> Vec<&str> {
    loaded.messages.iter().filter(|m| m.level != Level::Info).map(|m| m.code.as_str()).collect()
}

/// Whether one message of this code is there.
pub(crate) fn has(loaded: &Loaded, level: Level, code: &str) -> bool {
    loaded.messages.iter().any(|m| m.level == level && m.code == code)
}
