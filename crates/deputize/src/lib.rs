//! Deputize as a library: trees of agents that stop at the budget and survive kill -9.
//!
//! This facade is the public API: the core's data, the runtime's ports and driver, and the adapters that the binary uses.
//! An embedding program brings a [`runtime::World`] (its own model, tools, store, clock and ids, or those in [`adapters`])
//! and a [`core::definition::Team`] (made by hand, or read by [`adapters::loader`]), and calls [`runtime::start`].
//!
//! Logs hold no secrets when the world is [guarded](runtime::World::guarded) with those that the program knows.
//!
//! A whole program: a lead hands one task to a reader and makes an answer of its report. The model is a script here; put
//! what [`adapters::provider::build`] makes in its place.
//!
//! ```
//! use deputize::adapters::{ids::RandomIds, provider::Scripted, provider::scripted::Script};
//! use deputize::adapters::{store::MemoryStore, tool::Registry};
//! use deputize::core::definition::{Definition, Profile, Team};
//! use deputize::core::id::{AgentName, ModelName};
//! use deputize::runtime::{Halt, Launch, TokioClock, World, start};
//! use std::sync::Arc;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let script = "
//! lead:
//!   - calls: [{delegate: {agent: reader, objective: Say what is in the report.}}]
//!   - text: The report says 42.
//! lead/reader:
//!   - text: '42'
//! ";
//! let agent = |name: &str, agents: &[&str]| Definition {
//!     name: AgentName::new(name),
//!     description: format!("The {name} of this team."),
//!     body: format!("You are the {name}."),
//!     pattern: "react".into(),
//!     agents: agents.iter().map(AgentName::new).collect(),
//!     ..Definition::default()
//! };
//! let mut team = Team { name: "pair".into(), root: "lead".into(), profile: Profile::Assisted, ..Team::default() };
//! for definition in [agent("lead", &["reader"]), agent("reader", &[])] {
//!     team.agents.insert(definition.name.clone(), definition);
//! }
//! team.models.roles.insert("default".into(), ModelName::new("scripted:any"));
//!
//! let world = World {
//!     model: Arc::new(Scripted::new(Script::parse("inline", script)?)),
//!     tools: Arc::new(Registry::new()),
//!     store: Arc::new(MemoryStore::new()),
//!     clock: Arc::new(TokioClock::system()),
//!     ids: Arc::new(RandomIds),
//! };
//! let launch = Launch { team: Arc::new(team), setup: Vec::new(), objective: "Read the report.".into(), choices: Vec::new() };
//! let Halt::Finished(summary) = start(world, launch).await?.run().await? else { panic!("nobody interrupts it") };
//! assert_eq!(summary.payload["result"], "The report says 42.");
//! assert_eq!(summary.spent.runs, 2);
//! # Ok(())
//! # }
//! ```

pub use deputize_adapters as adapters;
pub use deputize_core as core;
pub use deputize_runtime as runtime;
