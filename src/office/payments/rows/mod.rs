//! The rows in the ledger, and their SQL.

pub mod settled;
pub mod shop_months;
pub mod sums;
