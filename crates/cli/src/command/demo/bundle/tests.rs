//! What is in the program is what is in the repository.

use super::FILES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn every_file_of_the_team_is_in_the_program() {
    let team = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../teams/review");
    let mut found = Vec::new();
    files(&team, &mut found);
    let there: BTreeSet<String> =
        found.iter().map(|path| path.strip_prefix(&team).unwrap().to_str().unwrap().to_string()).collect();
    let known: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_string()).collect();
    assert_eq!(known, there);
}
