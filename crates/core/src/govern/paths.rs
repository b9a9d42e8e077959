//! Rules on paths at the gate: a call whose path is denied as it is written never starts. Where a path leads only the tools
//! can tell; they ask the same lists about the real one.

use crate::brief::Brief;
use crate::code::clip;
use crate::definition::{Operation, Team, ToolSpec};
use crate::message::Arguments;
use crate::policy::{self, Shown, Use};
use crate::step::Refusal;
use std::path::Path;

/// The longest path that a sentence quotes, in characters.
const SHOWN: usize = 80;

/// Why a call is refused; none when its paths may be used.
pub(super) fn refusal(brief: &Brief, team: &Team, tool: &ToolSpec, arguments: &Arguments) -> Option<Refusal> {
    let roots: Vec<&Path> = team.workspace.iter().map(AsRef::as_ref).collect();
    let given = |name: &str| match arguments {
        Arguments::Json(value) => value.get(name).and_then(|v| v.as_str()).unwrap_or_default(),
        Arguments::Malformed(_) => "",
    };
    let named = tool.paths.iter().flat_map(|path| path.uses.iter().map(|usage| (given(&path.name), *usage)));
    let whole = match tool.operation {
        Operation::Read if tool.paths.is_empty() => Some(("", Use::Read)),
        Operation::Write if tool.paths.is_empty() => Some(("", Use::Write)),
        _ => None,
    };
    named.chain(whole).find_map(|(raw, usage)| {
        // A form that is not accepted is the tool's to refuse: it says so better, and it opens nothing.
        let path = policy::written(raw, &roots).ok()?.join("/");
        let decision = policy::strictest(
            policy::builtin().refuses(usage, &path).into_iter().chain(brief.permissions.refuses(usage, &path)),
        )?;
        let shown = if path.is_empty() { "the workspace itself".to_string() } else { quote(&path) };
        let (code, why) = decision.refusal(usage.access(), Shown { path: &shown, linked: false });
        Some(Refusal { code, why: format!("{}: {why}", tool.name), mode: None, fallback: None })
    })
}

fn quote(path: &str) -> String {
    let safe: String = path.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    format!("`{}`", clip(&safe, SHOWN))
}
