//! What a recipient gets, the page and the e-mail: what was pledged for whom, why and when.
//!
//! A page is one document: it contains its style, runs no script, and loads only the pledges' own
//! images and the shop's logo. A shop's texts are escaped and isolated in their own direction
//! (`dir="auto"`, `bdi`); its links lead to http and https only. The recipient's e-mail address is
//! never shown. The page's address is the recipient's secret, so the page has no `og:` metadata,
//! which would invite to share it.

mod accent;
mod calendar;
mod content;
mod language;
mod link;
mod mail;
mod page;
mod profile;
mod quantity;
mod rounded;
mod style;
mod text;
mod unlinked;
mod words;

pub use accent::{Colour, DARK_PAPER, LIGHT_PAPER};
pub use language::{Language, Plural};
pub use mail::{Mail, mail};
pub use page::{Page, not_found_page, page, unavailable_page};
pub use profile::{NewProfile, Profile};
pub use rounded::write_amount;
pub use style::CONTENT_SECURITY_POLICY;
pub use words::Sentence;
