//! Requests of shops for credits, for example after a refund. Accounts confirm or refuse them; up to a limit, they are
//! credited at once.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
