//! Agent files: each is read alone, so that one bad file never takes the others down; of two with one name the earlier wins.

use super::dialect;
use super::files;
use super::find::Found;
use super::findings::Findings;
use super::front::{self, Form, Split};
use deputize_core::definition::decode;
use deputize_core::definition::keys::{Dialect, File};
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::name;
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
    /// Whether `*` means it.
    pub(super) fn offered(&self) -> bool {
        !self.spec.standalone
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
    /// What those whose file has errors may be called: who refers to them needs no second complaint.
    pub(super) failed: Vec<String>,
}

impl Agents {
    /// Whether every file that is an agent loaded, so that something can be concluded from all of them.
    pub(super) fn complete(&self) -> bool {
        self.failed.is_empty()
    }

    /// Whether a name means an agent whose file has errors.
    pub(super) fn has_failed(&self, wanted: &str) -> bool {
        self.failed.iter().any(|f| name::find_among(wanted, [(f.as_str(), ())]).is_some())
    }
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
    let path = &found.path;
    let dialect = dialect::of(path);
    let skipped = |text: &str, findings: &mut Findings| {
        let file = findings.shown(path);
        findings.push(Message::new(Level::Info, "file.skipped", text).file(file));
    };
    if let Some(why) = dialect.and_then(|d| dialect::passed_over(d, path)) {
        skipped(why, findings);
        return None;
    }
    // What is surely no agent is not read, however big it is.
    if files::begins_with_fence(path) == Some(false) && !starts_late(path) {
        skipped(NO_FENCE, findings);
        return None;
    }
    let Some((file, text)) = files::read_for(findings, path) else {
        failed.extend(stem(path));
        return None;
    };
    let from = From { file: &file, path, dialect };
    let agent = parse(&from, &text, findings, failed)?;
    Some(Agent { path: Some(path.clone()), source: found.source.clone(), ..agent })
}

/// What is said of a file without front matter.
const NO_FENCE: &str = "no agent: the file does not begin with a `---` line";

/// What an agent file that cannot be read is likely called.
fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(name.split('.').next().unwrap_or_default().to_string())
}

/// Where the text of an agent comes from.
pub(super) struct From<'a> {
    /// In messages.
    pub(super) file: &'a str,
    pub(super) path: &'a Path,
    pub(super) dialect: Option<Dialect>,
}

/// Whether a front matter may follow after blank lines, as the beginning of the file shows.
fn starts_late(path: &Path) -> bool {
    files::read(path).is_ok_and(|text| front::split(&text) == Split::Late)
}

/// Cuts an agent file at its fences; complains and gives nothing when there is nothing to cut.
fn cut(file: &str, text: &str, findings: &mut Findings) -> Result<(String, String), Failed> {
    let top = Place { line: 1, column: 1 };
    let mut say = |level, code: &str, text: &str, hint: Option<&str>| {
        let message = Message::new(level, code, text).file(file).at(top);
        findings.push(hint.into_iter().fold(message, |m, h| m.hint(h)));
    };
    match front::split(text) {
        Split::Front { yaml, body } => return Ok((yaml, body)),
        Split::Open => {
            let text = "the front matter never closes: no line below is `---`";
            say(Level::Error, "frontmatter.open", text, Some("put a line `---` between the keys and the prompt"));
            return Err(Failed::Error);
        }
        Split::Late => {
            let text = "no agent: a front matter must begin on the first line, and here lines stand before it";
            say(Level::Warning, "frontmatter.late", text, None);
        }
        Split::None => say(Level::Info, "file.skipped", NO_FENCE, None),
    }
    Err(Failed::NoAgent)
}

/// Why a file gives no agent.
#[derive(PartialEq, Eq)]
enum Failed {
    Error,
    NoAgent,
}

/// Reads the text of an agent file; complains about all that is wrong with it, and gives nothing when an error is in it.
pub(super) fn parse(from: &From<'_>, text: &str, findings: &mut Findings, failed: &mut Vec<String>) -> Option<Agent> {
    let file = from.file;
    let (yaml, body) = match cut(file, text, findings) {
        Ok(cut) => cut,
        Err(why) => {
            failed.extend(stem(from.path).filter(|_| why == Failed::Error));
            return None;
        }
    };
    let read = front::read(&yaml, Form { file: File::Agent, dialect: from.dialect });
    let mut bad = !read.errors.is_empty();
    let repaired = !read.repairs.is_empty();
    findings.extend(file, read.errors.into_iter().chain(read.repairs));
    let (mut node, mut standalone) = (read.node, false);
    if let Some(dialect) = from.dialect {
        let translated = dialect::translate(dialect, from.path, node);
        if let Some(why) = translated.skipped {
            findings.push(why.file(file));
            return None;
        }
        bad |= translated.messages.iter().any(|m| m.level == Level::Error);
        findings.extend(file, translated.messages);
        (node, standalone) = (translated.node, translated.standalone);
    }
    let decoded = decode::agent(&node);
    bad |= decoded.messages.iter().any(|m| m.level == Level::Error);
    findings.extend(file, decoded.messages);
    let mut spec = decoded.spec;
    if bad {
        failed.extend(spec.name.map(|At { value, .. }| value).into_iter().chain(stem(from.path)));
        return None;
    }
    if body.is_empty() {
        let text = "the agent has no prompt: nothing stands below its front matter";
        let top = Place { line: 1, column: 1 };
        findings.push(Message::new(Level::Info, "body.empty", text).file(file).at(top));
    }
    spec.definition.body = body;
    spec.standalone = standalone;
    Some(Agent { path: None, file: file.to_string(), source: String::new(), spec, repaired })
}
