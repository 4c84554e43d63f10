//! What shops owe for months, statements, and which months are marked as paid.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
