//! Following a tree from outside its driver, in this process or in another one: what is appended is read from where the
//! last look ended. Owns the places in the logs; neither waits nor knows whether anybody drives the tree.

use crate::port::{Store, StoreError};
use deputize_core::event::Recorded;
use deputize_core::id::RunId;
use deputize_core::projection::Tree;
use std::sync::Arc;

/// What has been read of a tree.
pub struct Follower {
    store: Arc<dyn Store>,
    root: RunId,
    tree: Tree,
}

impl Follower {
    /// Nothing read yet.
    pub fn new(store: Arc<dyn Store>, root: RunId) -> Follower {
        Follower { store, root, tree: Tree::default() }
    }
    /// The tree as of the last look.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }
    /// Reads what was appended since the last look, and returns it in order of time. A run that is over is not asked for
    /// again.
    ///
    /// # Errors
    /// The store, or there is no such tree (any more).
    pub async fn look(&mut self) -> Result<Vec<(RunId, Recorded)>, StoreError> {
        let heads = self.store.tree(&self.root).await?;
        if heads.is_empty() {
            return Err(StoreError::Failed(format!("the runs of {} are not in the store", self.root)));
        }
        let mut all = Vec::new();
        for head in heads {
            let known = self.tree.run(&head.run);
            if known.is_some_and(|run| run.state.summary().is_some()) {
                continue;
            }
            let from = known.map_or(0, |run| run.state.next_seq());
            let more = self.store.read(&head.run, from).await?;
            if !more.is_empty() {
                all.extend(more.iter().map(|record| (head.run.clone(), record.clone())));
                self.tree.grow(&head.run, more);
            }
        }
        // Parents stand before their children, so that of one moment the start of a delegation comes first.
        all.sort_by_key(|(_, record)| record.at);
        Ok(all)
    }
}
