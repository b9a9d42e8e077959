//! The built-in safety rules: one table, and the match that ignores letter case. Owns no other permission: rules of a
//! team come on top and can only be stricter.

use crate::private::{PRIVATE, Private, set};
use globset::GlobSet;

/// What is to be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tool) enum Access {
    /// Its content or its existence is told.
    Read,
    /// It is created or changed.
    Write,
}

impl Access {
    /// The word in a sentence: `may not be read`.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "written",
        }
    }
}

/// One rule; what may not be read is listed in [`crate::private`]. A path matches when it, or a folder above it, fits a pattern; patterns are in lower case.
#[derive(Clone, Copy)]
struct Rule {
    access: Access,
    paths: &'static [&'static str],
    /// Paths that are let through after all, in exactly this letter case: on a disk that tells letter case apart,
    /// another spelling is another file.
    except: &'static [&'static str],
    reason: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        access: Access::Write,
        paths: &["**/.git"],
        except: &[],
        reason: "git keeps its own data there, and a changed hook would be run",
    },
    Rule {
        access: Access::Write,
        paths: &[
            "agents/**/*.md",
            "**/.claude/agents",
            "**/.github/agents",
            "**/.gemini/agents",
            "**/.opencode/agents",
        ],
        except: &[],
        reason: "agent files say what agents may do, so no agent changes them",
    },
    Rule {
        access: Access::Write,
        paths: &["**/deputize.yaml", "**/.mcp.json"],
        except: &[],
        reason: "it configures the team, so no agent changes it",
    },
];

/// The reason of a place that the program was told to protect.
const PROTECTED: &str = "it configures the team, so no agent changes it";

struct Compiled {
    access: Access,
    paths: GlobSet,
    except: GlobSet,
    reason: &'static str,
}

/// The rules, ready to be asked.
pub(super) struct Rules {
    table: Vec<Compiled>,
    /// Folded paths that may not be written, nor anything below.
    protected: Vec<String>,
}

impl Rules {
    /// The built-in rules.
    pub(super) fn builtin() -> Result<Rules, globset::Error> {
        let private = PRIVATE.iter().map(|p| {
            let Private { paths, except, reason } = *p;
            Rule { access: Access::Read, paths, except, reason }
        });
        let rules = RULES.iter().copied().chain(private);
        let table = rules.map(|rule| compile(&rule)).collect::<Result<_, _>>()?;
        Ok(Rules { table, protected: Vec::new() })
    }

    /// Lets nothing write this path, nor anything below it.
    pub(super) fn protect(&mut self, path: &str) {
        self.protected.push(fold(path));
    }

    /// Why this path, from the workspace down without a leading `/`, is denied; none when it is not.
    pub(super) fn denial(&self, access: Access, path: &str) -> Option<&'static str> {
        let prefixes = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path]);
        prefixes.filter(|prefix| !prefix.is_empty()).find_map(|prefix| self.entry_denial(access, prefix))
    }

    /// As [`Rules::denial`] for an entry of a folder that is not denied itself.
    pub(super) fn entry_denial(&self, access: Access, path: &str) -> Option<&'static str> {
        let folded = fold(path);
        let hits =
            |rule: &&Compiled| rule.access == access && rule.paths.is_match(&folded) && !rule.except.is_match(path);
        let protected = access == Access::Write && self.protected.contains(&folded);
        self.table.iter().find(hits).map(|rule| rule.reason).or(protected.then_some(PROTECTED))
    }
}

fn compile(rule: &Rule) -> Result<Compiled, globset::Error> {
    Ok(Compiled { access: rule.access, paths: set(rule.paths)?, except: set(rule.except)?, reason: rule.reason })
}

/// One form for all spellings that some file system takes for the same name: upper case first, since letters such as
/// the long s have a common form only there; characters that HFS+ ignores in names are dropped.
fn fold(path: &str) -> String {
    let ignored =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    path.chars().filter(|c| !ignored(*c)).flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
