use super::Status;
use super::status::status;
use crate::office::orders::rule::{Record, masked};
use crate::office::shared::rule::error::Result;
use crate::pledges::scope::Scope;
use crate::pledges::service::Clock;
use crate::pledges::store::OperatorStore;
use crate::pledges::types::{NotificationService, RetrievedPledgeTransaction};
use serde::Serialize;

/// A transaction with the state of one of its notifications.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmailView {
    /// The transaction's ID.
    pub id: String,
    /// The scope of the transaction.
    #[serde(flatten)]
    pub scope: Scope,
    /// The order number; empty after an erasure.
    pub reference: String,
    /// When the transaction was created, an RFC 3339 date-time.
    pub created_at: String,
    /// The masked e-mail address of the recipient.
    pub recipient: String,
    /// The delivery state of the notification.
    pub mail: Status,
}

/// Returns a transaction with the state of a service's notification.
///
/// # Errors
/// If the transaction is damaged, or the store fails.
pub async fn show(
    store: &impl OperatorStore,
    clock: &impl Clock,
    record: &Record,
    service: NotificationService,
) -> Result<EmailView> {
    shown(record, status(store, clock, record, service).await?)
}

pub(super) fn shown(record: &Record, mail: Status) -> Result<EmailView> {
    let (metadata, transaction) = (record.metadata()?, record.transaction()?);
    Ok(EmailView {
        id: record.id.to_string(),
        scope: metadata.scope,
        reference: transaction.reference.to_string(),
        created_at: transaction.created_at.to_string(),
        recipient: masked_recipient(&transaction),
        mail,
    })
}

pub(super) fn masked_recipient(transaction: &RetrievedPledgeTransaction<'_>) -> String {
    let pledge = transaction.pledges.first();
    pledge.map(|pledge| masked(&pledge.recipient.email)).unwrap_or_default()
}
