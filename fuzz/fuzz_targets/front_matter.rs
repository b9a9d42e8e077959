//! `deputize_testkit::fuzz::FrontMatter` under libFuzzer.
#![no_main]

use deputize_testkit::fuzz::FrontMatter;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static PLACE: LazyLock<(tempfile::TempDir, FrontMatter)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let target = FrontMatter::new(folder.path());
    (folder, target)
});

fuzz_target!(|bytes: &[u8]| PLACE.1.check(bytes));
