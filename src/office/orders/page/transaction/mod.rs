//! The page of a transaction. Each part of the page has its own file: details, pledges, related
//! transactions, e-mail, erasure. The credits are in `office/credits/page.rs`.

mod details;
mod erase;
mod erase_form;
mod history;
mod mail;
mod page;
mod parts;
mod pledges;
mod related;
mod resend;
mod reveal;

pub(crate) use erase::erase;
pub(crate) use mail::{NO_QUEUE, resend_form};
pub(crate) use page::transaction;
pub(crate) use parts::{level, mode, unit};
pub(crate) use resend::{MAIL_POLICY, preview_mail, resend};
pub(crate) use reveal::reveal;
