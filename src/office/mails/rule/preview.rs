use super::{masked_recipient, refusal, refuse_erased};
use crate::buyer::recipient::{Profile, mail, message_texts};
use crate::office::orders::rule::Record;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::load;
use crate::pledges::store::{OperatorStore, ProfileKey};
use crate::pledges::time::TimeZones;
use crate::pledges::types::{NotificationService, RetrievedPledgeTransaction};
use serde::Serialize;

/// A notification as it would be sent now. Its text and its HTML contain the recipient's name and the timeline's address,
/// with which anyone can open the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The transaction's ID.
    pub id: String,
    /// The masked e-mail address of the recipient.
    pub to: String,
    /// The name of the sender, which is the shop's name.
    pub sender: String,
    pub reply_to: Option<String>,
    /// The tag of the notification's language, such as `de`.
    pub language: &'static str,
    /// The subject of an e-mail, or the title of a message.
    pub subject: String,
    /// The content as plain text.
    pub text: String,
    /// The content of an e-mail as HTML. Messages have none.
    pub html: Option<String>,
}

/// Returns a service's notification about a transaction, even if it would not be sent.
///
/// # Errors
/// If the transaction was erased, has no timeline address or is damaged, or the store fails.
pub async fn preview(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    record: &Record,
    service: NotificationService,
) -> Result<Preview> {
    drafted(store, zones, (record, service), &record.transaction()?).await
}

/// The placeholder for the timeline's address in a [masked preview](masked_preview). It leads nowhere.
pub const NOWHERE: &str = "https://preview.invalid/";

/// Returns a [`preview`] with a masked recipient and masked texts. The timeline's address is [`NOWHERE`].
///
/// # Errors
/// As [`preview`].
pub async fn masked_preview(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    record: &Record,
    service: NotificationService,
) -> Result<Preview> {
    let mut transaction = record.masked()?;
    transaction.timeline_url = Some(NOWHERE.into());
    drafted(store, zones, (record, service), &transaction).await
}

/// Returns one service's notification about a transaction. If the given transaction has masked texts, the
/// notification's texts are masked, too.
async fn drafted(
    store: &impl OperatorStore,
    zones: &dyn TimeZones,
    (record, service): (&Record, NotificationService),
    transaction: &RetrievedPledgeTransaction<'_>,
) -> Result<Preview> {
    refuse_erased(record, service)?;
    let profile: Option<Profile> = load(store, ProfileKey(&record.metadata()?.scope.unit)).await?;
    let mail = mail(transaction, profile.as_ref(), zones).ok_or_else(|| {
        refusal(record, service, "the transaction's record has no timeline address")
    })?;
    let message = message_texts(transaction, profile.as_ref(), zones);
    let message = message.filter(|_| !service.is_email());
    Ok(Preview {
        id: record.id.to_string(),
        to: masked_recipient(&record.transaction()?),
        sender: mail.sender,
        reply_to: profile.and_then(|profile| profile.reply_to).filter(|_| service.is_email()),
        language: mail.language.tag(),
        subject: mail.subject,
        text: message.map_or(mail.text, |message| message.text),
        html: service.is_email().then_some(mail.html),
    })
}
