//! Agent files: each is read alone, so that one bad file never takes the others down; of two with one name the earlier wins.

use super::files;
use super::find::Found;
use super::findings::Findings;
use super::front::{self, Split};
use deputize_core::definition::decode;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use deputize_core::definition::spec::{AgentSpec, At};
use std::path::{Path, PathBuf};

/// An agent file that can be read.
pub(super) struct Agent {
    /// Its file, absolute; a built-in one has none.
    pub(super) path: Option<PathBuf>,
    /// The name of its file in messages.
    pub(super) file: String,
    /// The `load` entry it came from.
    pub(super) source: String,
    pub(super) spec: AgentSpec,
    pub(super) repaired: bool,
}

impl Agent {
    pub(super) fn name(&self) -> &str {
        self.spec.definition.name.as_str()
    }
    /// Where its name stands.
    pub(super) fn name_at(&self) -> Place {
        self.spec.name.as_ref().map_or(Place { line: 1, column: 1 }, |n| n.at)
    }
    /// Its name as written.
    pub(super) fn written(&self) -> &str {
        self.spec.name.as_ref().map_or("", |n| n.value.as_str())
    }
}

/// What became of all files.
#[derive(Default)]
pub(super) struct Agents {
    /// Those that loaded, in order of precedence, each name once.
    pub(super) loaded: Vec<Agent>,
    /// Names of those whose file has errors: who refers to them needs no second complaint.
    pub(super) failed: Vec<String>,
}

/// Reads every file that was found.
pub(super) fn read(found: &[Found], findings: &mut Findings) -> Agents {
    let mut agents = Agents::default();
    for file in found {
        let Some(agent) = one(file, findings, &mut agents.failed) else { continue };
        match agents.loaded.iter().find(|a| a.name() == agent.name()) {
            None => agents.loaded.push(agent),
            Some(first) => {
                let text = format!(
                    "`{}` of {} is used; the one of this file ({}) is not",
                    agent.name(),
                    first.file,
                    agent.file
                );
                let message =
                    Message::new(Level::Warning, "agent.shadowed", text).file(&agent.file).at(agent.name_at());
                findings.push(message.hint("give one of the two another name"));
            }
        }
    }
    agents
}

fn one(found: &Found, findings: &mut Findings, failed: &mut Vec<String>) -> Option<Agent> {
    // What is surely no agent is not read, however big it is.
    if files::begins_with_fence(&found.path) == Some(false) && !starts_late(&found.path) {
        let text = "no agent: the file does not begin with a `---` line";
        let file = findings.shown(&found.path);
        findings.push(Message::new(Level::Info, "file.skipped", text).file(file));
        return None;
    }
    let (file, text) = files::read_for(findings, &found.path)?;
    let agent = parse(&file, &text, findings, failed)?;
    Some(Agent { path: Some(found.path.clone()), source: found.source.clone(), ..agent })
}

/// Whether a front matter may follow after blank lines, as the beginning of the file shows.
fn starts_late(path: &Path) -> bool {
    files::read(path).is_ok_and(|text| front::split(&text) == Split::Late)
}

/// Reads the text of an agent file; complains and gives nothing when an error is in it.
pub(super) fn parse(file: &str, text: &str, findings: &mut Findings, failed: &mut Vec<String>) -> Option<Agent> {
    let top = Place { line: 1, column: 1 };
    let complaint = |level, code: &str, text: &str| Message::new(level, code, text).file(file).at(top);
    let (yaml, body) = match front::split(text) {
        Split::Front { yaml, body } => (yaml, body),
        Split::Open => {
            let text = "the front matter never closes: no line below is `---`";
            let hint = "put a line `---` between the keys and the prompt";
            findings.push(complaint(Level::Error, "frontmatter.open", text).hint(hint));
            return None;
        }
        Split::Late => {
            let text = "no agent: a front matter must begin on the first line, and here lines stand before it";
            findings.push(complaint(Level::Warning, "frontmatter.late", text));
            return None;
        }
        Split::None => {
            findings.push(complaint(
                Level::Info,
                "file.skipped",
                "no agent: the file does not begin with a `---` line",
            ));
            return None;
        }
    };
    let read = match front::read(&yaml) {
        Ok(read) => read,
        Err(messages) => {
            findings.extend(file, messages);
            failed.extend(Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()));
            return None;
        }
    };
    let decoded = decode::agent(&read.node);
    let bad = decoded.messages.iter().any(|m| m.level == Level::Error);
    let repaired = !read.repairs.is_empty();
    findings.extend(file, read.repairs);
    findings.extend(file, decoded.messages);
    let mut spec = decoded.spec;
    if bad {
        failed.extend(spec.name.map(|At { value, .. }| value));
        return None;
    }
    if body.is_empty() {
        findings.push(complaint(
            Level::Info,
            "body.empty",
            "the agent has no prompt: nothing stands below its front matter",
        ));
    }
    spec.definition.body = body;
    Some(Agent { path: None, file: file.to_string(), source: String::new(), spec, repaired })
}
