//! What observers see while a tree runs. Lossy by design: who is too slow misses items and reads the log instead.

use crate::port::Queued;
use deputize_core::event::Recorded;
use deputize_core::id::{AgentPath, Label, RunId};
use std::sync::Arc;

/// One item of the live stream.
#[derive(Clone, Debug)]
pub enum Live {
    /// An event is durable.
    Event {
        /// The run.
        run: RunId,
        /// Its path by names.
        path: AgentPath,
        /// The event.
        record: Arc<Recorded>,
    },
    /// A model is saying this now; it is never stored.
    Delta {
        /// The run.
        run: RunId,
        /// The step.
        label: Label,
        /// The text.
        text: Arc<str>,
    },
    /// A model call waits for its turn at the provider: nothing has been sent.
    Queued {
        /// The run.
        run: RunId,
        /// Its path by names.
        path: AgentPath,
        /// The step.
        label: Label,
        /// What it waits for.
        queued: Queued,
    },
}

/// Items that a slow observer may lag behind.
pub(crate) const BUFFER: usize = 4_096;
