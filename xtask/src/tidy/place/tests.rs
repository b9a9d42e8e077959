//! Paths in, places out.

use super::Place;

#[track_caller]
fn check(path: &str, krate: &str, module: &[&str], test: bool) {
    let module = module.iter().map(|part| (*part).to_owned()).collect();
    let krate = krate.to_owned();
    assert_eq!(Place::of(path), Place { krate, module, test });
}

#[test]
fn a_crate_root_has_no_module() {
    check("crates/core/src/lib.rs", "deputize_core", &[], false);
    check("crates/cli/src/main.rs", "deputize_cli", &[], false);
    check("crates/deputize/src/lib.rs", "deputize", &[], false);
    check("xtask/src/main.rs", "xtask", &[], false);
}

#[test]
fn files_and_folders_are_modules() {
    check("crates/core/src/run/state.rs", "deputize_core", &["run", "state"], false);
    check("crates/core/src/run/mod.rs", "deputize_core", &["run"], false);
}

#[test]
fn tests_are_known_by_their_names() {
    check("crates/core/src/run/tests.rs", "deputize_core", &["run", "tests"], true);
    check("crates/core/src/run/crash_tests.rs", "deputize_core", &["run", "crash_tests"], true);
    check("crates/core/src/run/tests/mod.rs", "deputize_core", &["run", "tests"], true);
    assert!(Place::of("crates/cli/tests/walk.rs").test);
    assert!(Place::of("crates/core/benches/fold.rs").test);
    assert!(!Place::of("crates/core/src/contests.rs").test);
}
