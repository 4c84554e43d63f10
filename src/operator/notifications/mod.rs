//! E-mails to recipients, for support: what became of each, which failed, and how one is sent again.
//!
//! A state is computed from what is stored, so that nothing must have been written for a loss to show.

mod failed;
mod preview;
mod resend;
mod status;
mod words;

pub use failed::{FailedMail, FailedQuery, Failures, failed};
pub use preview::{NOWHERE, Preview, masked_preview, preview};
pub use resend::{DayQuery, DayStep, QueuedRounds, Resent, next_message, queue_round, resend_day};
pub use status::{State, Status, WAITING_HOURS, status};
pub use words::{Words, can_be_sent, in_words, risk, risk_in_words, words};

use super::transactions::{Record, masked};
use super::{OperatorError, Result, load};
use crate::handle::Clock;
use crate::pledge::RetrievedPledgeTransaction;
use crate::recipient::Profile;
use crate::scope::Mode;
use crate::store::{OperatorStore, ProfileKey};
use serde::Serialize;
use status::status_beside;

/// A transaction with the state of its e-mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// The transaction's ID.
    pub id: String,
    /// Whether a test or a live key made it.
    pub mode: Mode,
    /// The unit that it belongs to.
    pub unit: String,
    /// Creation time, an RFC 3339 date-time.
    pub created_at: String,
    /// The first characters of the recipient's address.
    pub recipient: String,
    /// What became of the e-mail.
    pub mail: Status,
}

/// Shows what became of a transaction's e-mail.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn show(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
) -> Result<Shown> {
    shown(record, status(store, clock, record).await?)
}

fn shown(record: &Record, mail: Status) -> Result<Shown> {
    let (metadata, transaction) = (record.metadata()?, record.transaction()?);
    Ok(Shown {
        id: record.id.to_string(),
        mode: metadata.mode,
        unit: metadata.unit,
        created_at: transaction.created_at.to_string(),
        recipient: masked_recipient(&transaction),
        mail,
    })
}

/// The profile of a unit whose e-mails are on.
async fn mailing_profile(store: &impl OperatorStore, unit: &str) -> Result<Option<Profile>> {
    let profile: Option<Profile> = load(store, ProfileKey(unit)).await?;
    Ok(profile.filter(|profile| profile.mail))
}

/// The first characters of the recipient's address.
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
    OperatorError::Invalid(format!("there is no e-mail of {} to send: {why}", record.id))
}
