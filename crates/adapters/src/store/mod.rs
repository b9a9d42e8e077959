//! Stores: where the logs, leases, signals and blobs are kept. Owns both implementations of the runtime's ports
//! `EventStore` and `BlobStore`; owns neither the meaning of an event nor the order in which a driver appends.
//!
//! # Which one
//! [`sqlite::SqliteStore`] is the store of the product: one file, durable once `append` returns, shared by any number of
//! processes. [`memory::MemoryStore`] keeps the same promises except durability; it never waits, so that it suits tests
//! under a paused clock and runs that nobody wants to keep. Both are cheap handles that can be cloned, and both keep an
//! event as the JSON text that [`deputize_core::event::read`] reads, so that what passes with one passes with the other.
//!
//! # What both check
//! The form of a batch (one tree, consecutive `seq`, `RunStarted` first), then the epoch, then the length of each log,
//! all before anything is kept. The epoch must be the one that the last lease gave: no append without a lease.
//!
//! # Order
//! `tree` lists depth first: each run, then its children in order of their start, each followed by its own. `find` lists
//! roots first, then by id, so that a parent stands before its children.
//!
//! # A torn end
//! The last record of a log that cannot be read is taken for a torn write: `read` leaves it out, the store remembers it
//! (see [`sqlite::SqliteStore::dropped`]), and an append at its place replaces it. A record that cannot be read anywhere
//! else, or at place 0, is [`deputize_runtime::port::StoreError::Damaged`]; one that was written by a later version of
//! the program is [`deputize_runtime::port::StoreError::Newer`] wherever it stands.
//!
//! # The schema of the SQLite file
//! `application_id` names the file as ours and `user_version` is the version of the schema, now 2.
//! An older file is brought up to date in one transaction when it is opened; a newer one is refused.
//!
//! | table | holds |
//! |---|---|
//! | `events(run, seq, at, data)` | the logs; `data` is the whole record as JSON, the other columns repeat parts of it |
//! | `runs(ord, run, root, parent, agent, team, objective, started, updated, status)` | a row for each log, changed with it in one transaction; derived, the events are the truth |
//! | `leases(root, epoch)` | the epoch of the driver that owns a tree |
//! | `signals(id, root, data, taken)` | commands from other processes; taken ones stay as a trace |
//! | `blobs(sha256, len, data, touched)` | content by digest, and when it was last put |
//! | `torn(run, seq, data)` | torn last records that an append has replaced |

mod codec;
mod disk;
mod head;
pub mod lock;
pub mod memory;
pub mod retention;
pub mod sqlite;

pub use disk::free_space;
pub use memory::MemoryStore;
pub use sqlite::SqliteStore;
