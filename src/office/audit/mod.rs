//! The audit log: who changed or revealed what, and when.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
