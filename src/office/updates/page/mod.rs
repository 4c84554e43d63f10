//! The pages of updates. An update tells buyers what became of the pledges for one offering in one month.
//! Timelines show it.

mod form;
mod month;
mod one;
mod preview;

pub(crate) use form::with_picture;
pub(crate) use month::updates;
pub(crate) use one::update;
pub(crate) use preview::{preview_edit, preview_new, preview_update};
