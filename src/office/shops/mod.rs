//! Shops: units, the teams that they belong to, and their profiles.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
