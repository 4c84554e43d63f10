//! The timeline page, the e-mail and the message of a recipient: what was pledged for whom, why and when.
//!
//! A page is one document with an inline style. It runs no script, and loads only the images of the pledges and the
//! shop's logo. Texts of a shop are escaped, and have their own text direction (`dir="auto"`, `bdi`). Links of a shop
//! lead to http and https only. The recipient's e-mail address is never shown. The page's URL is a secret of the
//! recipient, so the page has no `og:` metadata, which would invite people to share it.

mod accent;
mod calendar;
mod content;
mod groups;
mod heading;
mod language;
mod mail;
mod messaging_services;
mod news;
mod page;
mod pledges;
mod profile;
mod progress;
mod quantity;
mod rounded;
mod style;
mod text;
mod totals;
mod unlinked;
mod words;

pub use accent::{Colour, DARK_PAPER, LIGHT_PAPER};
pub use language::{Language, Plural};
pub use mail::{Mail, MessageTexts, mail, message_texts, news_mail};
pub use news::NewsForm;
pub use page::{Page, cancelled_page, not_found_page, page, unavailable_page, unsubscribe_page};
pub use profile::{InvalidMember, NewProfile, Profile};
pub use progress::OfferingProgress;
pub use rounded::write_amount;
pub use style::CONTENT_SECURITY_POLICY;
pub use text::{brief, shortened};
pub use words::Sentence;
