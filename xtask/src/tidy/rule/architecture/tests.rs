//! Each boundary with names that cross it and names that do not.

use super::super::super::tests::findings;
use super::check;

/// The rules that a file breaks, beside a small core and a small set of adapters.
fn broken(path: &str, text: &str) -> Vec<&'static str> {
    let files = [
        ("crates/core/src/lib.rs", "mod event;\nmod run;\npub use run::decide::decide;\npub use event::Event;"),
        ("crates/core/src/event/mod.rs", "pub enum Event {}"),
        ("crates/core/src/run/mod.rs", "pub mod decide;"),
        ("crates/core/src/run/decide.rs", "pub fn decide() {}"),
        ("crates/adapters/src/lib.rs", "mod tool;\npub use tool::Search;"),
        ("crates/adapters/src/tool/mod.rs", "pub struct Search;"),
        (path, text),
    ];
    let found = findings(check, &files);
    found.into_iter().map(|finding| finding.rule).collect()
}

#[track_caller]
fn crosses(rule: &'static str, path: &str, texts: &[&str]) {
    for text in texts {
        assert_eq!(broken(path, text), [rule], "{text}");
    }
}

#[track_caller]
fn keeps(path: &str, texts: &[&str]) {
    for text in texts {
        assert!(broken(path, text).is_empty(), "{text}");
    }
}

#[test]
fn the_core_is_pure() {
    let path = "crates/core/src/budget.rs";
    crosses(
        "core-pure",
        path,
        &[
            "use deputize_runtime::Store;",
            "fn f() { tokio::spawn(g()); }",
            "use std::net::TcpStream;",
            "use std::{fmt, fs::File};",
            "fn f() { let a = std::time::Instant::now(); }",
            "use std::time::{Duration, SystemTime};",
            "use std::time;",
            "use std::collections::*;",
            "use std::collections::HashMap as Map;",
            "fn f() { vec![std::collections::HashSet::new()]; }",
            "use rand::Rng;",
        ],
    );
    keeps(
        path,
        &[
            "use std::time::Duration;",
            "use std::collections::{BTreeMap, BTreeSet};",
            "use serde_json::Value;",
            "use crate::run::decide::decide;",
        ],
    );
    keeps("crates/core/src/budget/tests.rs", &["use std::fs;"]);
    keeps("crates/core/tests/old_logs.rs", &["use std::fs;"]);
}

#[test]
fn programs_see_neither_gate_nor_event_nor_run() {
    for path in ["crates/core/src/pattern/react.rs", "crates/core/src/program/view.rs"] {
        crosses(
            "programs-blind",
            path,
            &[
                "use crate::run::decide::decide;",
                "use crate::Event;",
                "use crate::govern::admit;",
                "fn f() { super::super::event::read(); }",
                "use crate::*;",
            ],
        );
        keeps(path, &["use crate::step::Ask;", "use crate::program::View;", "use super::view::Flow;"]);
    }
    crosses("programs-blind", "crates/core/src/composition/debate.rs", &["use crate::{run};"]);
}

#[test]
fn the_gate_does_not_know_programs() {
    let path = "crates/core/src/govern/budget.rs";
    crosses("gate-blind", path, &["use crate::pattern::ALL;", "use super::super::program::View;"]);
    keeps(path, &["use crate::event::Event;", "use crate::run::decide::decide;"]);
}

#[test]
fn a_run_does_not_know_projections() {
    crosses("run-no-projection", "crates/core/src/run/state.rs", &["use crate::projection::trace;"]);
    keeps("crates/core/src/lib.rs", &["pub use projection::trace;"]);
}

#[test]
fn projections_only_read() {
    let path = "crates/core/src/projection/trace.rs";
    crosses(
        "projection-reads",
        path,
        &[
            "use crate::run::decide;",
            "use crate::decide;",
            "use crate::run::advance::next;",
            "fn f(s: &State) { s.advance(); }",
        ],
    );
    keeps(path, &["use crate::run::state::RunState;", "fn f(s: &mut State) { s.evolve(); }"]);
}

#[test]
fn only_the_command_line_looks_around() {
    let texts = [
        "fn f() { std::env::var(\"HOME\"); }",
        "use std::env;",
        "use std::io::IsTerminal;",
        "fn f() { io::IsTerminal::is_terminal(&out); }",
        "fn f() { out.is_terminal(); }",
    ];
    crosses("ambient", "crates/adapters/src/http.rs", &texts);
    crosses("ambient", "crates/deputize/src/lib.rs", &texts);
    keeps("crates/cli/src/main.rs", &texts);
    keeps("crates/testkit/src/lib.rs", &texts);
    keeps("crates/adapters/src/http.rs", &["use std::io;\nfn f() { command.current_dir(p); std::env::consts::OS; }"]);
}

#[test]
fn only_the_wire_chooses_adapters() {
    let texts = [
        "use deputize_adapters::tool::BUILTIN;",
        "use deputize_adapters::Search;",
        "use deputize_adapters as adapters;",
        "fn f() { deputize_adapters::store::open(); }",
        "use deputize_adapters::{loader::read, provider};",
    ];
    crosses("wiring", "crates/cli/src/command/run.rs", &texts);
    keeps("crates/cli/src/wire.rs", &texts);
    keeps("crates/cli/src/command/run.rs", &["use deputize_adapters::loader::read;"]);
}
