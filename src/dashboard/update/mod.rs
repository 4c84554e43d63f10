//! The pages of updates: news for buyers about what became of the pledges for an offering in a month.
//! Timelines show them.

mod change;
mod form;
mod month;
mod one;
mod preview;

pub(super) use change::{add, draft, edit, publish, withdraw};
pub(super) use month::updates;
pub(super) use one::update;
pub(super) use preview::preview_update;
