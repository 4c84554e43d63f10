//! The pages of updates: what became of the pledges of an offering and month, as buyers' timelines show it.

mod change;
mod form;
mod month;
mod one;
mod preview;

pub(super) use change::{add, draft, edit, publish, withdraw};
pub(super) use month::updates;
pub(super) use one::update;
pub(super) use preview::preview_update;
