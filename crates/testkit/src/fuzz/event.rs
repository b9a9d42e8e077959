//! The event decoder and the fold: whatever a store gives back, reading it never breaks down, and what is read once is read
//! the same twice.

use deputize_core::event::{Recorded, read};
use deputize_core::id::RunId;
use deputize_core::projection::{self, Tree};
use deputize_core::run::RunState;

/// Takes lines as the records of one log.
///
/// # Panics
/// On a finding.
pub fn event(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let log: Vec<Recorded> = text.lines().filter_map(|line| read(line).ok()).collect();
    for record in &log {
        let written = match serde_json::to_string(record) {
            Ok(written) => written,
            Err(e) => panic!("a record that was read cannot be written: {e}"),
        };
        match read(&written) {
            Ok(again) => assert_eq!(again, *record, "it is read differently the second time"),
            Err(e) => panic!("a record that was written cannot be read: {e}: {written}"),
        }
    }
    let state = RunState::fold(&log);
    assert!(state.wake_at().is_none() || state.summary().is_none(), "a run that is over waits for a moment");
    let run = RunId::new("r");
    let tree = Tree::new(vec![(run.clone(), log)]);
    if let Some(view) = tree.run(&run) {
        drop(projection::steps(view));
        drop(projection::delegations(view));
        drop(projection::decisions(view));
    }
    drop(tree.spent(&run));
    drop(tree.evidence(&run));
}
