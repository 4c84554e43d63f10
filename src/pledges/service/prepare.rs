//! Prepares the transaction of a create request: its IDs, its answer and its record.

use super::create_input::CreateInput;
use super::prepared::{Ids, Prepared};
use crate::pledges::api;
use crate::pledges::api::{
    EDIT_KEY_PARAMETER, MAX_RECORD_BYTES, MIN_PLEDGE_BYTES, Problem, TIMELINE_PATH,
};
use crate::pledges::idempotency::Terms;
use crate::pledges::store::TransactionMetadata;
use crate::pledges::types::{
    Charge, EditKey, Notification, NotificationService, Pledge, PledgeId, PledgeRequest,
    PledgeTransaction, PledgeTransactionRequest,
};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Makes the answer and the record of a transaction from a valid request.
pub(super) fn prepare(
    input: &CreateInput<'_>,
    payload: PledgeTransactionRequest<'_>,
    ids: &Ids<'_>,
    terms: &Terms,
) -> Result<Prepared, Problem> {
    check_pledge_count(&payload)?;
    let services = services(&payload, &input.deliverable);
    let (caller, summary) = (input.caller, input.summary(&payload, terms));
    let id = input.id(&payload, ids);
    let edit_key = EditKey::from_bytes(ids.bytes("edit_key", 0));
    let url = format!("{}{TIMELINE_PATH}/{id}?{EDIT_KEY_PARAMETER}={edit_key}", terms.origin);
    let recipient = api::to_raw_json(&payload.recipient);
    let transaction = PledgeTransaction {
        id: Cow::Borrowed(id.as_str()),
        reference: payload.reference,
        created_at: Cow::Borrowed(&terms.created_at),
        is_live: caller.scope.mode.is_live(),
        charge: Charge {
            amount: Cow::Borrowed(&terms.amount),
            currency_code: Cow::Borrowed(&terms.currency_code),
            paid_at: None,
        },
        recipient: &*recipient,
        trigger: payload.trigger,
        pledges: pledges(payload.pledges, ids),
        notifications: payload.notifications.into_iter().map(pending).collect(),
        timeline_url: Cow::Owned(url),
    };
    let answer = api::to_json(&transaction);
    check_record_size(&answer, &recipient, transaction.pledges.len())?;
    let record = api::to_json(&transaction.into_retrieved());
    let mut metadata = TransactionMetadata::new(caller.scope.clone(), &edit_key);
    metadata.bytes = record.len();
    metadata.summary = summary;
    Ok(Prepared { id, metadata, answer, record, services })
}

/// Refuses a transaction with more pledges than fit into a record.
fn check_pledge_count(payload: &PledgeTransactionRequest<'_>) -> Result<(), Problem> {
    let fits = payload.pledges.len() <= MAX_RECORD_BYTES / MIN_PLEDGE_BYTES;
    fits.then_some(()).ok_or(Problem::RecordTooLarge)
}

/// Refuses a transaction whose record would be too large, before making the record. Each pledge in the record
/// has a copy of the recipient (§4.2), so a small body could need gigabytes.
fn check_record_size(answer: &[u8], recipient: &RawValue, pledges: usize) -> Result<(), Problem> {
    let copies = recipient.get().len().saturating_mul(pledges);
    let fits = answer.len().saturating_add(copies) <= MAX_RECORD_BYTES;
    fits.then_some(()).ok_or(Problem::RecordTooLarge)
}

/// Returns the pledges. Their descriptions are serialized once, for both the answer and the record.
fn pledges<'a>(requests: Vec<PledgeRequest<'a>>, ids: &Ids<'_>) -> Vec<Pledge<'a, Box<RawValue>>> {
    let pledge = |(index, request): (usize, PledgeRequest<'a>)| {
        let id = PledgeId::from_bytes(ids.bytes("pledge", index)).into_string();
        let detail = api::to_raw_json(&request.detail);
        Pledge { id: Cow::Owned(id), impact: request.impact, detail }
    };
    requests.into_iter().enumerate().map(pledge).collect()
}

/// Returns the notification services that the request asks for and that may deliver, each once.
fn services(
    payload: &PledgeTransactionRequest<'_>,
    deliverable: &[NotificationService],
) -> Vec<NotificationService> {
    let is_asked = |service: &&NotificationService| payload.notifications.contains(&service.name());
    deliverable.iter().filter(is_asked).copied().collect()
}

fn pending(kind: &'static str) -> Notification<'static> {
    Notification { kind: Cow::Borrowed(kind), status: Cow::Borrowed("Pending") }
}
