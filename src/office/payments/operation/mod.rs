//! Operations for commands.

pub mod payments;
pub mod statements;
pub mod sums;
