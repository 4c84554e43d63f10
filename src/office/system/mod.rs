//! The system: the ledger and its reconciliation, backups, health, what needs attention, and local data.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
