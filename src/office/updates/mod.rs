//! Updates: what became of pledges, as timelines show it.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
