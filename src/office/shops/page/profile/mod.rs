//! A unit's profile: its name, the look of its pages, and its e-mails.

mod preview;
mod save;
mod section;

pub(crate) use preview::preview_profile;
pub(crate) use save::set_profile;
pub(crate) use section::{LANGUAGES, section};
