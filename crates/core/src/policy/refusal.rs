//! The sentence of a refusal: which path, which rule of which list, why, and for a rule that asks how to allow it. A path
//! that was reached through a link is told apart, so that no sentence says where it leads.

use super::{Access, Decision, Layer, Permission, Source};
use crate::code::{self, Code};

/// The most patterns that a sentence quotes, and the longest quote and reason, in characters.
const QUOTED: usize = 4;
const QUOTE: usize = 40;
const REASON: usize = 80;

/// The path in a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// As the model wrote it, made safe for a sentence.
    pub path: &'a str,
    /// What was refused is not this path but the place that it leads to.
    pub linked: bool,
}

impl Decision<'_> {
    /// The reason code and one sentence.
    pub fn refusal(&self, access: Access, shown: Shown<'_>) -> (Code, String) {
        let (verb, path) = (access.participle(), shown.path);
        let to = if shown.linked { "it leads to a place where " } else { "" };
        let because = self.because(access, shown.linked);
        if self.mode == Permission::Ask {
            let how = self.layer.how_to_allow();
            let why =
                format!("{path} may only be {verb} if a person approves, and nobody can be asked: {to}{because}{how}");
            return (code::APPROVAL_UNAVAILABLE, why);
        }
        (code::PERMISSION_DENIED, format!("{path} may not be {verb}: {to}{because}"))
    }

    /// `rule 2 of the project denies it (`/secrets/`): REASON`.
    fn because(&self, access: Access, linked: bool) -> String {
        let source = &self.layer.source;
        let Some((at, rule)) = self.rule.zip(self.matched()) else {
            let open = if linked { String::new() } else { self.layer.open(access) };
            return format!("no rule of {source} allows it{open}");
        };
        let asks = if rule.mode == Permission::Ask { "asks" } else { "denies it" };
        // Of a link the pattern would tell where it leads.
        let glob = self.glob.filter(|_| !linked);
        let paths = glob.map_or_else(String::new, |glob| format!(" ({})", quoted(&[glob])));
        let reason = rule.reason.as_ref().map_or_else(String::new, |why| format!(": {}", code::clip(why, REASON)));
        format!("rule {} of {source} {asks}{paths}{reason}", at + 1)
    }
}

impl Access {
    /// The word in a sentence: `may not be read`.
    pub fn participle(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "written",
        }
    }
}

impl Layer {
    /// What the list allows, for somebody who met none of it.
    fn open(&self, access: Access) -> String {
        let allows = |rule: &&super::Rule| rule.mode == Permission::Allow && rule.operations.contains(&access);
        let globs: Vec<&super::Glob> = self.rules.iter().filter(allows).flat_map(|rule| &rule.paths).collect();
        if globs.is_empty() { String::new() } else { format!(", it allows {}", quoted(&globs)) }
    }

    fn how_to_allow(&self) -> String {
        let before = "; to allow it, put a rule with `mode: allow` before that one in";
        match &self.source {
            Source::Project => format!("{before} deputize.yaml"),
            Source::Agent(name) => format!("{before} the file of {name}"),
            Source::Delegation(_) => "; to allow it, delegate without that rule".into(),
            // The reasons of the program's own lists say how.
            Source::Builtin | Source::Ceiling => String::new(),
        }
    }
}

fn quoted(globs: &[&super::Glob]) -> String {
    let some = globs.iter().take(QUOTED).map(|glob| format!("`{}`", code::clip(glob.as_str(), QUOTE)));
    let more = (globs.len() > QUOTED).then(|| "and more".to_string());
    some.chain(more).collect::<Vec<_>>().join(", ")
}
