//! Price lists, by which transactions are charged.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
