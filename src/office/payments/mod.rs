//! Payments: what shops owe for each month, their statements, and which months are marked as paid.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
