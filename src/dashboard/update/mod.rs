//! The pages of updates. An update tells buyers what became of the pledges for one offering in one month.
//! Timelines show it.

mod change;
mod form;
mod month;
mod one;
mod preview;

pub(super) use change::{add, draft, edit, publish, withdraw};
pub(super) use month::updates;
pub(super) use one::update;
pub(super) use preview::preview_update;
