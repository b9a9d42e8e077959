//! The runtime of Deputize: the ports to the world and the one driver that performs what the core started.
//! Recovery is the same path as living: fold the log, say what is in doubt, go on.

mod clock;
mod driver;
mod follow;
mod guarded;
mod handle;
mod live;
pub mod port;
pub mod secret;

pub use clock::TokioClock;
pub use driver::{Control, DriveError, Halt, World};
pub use follow::Follower;
pub use handle::{Handle, Launch, Ready, StartError, adopt, resume, start};
pub use live::Live;
