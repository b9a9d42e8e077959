//! The teams that are part of the program: what `init` writes and `demo` runs. Owns the list of their files.

use clap::builder::PossibleValuesParser;

/// A file of a team, by its path in the team's folder.
pub(crate) struct TeamFile {
    /// The path.
    pub(crate) path: &'static str,
    /// The content.
    pub(crate) text: &'static str,
    /// Whether it is there for the demo alone.
    pub(crate) demo: bool,
}

/// A team to start from.
pub(crate) struct Template {
    /// Its name: its folder under `teams/`.
    pub(crate) name: &'static str,
    /// An objective to try it with.
    pub(crate) objective: &'static str,
    /// Its files.
    pub(crate) files: &'static [TeamFile],
}

macro_rules! files {
    ($team:literal: [$($own:literal),* $(,)?], demo [$($demo:literal),* $(,)?]) => {
        &[
            $(TeamFile { path: $own, text: files!(@text $team, $own), demo: false },)*
            $(TeamFile { path: $demo, text: files!(@text $team, $demo), demo: true },)*
        ]
    };
    (@text $team:literal, $file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../teams/", $team, "/", $file))
    };
}

/// A review by one specialist for each dimension.
pub(crate) const REVIEW: Template = Template {
    name: "review",
    objective: "Review README.md",
    files: files!("review": [
        "deputize.yaml",
        "agents/lead.md",
        "agents/correctness.md",
        "agents/security.md",
        "agents/clarity.md",
        "agents/evidence.md",
        "schemas/findings.json",
    ], demo [
        "demo.script.yaml",
        "sample/design.md",
        "sample/expire.py",
        "sample/expire.toml",
    ]),
};

/// Every template.
pub(crate) const ALL: &[Template] = &[REVIEW];

/// The names, for the command line.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(ALL.iter().map(|template| template.name))
}

/// The template of a name.
pub(crate) fn named(name: &str) -> Option<&'static Template> {
    ALL.iter().find(|template| template.name == name)
}

#[cfg(test)]
mod tests;
