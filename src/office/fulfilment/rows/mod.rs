//! The rows in the ledger, and their SQL.

pub mod day_quantities;
pub mod fulfilments;
pub mod quantities;
