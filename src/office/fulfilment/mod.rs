//! Fulfilment: what was pledged, and what was done for it.

pub mod operation;
pub mod page;
pub mod rows;
pub mod rule;
