//! Credits: amounts and quantities that are taken back from transactions.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
