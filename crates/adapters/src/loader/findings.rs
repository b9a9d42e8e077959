//! What has been found out so far during one load: messages, and the texts that they point into.

use super::paths;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::spec::{At, Severity};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Most messages that one reading of one file gives. Nobody reads more, and a hostile file could give a million.
const MAX_OF_A_FILE: usize = 200;

/// The messages and texts of one load.
pub(super) struct Findings {
    pub(super) cwd: PathBuf,
    pub(super) messages: Vec<Message>,
    pub(super) sources: BTreeMap<String, String>,
}

impl Findings {
    pub(super) fn new(cwd: &Path) -> Findings {
        Findings { cwd: cwd.to_path_buf(), messages: Vec::new(), sources: BTreeMap::new() }
    }
    pub(super) fn shown(&self, path: &Path) -> String {
        paths::shown(&self.cwd, path)
    }
    pub(super) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }
    /// Messages of one file.
    pub(super) fn extend(&mut self, file: &str, messages: impl IntoIterator<Item = Message>) {
        let mut messages = messages.into_iter().map(|m| m.file(file));
        self.messages.extend(messages.by_ref().take(MAX_OF_A_FILE));
        let more = messages.count();
        if more > 0 {
            let text = format!("and {more} more messages about this file, which are not shown");
            self.push(Message::new(Level::Error, "file.more", text).file(file));
        }
    }
    /// A choice that was made, about no place.
    pub(super) fn info(&mut self, code: &str, text: impl Into<String>) {
        self.push(Message::new(Level::Info, code, text));
    }
    /// An error about no place.
    pub(super) fn error(&mut self, code: &str, text: impl Into<String>) {
        self.push(Message::new(Level::Error, code, text));
    }
    /// Whether a file has an error already.
    pub(super) fn is_bad(&self, file: &str) -> bool {
        self.messages.iter().any(|m| m.level == Level::Error && m.file.as_deref() == Some(file))
    }

    /// Applies the levels that a team sets, then sorts. An error stays an error.
    pub(super) fn settle(&mut self, levels: &BTreeMap<String, At<Severity>>, file: Option<&str>) {
        let mut kept = Vec::new();
        for mut message in std::mem::take(&mut self.messages) {
            match (levels.get(&message.code).map(|l| l.value), message.level) {
                (Some(Severity::Off), Level::Warning | Level::Info) => continue,
                (Some(Severity::Error), _) => message.level = Level::Error,
                (Some(Severity::Warning), Level::Info) => message.level = Level::Warning,
                _ => {}
            }
            kept.push(message);
        }
        for (code, level) in levels {
            if level.value != Severity::Error && kept.iter().any(|m| &m.code == code && m.level == Level::Error) {
                let text = format!("`check` cannot lower `{code}`: it is an error");
                let message = Message::new(Level::Warning, "check.kept", text).at(level.at);
                kept.push(Message { file: file.map(str::to_string), ..message });
            }
        }
        kept.sort_by(|a, b| (&a.file, a.line, &a.code, a.column).cmp(&(&b.file, b.line, &b.code, b.column)));
        kept.dedup();
        self.messages = kept;
    }
}
