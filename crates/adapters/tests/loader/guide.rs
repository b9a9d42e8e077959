//! The examples of the guide on agent files: each loads without a complaint, together as one team.

use crate::support::{Folder, codes};
use std::fs;
use std::path::Path;

#[test]
fn every_example_of_the_guide_loads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/agents.md");
    let text = fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = text.split("```yaml\n").skip(1).map(|b| b.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 3);
    let file = |folder: Folder, (i, block): (usize, &&str)| {
        folder.file(&format!("agents/{i}.md"), format!("---\n{block}---\nYou work.\n"))
    };
    let loaded = blocks.iter().enumerate().fold(Folder::new(), file).load();
    // The third lists the first alone, so the second is reached by nobody in this made-up team.
    assert_eq!(codes(&loaded), ["agent.unreachable"]);
    assert_eq!(loaded.agents.len(), blocks.len());
}
