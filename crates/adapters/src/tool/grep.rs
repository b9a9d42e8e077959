//! `grep`: the lines of files that match a regular expression. How one file is searched is in `search`.

use super::arguments::{Kind, Parameter, wrong};
use super::pattern;
use super::search::{Hits, search};
use super::text;
use super::workspace::beneath;
use super::workspace::entries::EntryKind;
use super::workspace::walk::{self, Walked, Wanted};
use super::workspace::{Found, fault};
use super::{Builtin, Call};
use deputize_core::definition::Operation;
use deputize_core::policy::Use;
use deputize_core::step::{EffectClass, Failure};
use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};
use std::path::{Path, PathBuf};

/// The most lines around a match.
const CONTEXT: u64 = 20;
/// The most memory of a compiled expression, in bytes.
const COMPILED: usize = 4 * 1024 * 1024;

pub(super) const TOOL: Builtin = Builtin {
    name: "grep",
    description: "Searches the text files of the workspace, line by line, for a regular expression (Rust syntax: no \
                  look-around, no back-references). Gives file:line:text, with context also file-line-text. Binary files, \
                  links and git's own folders are passed over.",
    parameters: &[
        Parameter::required("pattern", Kind::Text, "The regular expression."),
        Parameter::optional(
            "path",
            Kind::Text,
            "The folder or file to search, relative to the workspace. Default: all of it.",
        ),
        Parameter::optional(
            "glob",
            Kind::Text,
            "Only files whose path fits, such as **/*.rs; a pattern without `/` is matched against the name alone.",
        ),
        Parameter::optional("ignore_case", Kind::Flag, "Ignore letter case. Default: false."),
        Parameter::optional(
            "context",
            Kind::Count { least: 0 },
            "Lines to show around each match, at most 20. Default: 0.",
        ),
    ],
    effect: EffectClass::ReadOnly,
    operation: Operation::Read,
    uses: &[Use::List],
    prepare: None,
    perform,
};

fn perform(call: &Call<'_>) -> Result<String, Failure> {
    let written = call.arguments.text("pattern");
    let regex = compile(written, call.arguments.flag("ignore_case"))?;
    let filter = Filter::new(call)?;
    let found = call.workspace.find(call.arguments.text("path"), call.uses)?;
    let walked = files(call, &found, &filter)?;
    let context = call.arguments.count("context").unwrap_or(0).min(CONTEXT);
    let mut hits = Hits::new(usize::try_from(context).unwrap_or(0));
    let mut unreadable = 0;
    for path in &walked.paths {
        call.stop.failing()?;
        let Ok(file) = walk::open(call.workspace, &found, path, call.stop) else {
            unreadable += 1;
            continue;
        };
        let name = text::visible(&found.below(path));
        let searched = search(file, &name, &regex, &mut hits, call.stop);
        if let Err(error) = searched {
            call.stop.failing()?;
            // One file that is named must be readable; among many it is counted.
            if path.as_os_str().is_empty() {
                return Err(fault::system(&found.written.shown, "read", error));
            }
            unreadable += 1;
        }
        if hits.full() {
            break;
        }
    }
    Ok(answer(hits, &walked, unreadable, written))
}

fn answer(hits: Hits, walked: &Walked, unreadable: u64, written: &str) -> String {
    let (mut output, summary) = hits.into_output();
    if output.is_empty() {
        let files = text::count(u64::try_from(walked.paths.len()).unwrap_or(u64::MAX), "file", "files");
        output.push(&format!("No line matches {} in {files}.\n", text::shown(written)));
    }
    if summary.cut {
        output.remark(format!(
            "only the first {} are shown: narrow the pattern, the path or the glob",
            text::count(summary.matches, "match", "matches")
        ));
    }
    if summary.long > 0 {
        output.remark(format!(
            "{} searched only at the begin",
            text::count(summary.long, "very long line was", "very long lines were")
        ));
    }
    if summary.binary > 0 {
        output.remark(format!("{} passed over", text::count(summary.binary, "binary file was", "binary files were")));
    }
    if unreadable > 0 {
        output.remark(format!("{} could not be read", text::count(unreadable, "file", "files")));
    }
    walked.remarks(&mut output);
    output.finish()
}

/// The files to search; a single file is the empty path below itself.
fn files(call: &Call<'_>, found: &Found, filter: &Filter) -> Result<Walked, Failure> {
    if !matches!(found.place.kind, beneath::Kind::Folder(_)) {
        found.file(call.workspace)?;
        return Ok(Walked { paths: vec![PathBuf::new()], ..Walked::default() });
    }
    let keep = |path: &Path, kind: EntryKind| kind == EntryKind::File && filter.matches(path);
    walk::below(call.workspace, found, &Wanted { links: false, git: found.in_git(), keep: &keep }, call.stop)
}

/// The `glob` argument.
struct Filter(Option<(GlobMatcher, bool)>);

impl Filter {
    fn new(call: &Call<'_>) -> Result<Filter, Failure> {
        let written = call.arguments.text("glob");
        if written.is_empty() {
            return Ok(Filter(None));
        }
        let pattern = pattern::relative("glob", written, &call.workspace.roots())?;
        Ok(Filter(Some((pattern::compile("glob", pattern)?, written.contains('/')))))
    }

    fn matches(&self, path: &Path) -> bool {
        match &self.0 {
            None => true,
            Some((matcher, true)) => matcher.is_match(path),
            Some((matcher, false)) => path.file_name().is_some_and(|name| matcher.is_match(name)),
        }
    }
}

fn compile(pattern: &str, ignore_case: bool) -> Result<Regex, Failure> {
    if pattern.is_empty() {
        return Err(wrong("`pattern` is empty: give a regular expression"));
    }
    let refused = |why: String| wrong(format!("`pattern` {} is no regular expression: {why}", text::shown(pattern)));
    let syntax = regex_syntax::ParserBuilder::new().utf8(false).build().parse(pattern);
    if let Err(error) = syntax {
        return Err(refused(fault_of(&error)));
    }
    let built = RegexBuilder::new(pattern).case_insensitive(ignore_case).size_limit(COMPILED).build();
    built.map_err(|_| refused("it is too large when compiled; make its repetitions smaller".into()))
}

/// What is wrong, and where: the parser's own text is a drawing of several lines.
fn fault_of(error: &regex_syntax::Error) -> String {
    let at = |place: &regex_syntax::ast::Span| format!("line {}, character {}", place.start.line, place.start.column);
    match error {
        regex_syntax::Error::Parse(error) => format!("{} at {}", error.kind(), at(error.span())),
        regex_syntax::Error::Translate(error) => format!("{} at {}", error.kind(), at(error.span())),
        other => other.to_string(),
    }
}
