//! The public totals of shops: what everyone may read about all of a shop's pledges, if the shop's profile says so.

pub mod rows;
pub mod rule;
