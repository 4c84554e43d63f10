//! Operations for commands.

pub mod members;
pub mod updates;
