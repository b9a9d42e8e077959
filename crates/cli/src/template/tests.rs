//! What is in the program is what is in the repository.

use super::ALL;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn every_file_of_every_team_is_in_the_program() {
    let teams = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../teams");
    let folders: BTreeSet<String> =
        std::fs::read_dir(&teams).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(folders, ALL.iter().map(|template| template.name.to_string()).collect());
    for template in ALL {
        let team = teams.join(template.name);
        let mut found = Vec::new();
        files(&team, &mut found);
        let there: BTreeSet<String> =
            found.iter().map(|path| path.strip_prefix(&team).unwrap().to_str().unwrap().to_string()).collect();
        assert_eq!(template.files.iter().map(|file| file.path.to_string()).collect::<BTreeSet<_>>(), there);
    }
}
