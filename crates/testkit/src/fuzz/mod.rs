//! Fuzz targets: each takes any bytes and panics on a finding. Plain tests feed them a corpus and a fixed number of seeded
//! mutations of it (`tests/fuzz.rs`); `fuzz/` at the root of the repository feeds them by libFuzzer for as long as one likes.

mod event;
mod front_matter;
mod mutate;
mod sse;

pub use event::event;
pub use front_matter::FrontMatter;
pub use mutate::Mutator;
pub use sse::sse;
