//! Recorded transactions: lists, search, one transaction, exports and erasure.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
