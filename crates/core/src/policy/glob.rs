//! Patterns of rules: how they are written, what they match, and how two of them relate. Plain data that is matched name
//! by name, so that a rule in a log is a text, a folder and what is below it are one notion, and one pattern can be held
//! against another.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::Chars;

/// Bounds of one pattern: its characters, its alternatives, the names of one alternative.
const CHARACTERS: usize = 1_024;
const ALTERNATIVES: usize = 64;
const NAMES: usize = 62;

const HOME: &str = "`~` is not expanded: write the path from the workspace down";

/// Why a text is no pattern: one clause that says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadGlob(String);

/// A pattern over paths of the workspace: `/docs/**/*.md`. `dir/` and `dir/**` are the folder and all below it, `/` is
/// everything; `*` and `?` stop at `/` and match dot files, `{a,b}` is either.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    /// Its alternatives.
    exact: Vec<Vec<Part>>,
    /// The same for paths that went through [`fold`].
    folded: Vec<Vec<Part>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Any number of names.
    Deep,
    /// One name.
    Name(Vec<Token>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Is(char),
    One,
    Any,
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
impl From<Glob> for String {
    fn from(glob: Glob) -> String {
        glob.text
    }
}
impl TryFrom<String> for Glob {
    type Error = BadGlob;
    fn try_from(text: String) -> Result<Glob, BadGlob> {
        Glob::parse(&text)
    }
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// It does not begin with `/`, holds `..`, `~`, `.`, an empty name or a character with another meaning elsewhere, or is
    /// too large.
    pub fn parse(text: &str) -> Result<Glob, BadGlob> {
        let bad = |why: String| Err(BadGlob(why));
        if text.starts_with('~') {
            return bad(HOME.into());
        }
        if !text.starts_with('/') {
            return bad(format!("a path begins with `/`, the workspace: write `/{}`", text.trim_start_matches("./")));
        }
        if text.chars().count() > CHARACTERS {
            return bad(format!("a path has at most {CHARACTERS} characters"));
        }
        if let Some(c) = text.chars().find(|c| matches!(c, '[' | ']' | '\\')) {
            return bad(format!("`{c}` has no meaning in a path: write `?` for one character or `{{a,b}}` for either"));
        }
        let mut exact = Vec::new();
        for one in alternatives(text)? {
            exact.push(parts(&one)?);
        }
        Ok(Glob::of(text, exact))
    }

    /// The folder or file at exactly this path, which starts at the workspace, and all below it.
    pub fn literal(path: &str) -> Glob {
        let names = path.split('/').filter(|name| !name.is_empty());
        let mut exact: Vec<Part> = names.map(|name| Part::Name(name.chars().map(Token::Is).collect())).collect();
        exact.truncate(NAMES);
        exact.push(Part::Deep);
        Glob::of(&format!("/{path}"), vec![exact])
    }

    /// Everything.
    pub fn everything() -> Glob {
        Glob::of("/", vec![vec![Part::Deep]])
    }

    fn of(text: &str, exact: Vec<Vec<Part>>) -> Glob {
        let folded = exact.iter().map(|parts| parts.iter().map(small).collect()).collect();
        Glob { text: text.to_string(), exact, folded }
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether these names, letter case included, are a path that it matches.
    pub(super) fn matches(&self, names: &[&str]) -> bool {
        self.exact.iter().any(|parts| reach(parts, names) >> parts.len() & 1 == 1)
    }

    /// The same for names that went through [`fold`].
    pub(super) fn matches_folded(&self, names: &[&str]) -> bool {
        self.folded.iter().any(|parts| reach(parts, names) >> parts.len() & 1 == 1)
    }

    /// Whether it may match something below this folder.
    pub(super) fn may_match_below(&self, names: &[&str]) -> bool {
        self.exact.iter().any(|parts| reach(parts, names) & !(!0 << parts.len()) != 0)
    }

    /// Whether it matches all that another pattern matches. Some pairs of which that is true are not seen.
    pub fn covers(&self, other: &Glob) -> bool {
        other.exact.iter().all(|b| self.exact.iter().any(|a| includes(a, b)))
    }

    /// Whether there may be a path that both match, letter case set aside. Some pairs of which that is not true are not seen.
    pub fn meets(&self, other: &Glob) -> bool {
        other.folded.iter().any(|b| self.folded.iter().any(|a| crosses(a, b)))
    }

    /// Its path, if it matches exactly one: neither a folder with all below it nor anything with `*` or `?`.
    pub fn exactly(&self) -> Option<String> {
        let [parts] = &self.exact[..] else { return None };
        let name = |part: &Part| match part {
            Part::Deep => None,
            Part::Name(tokens) => tokens.iter().map(Token::literal).collect::<Option<String>>(),
        };
        let names: Option<Vec<String>> = parts.iter().map(name).collect();
        names.map(|names| names.join("/"))
    }
}

impl Token {
    fn literal(&self) -> Option<char> {
        match self {
            Token::Is(c) => Some(*c),
            Token::One | Token::Any => None,
        }
    }
}

/// One form for all spellings that some file system takes for the same name: upper case first, since letters such as
/// the long s have a common form only there; characters that HFS+ ignores in names are dropped.
pub(super) fn fold(text: &str) -> String {
    text.chars().flat_map(fold_char).collect()
}

fn fold_char(c: char) -> impl Iterator<Item = char> {
    let ignored = matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    (!ignored).then_some(c).into_iter().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

fn small(part: &Part) -> Part {
    let fold = |token: &Token| match token {
        Token::Is(c) => fold_char(*c).map(Token::Is).collect(),
        wild => vec![*wild],
    };
    match part {
        Part::Deep => Part::Deep,
        Part::Name(tokens) => Part::Name(tokens.iter().flat_map(fold).collect()),
    }
}

/// Writes the braces out, innermost first.
fn alternatives(text: &str) -> Result<BTreeSet<String>, BadGlob> {
    let (mut done, mut open) = (BTreeSet::new(), vec![text.to_string()]);
    while let Some(text) = open.pop() {
        let (before, rest) = match text.split_once('}') {
            Some(found) => found,
            None if text.contains('{') => return Err(BadGlob("a `{` is not closed by a `}`".into())),
            None => {
                done.insert(text);
                continue;
            }
        };
        let Some((head, choices)) = before.rsplit_once('{') else {
            return Err(BadGlob("a `}` has no `{` before it".into()));
        };
        open.extend(choices.split(',').map(|choice| format!("{head}{choice}{rest}")));
        if open.len() + done.len() > ALTERNATIVES {
            return Err(BadGlob(format!("it stands for more than {ALTERNATIVES} paths: write several")));
        }
    }
    Ok(done)
}

/// The parts of one alternative.
fn parts(text: &str) -> Result<Vec<Part>, BadGlob> {
    let bad = |why: &str| Err(BadGlob(why.to_string()));
    let below = text.strip_prefix('/').unwrap_or(text);
    let (names, folder) = below.strip_suffix('/').map_or((below, below.is_empty()), |names| (names, true));
    let mut parts = Vec::new();
    for name in names.split('/').filter(|_| !below.is_empty()) {
        parts.push(match name {
            ".." => return bad("`..` is not allowed: write the path from the workspace down"),
            "" | "." => return bad("it has an empty name or `.` between two `/`: leave it out"),
            "**" => Part::Deep,
            _ if name.starts_with('~') => return bad(HOME),
            _ if name.contains("**") => return bad("`**` stands alone between two `/`: write `**/*.md`, not `**.md`"),
            _ => Part::Name(name.chars().map(token).collect()),
        });
    }
    if folder {
        parts.push(Part::Deep);
    }
    if parts.len() > NAMES {
        return Err(BadGlob(format!("it has more than {NAMES} names")));
    }
    Ok(parts)
}

fn token(c: char) -> Token {
    match c {
        '*' => Token::Any,
        '?' => Token::One,
        c => Token::Is(c),
    }
}

/// The places of a pattern that can be reached by going along these names, as bits; the last bit is its end.
fn reach(parts: &[Part], names: &[&str]) -> u64 {
    let mut here = closed(parts, 1);
    for text in names {
        here = step(parts, here, |part| match part {
            Part::Deep => true,
            Part::Name(tokens) => name(tokens, text),
        });
        if here == 0 {
            break;
        }
    }
    here
}

/// Goes on by one name: a `**` stays where it is, a name leads to the next place.
fn step(parts: &[Part], here: u64, fits: impl Fn(&Part) -> bool) -> u64 {
    let mut next = 0;
    for (at, part) in parts.iter().enumerate().filter(|(at, _)| here >> at & 1 == 1) {
        if fits(part) {
            next |= 1 << (at + usize::from(*part != Part::Deep));
        }
    }
    closed(parts, next)
}

/// A `**` also stands for no name.
fn closed(parts: &[Part], mut here: u64) -> u64 {
    for (at, _) in parts.iter().enumerate().filter(|(_, part)| **part == Part::Deep) {
        here |= (here >> at & 1) << (at + 1);
    }
    here
}

/// Whether a name fits. `back` is the newest `*` and the text that it has not yet taken.
fn name(tokens: &[Token], text: &str) -> bool {
    let (mut at, mut left) = (0, text.chars());
    let mut back: Option<(usize, Chars<'_>)> = None;
    loop {
        let fits = match tokens.get(at) {
            Some(Token::Any) => {
                back = Some((at + 1, left.clone()));
                true
            }
            Some(Token::One) => left.next().is_some(),
            Some(Token::Is(c)) => left.next() == Some(*c),
            None if left.as_str().is_empty() => return true,
            None => false,
        };
        if fits {
            at += 1;
            continue;
        }
        let Some((after, rest)) = &mut back else { return false };
        if rest.next().is_none() {
            return false;
        }
        (at, left) = (*after, rest.clone());
    }
}

/// Whether `a` matches all that `b` matches: `a` goes along the parts of `b` as if they were names.
fn includes(a: &[Part], b: &[Part]) -> bool {
    let mut here = closed(a, 1);
    for part in b {
        here = step(a, here, |own| match (own, part) {
            (Part::Deep, _) => true,
            (Part::Name(_), Part::Deep) => false,
            (Part::Name(own), Part::Name(other)) => own == other || name_includes(own, other),
        });
    }
    here >> a.len() & 1 == 1
}

fn name_includes(own: &[Token], other: &[Token]) -> bool {
    let literal: Option<String> = other.iter().map(Token::literal).collect();
    own == [Token::Any] || literal.is_some_and(|text| name(own, &text))
}

/// Whether two patterns may have a path in common: walks both at once.
fn crosses(a: &[Part], b: &[Part]) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, 0)];
    while let Some((i, j)) = open.pop() {
        if !seen.insert((i, j)) {
            continue;
        }
        match (a.get(i), b.get(j)) {
            (None, None) => return true,
            (Some(Part::Deep), other) => {
                open.push((i + 1, j));
                open.extend(other.map(|_| (i, j + 1)));
            }
            (own, Some(Part::Deep)) => {
                open.push((i, j + 1));
                open.extend(own.map(|_| (i + 1, j)));
            }
            (Some(Part::Name(own)), Some(Part::Name(other))) if names_meet(own, other) => open.push((i + 1, j + 1)),
            _ => {}
        }
    }
    false
}

fn names_meet(a: &[Token], b: &[Token]) -> bool {
    let literal = |tokens: &[Token]| tokens.iter().map(Token::literal).collect::<Option<String>>();
    match (literal(a), literal(b)) {
        (Some(a), _) => name(b, &a),
        (_, Some(b)) => name(a, &b),
        (None, None) => true,
    }
}

#[cfg(test)]
mod tests;
