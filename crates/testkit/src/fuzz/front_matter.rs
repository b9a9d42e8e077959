//! The front matter of agent files: whatever stands in a file, loading it ends, says something about a file that it does not
//! take, and never gives an agent more tools than the file as it was written.

use deputize_adapters::loader::{LoadRequest, Purpose, load};
use deputize_adapters::tool::BUILTIN;
use deputize_core::definition::message::Message;
use std::path::{Path, PathBuf};

/// Keys that narrow an agent's tools, in the spellings that are read.
const NARROWING: [&str; 3] = ["tools", "allowedtools", "disallowedtools"];

/// A folder with one agent file in it.
pub struct FrontMatter {
    folder: PathBuf,
    file: PathBuf,
    request: LoadRequest,
}

impl FrontMatter {
    /// Works in this folder, which is empty.
    ///
    /// # Panics
    /// Nothing can be written there.
    pub fn new(folder: &Path) -> FrontMatter {
        let agents = folder.join("agents");
        if let Err(e) = std::fs::create_dir_all(&agents) {
            panic!("{}: {e}", agents.display());
        }
        let tools = BUILTIN.iter().map(|tool| tool.spec()).collect();
        let request =
            LoadRequest { purpose: Purpose::Check, cwd: folder.to_path_buf(), tools, ..LoadRequest::default() };
        FrontMatter { folder: folder.to_path_buf(), file: agents.join("it.md"), request }
    }

    /// Loads a file of these bytes.
    ///
    /// # Panics
    /// On a finding.
    pub fn check(&self, bytes: &[u8]) {
        if let Err(e) = std::fs::write(&self.file, bytes) {
            panic!("{}: {e}", self.folder.display());
        }
        let loaded = load(&self.request);
        let about: Vec<&Message> =
            loaded.messages.iter().filter(|m| m.file.as_deref() == Some("agents/it.md")).collect();
        let Some(agent) = loaded.agents.iter().find(|a| a.file.as_deref() == Some("agents/it.md")) else {
            assert!(!about.is_empty(), "the file vanished without a word");
            return;
        };
        assert!(!agent.description.trim().is_empty(), "the description vanished");
        let name = agent.name.to_string();
        assert!(!name.contains(['/', '\\', '\0']) && name != "..", "the name {name:?} is a path");
        let beyond = |tool: &&String| !BUILTIN.iter().any(|known| known.spec().name.as_str() == tool.as_str());
        assert_eq!(agent.tools_resolved.iter().find(beyond), None, "a tool that is not there");
        let text = String::from_utf8_lossy(bytes);
        let narrowed = narrowing(&text);
        let said = about.iter().any(|m| m.text.to_lowercase().contains("tools"));
        let inherits = agent.tools.is_null() && agent.disallowed.is_empty();
        assert!(
            narrowed.is_none() || !inherits || said,
            "line {narrowed:?} narrows the tools and was lost without a word"
        );
    }
}

/// The first line of the front matter that begins with a narrowing key and gives it a value.
fn narrowing(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    let opens = lines.next().is_some_and(|line| line.trim_end() == "---");
    let body = lines.take_while(|line| line.trim_end() != "---");
    let narrows = |line: &&str| {
        let Some((key, value)) = line.split_once(':') else { return false };
        let folded: String = key.chars().filter(|c| !"-_\"' ".contains(*c)).collect::<String>().to_lowercase();
        !key.starts_with([' ', '\t', '#'])
            && NARROWING.contains(&folded.as_str())
            && value.starts_with(' ')
            && !value.trim().is_empty()
    };
    if opens { body.into_iter().find(narrows) } else { None }
}
