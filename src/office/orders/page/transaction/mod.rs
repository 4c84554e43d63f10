//! The page of a transaction. Each part of the page has its own file: details, pledges, related
//! transactions, e-mail and its preview, erasure. The credits are in `office/credits/page.rs`.

mod details;
mod erase;
mod history;
mod mail;
mod page;
mod parts;
mod pledges;
mod preview;
mod related;
mod reveal;

pub(crate) use mail::resend_form;
pub(crate) use page::{erased, transaction};
pub(crate) use parts::{level, mode, unit};
pub(crate) use preview::{MAIL_POLICY, preview_mail};
pub(crate) use reveal::reveal;
