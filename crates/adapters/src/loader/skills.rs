//! Skills: found, read and checked. Nothing of them is used yet, nothing in their folders is run.

use super::files;
use super::find::SKIPPED;
use super::findings::Findings;
use super::front::{self, Form, Split};
use deputize_core::definition::decode;
use deputize_core::definition::keys::File;
use deputize_core::definition::message::{Level, Message};
use deputize_core::definition::node::Place;
use std::fs;
use std::path::{Path, PathBuf};

/// Where skills are, each in a folder of its own.
const FOLDERS: [&str; 4] = ["skills", ".claude/skills", ".agents/skills", ".github/skills"];
/// The file of a skill.
const SKILL: &str = "SKILL.md";
/// Most skills that are looked at; the largest public collection has about 1,750.
const MAX_SKILLS: usize = 5_000;
/// Lines of a skill's text beyond which it should be split.
const MAX_LINES: usize = 500;
/// Longest name.
const MAX_NAME: usize = 64;

/// Looks at every skill of a project.
pub(super) fn check(project: &Path, findings: &mut Findings) {
    let mut names = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| found(&project.join(folder))).take(MAX_SKILLS) {
        names.extend(one(&file, findings));
    }
    if !names.is_empty() {
        let text = format!("skills, which this build does not use yet: {}", names.join(", "));
        findings.info("skill.found", text);
    }
}

fn found(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_SKILLS);
    let mut files: Vec<PathBuf> = entries
        .filter(|e| SKIPPED.iter().all(|s| e.file_name() != *s))
        .map(|e| e.path().join(SKILL))
        .filter(|file| fs::symlink_metadata(file).is_ok())
        .collect();
    files.sort();
    files
}

/// Reads one skill; gives its name when it could be used.
fn one(path: &Path, findings: &mut Findings) -> Option<String> {
    let (file, text) = files::read_for(findings, path)?;
    let top = Place { line: 1, column: 1 };
    let Split::Front { yaml, body } = front::split(&text) else {
        let text = "a skill begins with a front matter between two lines `---`";
        findings.push(Message::new(Level::Error, "frontmatter.open", text).file(&file).at(top));
        return None;
    };
    let read = front::read(&yaml, Form { file: File::Skill, dialect: None });
    let decoded = decode::skill(&read.node);
    let messages: Vec<Message> = read.errors.into_iter().chain(read.repairs).chain(decoded.messages).collect();
    let bad = messages.iter().any(|m| m.level == Level::Error);
    findings.extend(&file, messages);
    let folder = path.parent().and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let name = decoded.spec.name?;
    let mut say = |code: &str, at: Place, text: String| {
        findings.push(Message::new(Level::Warning, code, text).file(&file).at(at));
    };
    if let Some(why) = strange(&name.value) {
        say("skill.name", name.at, format!("`{}` is no name of a skill: {why}", name.value));
    } else if name.value != folder {
        say(
            "skill.name",
            name.at,
            format!("the skill is named `{}` and its folder `{folder}`: they must be the same", name.value),
        );
    }
    let lines = body.lines().count();
    if lines > MAX_LINES {
        say(
            "skill.long",
            top,
            format!("the text has {lines} lines; beyond {MAX_LINES} it should stand in files of its own"),
        );
    }
    (!bad).then_some(name.value)
}

/// Why a name is none: small letters, digits and single inner hyphens.
fn strange(name: &str) -> Option<&'static str> {
    let good = |c: char| c == '-' || c.is_numeric() || (c.is_alphabetic() && c.to_lowercase().eq([c]));
    if name.chars().count() > MAX_NAME {
        Some("it has more than 64 characters")
    } else if !name.chars().all(good) {
        Some("it may hold small letters, digits and hyphens")
    } else if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        Some("hyphens stand single and inside")
    } else {
        None
    }
}
