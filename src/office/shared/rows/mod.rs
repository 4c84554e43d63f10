//! The rows in the ledger, and their SQL.

pub mod claims;
pub mod money;
pub mod operations;
pub mod port;
