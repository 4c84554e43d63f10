//! A unit's profile: its name, the look of its pages, and its e-mails.

mod preview;
mod section;

pub(crate) use preview::{preview_profile, try_profile};
pub(crate) use section::{LANGUAGES, section};
