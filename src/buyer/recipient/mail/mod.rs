//! The e-mail that informs a recipient about the pledges, and the message that a messaging service
//! delivers.
//!
//! The e-mail has the same content as plain text and as HTML. Both contain one link, to the page of the
//! transaction. The HTML loads nothing but the shop's logo, if there is one. The message is the same plain
//! text, except that its last lines do not mention an e-mail.
//!
//! A buyer may abuse the recipient's name to send a message to somebody else. Therefore names and other
//! texts of a create request are [truncated, and broken where a mail program would turn them into a
//! link](crate::buyer::recipient::text::brief). The shop's own sentence is broken in the same way. It is not truncated,
//! because the profile already limits its length.

mod content;
mod events;
mod html;
mod plain;
mod style;

use super::calendar::Calendar;
use super::language::Language;
use super::page::SERVICE_NAME;
use super::profile::Profile;
use super::progress::OfferingProgress;
use super::text::sender;
use crate::buyer::web_address::WebAddress;
use crate::pledges::time::TimeZones;
use crate::pledges::types::RetrievedPledgeTransaction;
use content::MailContent;
use events::MailNews;
use style::Look;

/// An e-mail without the addresses of sender and recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    pub language: Language,
    /// The name of the sender, which is the unit's name.
    pub sender: String,
    /// The subject: one line.
    pub subject: String,
    /// The content as plain text.
    pub text: String,
    pub html: String,
}

/// A message by a messaging service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageTexts {
    pub language: Language,
    /// The title, which is also the subject of the e-mail.
    pub title: String,
    pub text: String,
}

/// Writes the e-mail about a transaction. The profile sets the language, time zone and look of the e-mail,
/// and may add a sentence by the shop. The default language is English, and the default time zone is UTC.
/// Returns `None` if the record lacks the URL of the transaction's page.
pub fn mail(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    zones: &dyn TimeZones,
) -> Option<Mail> {
    content(transaction, profile, zones).map(|content| written(&content, profile))
}

/// Writes the e-mail with news about a transaction: these updates, in this language. `unsubscribe` is the URL of the page that
/// ends such e-mails. Returns `None` as [`mail()`] does.
pub fn news_mail(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    progress: &[OfferingProgress<'_>],
    language: Language,
    unsubscribe: &str,
    zones: &dyn TimeZones,
) -> Option<Mail> {
    let link = transaction.timeline_url.as_deref().and_then(WebAddress::parse)?.href;
    let calendar = Calendar::new(language, profile, zones);
    let news = MailNews::new(calendar, transaction, progress, unsubscribe);
    let content = MailContent::new(transaction, profile, calendar, link, Some(news));
    Some(written(&content, profile))
}

fn written(content: &MailContent<'_>, profile: Option<&Profile>) -> Mail {
    Mail {
        language: content.language,
        sender: sender(content.shop).unwrap_or_else(|| SERVICE_NAME.to_owned()),
        subject: content.subject(),
        text: plain::mail_text(content),
        html: html::document(content, &Look::new(profile)),
    }
}

/// Writes the message about a transaction. Uses the profile and the default values in the same way as
/// [`mail()`].
pub fn message_texts(
    transaction: &RetrievedPledgeTransaction<'_>,
    profile: Option<&Profile>,
    zones: &dyn TimeZones,
) -> Option<MessageTexts> {
    let content = content(transaction, profile, zones)?;
    Some(MessageTexts {
        language: content.language,
        title: content.subject(),
        text: plain::message_text(&content),
    })
}

fn content<'c>(
    transaction: &'c RetrievedPledgeTransaction<'_>,
    profile: Option<&'c Profile>,
    zones: &'c dyn TimeZones,
) -> Option<MailContent<'c>> {
    let link = transaction.timeline_url.as_deref().and_then(WebAddress::parse)?.href;
    let language = profile.and_then(|profile| profile.language).unwrap_or_default();
    let calendar = Calendar::new(language, profile, zones);
    Some(MailContent::new(transaction, profile, calendar, link, None))
}
