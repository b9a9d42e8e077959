//! The boundaries between crates and modules, as one table: who may not name what, and why.

use super::super::finding::Finding;
use super::super::mentions::{self, Kind, Mention};
use super::super::names::Names;
use super::super::place::Place;
use super::super::source::Source;

/// One boundary: the files it binds and the names it keeps out of them. Tests are never bound.
struct Boundary {
    rule: &'static str,
    binds: fn(&Place) -> bool,
    /// Paths that may not be named, nor anything below them.
    banned: &'static [&'static str],
    /// Names that may not be used either, though the module they are in may be imported.
    leaves: &'static [&'static str],
    /// Paths below a banned one that may be named.
    spared: &'static [&'static str],
    /// Methods that may not be called.
    methods: &'static [&'static str],
    why: &'static str,
}

const BOUNDARIES: &[Boundary] = &[
    Boundary {
        rule: "core-pure",
        binds: |place| place.krate == "deputize_core",
        banned: &[
            "deputize",
            "deputize_runtime",
            "deputize_adapters",
            "deputize_api",
            "deputize_server",
            "deputize_cli",
            "deputize_testkit",
            "tokio",
            "reqwest",
            "rusqlite",
            "rand",
            "getrandom",
            "std::fs",
            "std::net",
            "std::env",
            "std::process",
            "std::thread",
            "std::time::SystemTime",
            "std::time::Instant",
            "std::time::UNIX_EPOCH",
            "std::collections::HashMap",
            "std::collections::HashSet",
            "std::collections::hash_map",
            "std::collections::hash_set",
            "std::hash::RandomState",
        ],
        leaves: &[],
        spared: &[],
        methods: &[],
        why: "the core has no I/O, clock, randomness or hash order",
    },
    Boundary {
        rule: "programs-blind",
        binds: |place| in_core(place, &["program", "pattern", "composition"]),
        banned: &["deputize_core::govern", "deputize_core::event", "deputize_core::run"],
        leaves: &[],
        spared: &[],
        methods: &[],
        why: "programs see a read-only view, never the gate, an event or the fold",
    },
    Boundary {
        rule: "gate-blind",
        binds: |place| in_core(place, &["govern"]),
        banned: &["deputize_core::program", "deputize_core::pattern", "deputize_core::composition"],
        leaves: &[],
        spared: &[],
        methods: &[],
        why: "the gate judges wants, whoever has them",
    },
    Boundary {
        rule: "run-no-projection",
        binds: |place| in_core(place, &["run"]),
        banned: &["deputize_core::projection"],
        leaves: &[],
        spared: &[],
        methods: &[],
        why: "a run does not depend on how it is shown",
    },
    Boundary {
        rule: "projection-reads",
        binds: |place| in_core(place, &["projection"]),
        banned: &["deputize_core::run::decide", "deputize_core::run::advance"],
        leaves: &[],
        spared: &[],
        methods: &["decide", "advance"],
        why: "projections read events and never make any",
    },
    Boundary {
        rule: "ambient",
        binds: |place| {
            let exempt = ["deputize_cli", "deputize_testkit", "xtask"];
            !exempt.contains(&place.krate.as_str())
        },
        banned: &["std::env"],
        leaves: &["std::io::IsTerminal", "io::IsTerminal"],
        spared: &["std::env::consts"],
        methods: &["is_terminal"],
        why: "only the command line reads environment, current folder and terminal",
    },
    Boundary {
        rule: "wiring",
        binds: |place| {
            let wire = place.module.first().is_some_and(|module| module == "wire");
            place.krate == "deputize_cli" && !wire
        },
        banned: &[
            "deputize_adapters::provider",
            "deputize_adapters::store",
            "deputize_adapters::tool",
            "deputize::provider",
            "deputize::store",
            "deputize::tool",
        ],
        leaves: &[],
        spared: &[],
        methods: &[],
        why: "only `wire.rs` chooses adapters",
    },
];

fn in_core(place: &Place, modules: &[&str]) -> bool {
    let top = place.module.first();
    place.krate == "deputize_core" && top.is_some_and(|top| modules.contains(&top.as_str()))
}

/// Holds every name of a file against every boundary that binds it.
pub(crate) fn check(source: &Source, names: &Names) -> Vec<Finding> {
    if source.place.test {
        return Vec::new();
    }
    let binding: Vec<&Boundary> = BOUNDARIES.iter().filter(|boundary| (boundary.binds)(&source.place)).collect();
    if binding.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for mention in mentions::all(source) {
        let path = names.resolve(&source.place.krate, &mention).join("::");
        for boundary in &binding {
            if crosses(boundary, &mention, &path) {
                let text = format!("`{path}`: {}", boundary.why);
                found.push(source.finding(boundary.rule, mention.line, path.clone(), text));
            }
        }
    }
    found
}

fn crosses(boundary: &Boundary, mention: &Mention, path: &str) -> bool {
    if mention.kind == Kind::Method {
        return boundary.methods.contains(&path);
    }
    if boundary.spared.iter().any(|spared| is_within(path, spared)) {
        return false;
    }
    if boundary.leaves.iter().any(|leaf| is_within(path, leaf)) {
        return true;
    }
    // An import of a module from above a banned name would let the name in by the back door.
    let opens = matches!(mention.kind, Kind::Import(_) | Kind::Glob);
    boundary.banned.iter().any(|banned| is_within(path, banned) || (opens && is_within(banned, path)))
}

fn is_within(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

#[cfg(test)]
mod tests;
