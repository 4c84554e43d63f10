//! The rows in the ledger, and their SQL.

pub mod changes;
pub mod people;
