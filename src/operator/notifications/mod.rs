//! E-mails to recipients, for support: the delivery state of an e-mail, lists of failed e-mails, previews and resends.
//!
//! The state is computed from the stored records. So an e-mail that was lost shows as failed even if no record states
//! that.

mod failed;
mod preview;
mod recent;
mod resend;
mod status;
mod words;

pub use failed::{FailedMail, FailedQuery, Failures, failed};
pub use preview::{NOWHERE, Preview, masked_preview, preview};
pub use recent::{RECENT_DAYS, RecentFailures, recent_failures};
pub use resend::{DayQuery, DayStep, QueuedRounds, Resent, next_message, queue_round, resend_day};
pub use status::{State, Status, WAITING_HOURS, status};
pub use words::{Words, can_be_sent, in_words, risk, risk_in_words, words};

use super::transactions::{Record, masked};
use super::{OperatorError, Result, load};
use crate::pledge::RetrievedPledgeTransaction;
use crate::recipient::Profile;
use crate::scope::Mode;
use crate::service::Clock;
use crate::store::{OperatorStore, ProfileKey};
use serde::Serialize;
use status::status_beside;

/// A transaction with the state of its e-mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailView {
    /// The transaction's ID.
    pub id: String,
    /// Test or live.
    pub mode: Mode,
    /// The transaction's unit.
    pub unit: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The masked e-mail address of the recipient.
    pub recipient: String,
    /// The delivery state of the e-mail.
    pub mail: Status,
}

/// Returns a transaction with the state of its e-mail.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn show(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
) -> Result<EmailView> {
    shown(record, status(store, clock, record).await?)
}

fn shown(record: &Record, mail: Status) -> Result<EmailView> {
    let (metadata, transaction) = (record.metadata()?, record.transaction()?);
    Ok(EmailView {
        id: record.id.to_string(),
        mode: metadata.mode,
        unit: metadata.unit,
        created_at: transaction.created_at.to_string(),
        recipient: masked_recipient(&transaction),
        mail,
    })
}

/// Returns the profile of a unit; `None` if it has none, or its e-mails are off.
async fn mailing_profile(store: &impl OperatorStore, unit: &str) -> Result<Option<Profile>> {
    let profile: Option<Profile> = load(store, ProfileKey(unit)).await?;
    Ok(profile.filter(|profile| profile.mail))
}

/// Returns the masked e-mail address of the recipient.
fn masked_recipient(transaction: &RetrievedPledgeTransaction<'_>) -> String {
    let pledge = transaction.pledges.first();
    pledge.map(|pledge| masked(&pledge.recipient.email)).unwrap_or_default()
}

fn refuse_erased(record: &Record) -> Result<()> {
    match record.metadata()?.summary.erased {
        Some(time) => Err(refusal(record, &format!("its recipient was erased on {time}"))),
        None => Ok(()),
    }
}

fn refusal(record: &Record, why: &str) -> OperatorError {
    OperatorError::Invalid(format!("the e-mail of {} cannot be sent: {why}", record.id))
}
