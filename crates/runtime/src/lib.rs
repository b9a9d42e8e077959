//! The runtime of Deputize: the ports to the world and the one driver that performs what the core started.
//! Recovery is the same path as living: fold the log, say what is in doubt, go on.

pub mod port;
