//! A unit's profile: its name, the look of its pages, and its e-mails.

mod preview;
mod save;
mod section;

pub(super) use preview::preview_profile;
pub(super) use save::set_profile;
pub(super) use section::{LANGUAGES, section};
