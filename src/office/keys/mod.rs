//! API keys: making, listing, rotating and revoking them.

pub mod operation;
pub mod page;
pub mod rule;
