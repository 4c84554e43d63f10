//! The timeline page and the e-mail of a recipient: what was pledged for whom, why and when.
//!
//! A page is one document with an inline style. It runs no script, and loads only the images of the pledges and the
//! shop's logo. Texts of a shop are escaped, and have their own text direction (`dir="auto"`, `bdi`). Links of a shop
//! lead to http and https only. The recipient's e-mail address is never shown. The page's URL is a secret of the
//! recipient, so the page has no `og:` metadata, which would invite people to share it.

mod accent;
mod calendar;
mod content;
mod invisible;
mod language;
mod link;
mod mail;
mod messaging_services;
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
pub use link::WebAddress;
pub use mail::{Mail, mail};
pub use page::{Page, not_found_page, page, unavailable_page};
pub use profile::{NewProfile, Profile};
pub use rounded::write_amount;
pub use style::CONTENT_SECURITY_POLICY;
pub use words::Sentence;
