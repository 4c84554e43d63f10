//! The rows in the ledger, and their SQL.

pub mod names;
pub mod shops;
