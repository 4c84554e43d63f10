//! Erases the personal data of a transaction: in its record, in other records that belong to it, and in its
//! ledger row.

use super::age::check_erasable;
use super::counts::forget_counts;
use super::replay::{ensure_replay, replay_key};
use super::texts::without_texts;
use crate::office::audit::rule::Author;
use crate::office::orders::rows::entry;
use crate::office::orders::rows::entry::{Entry, Origin};
use crate::office::orders::rows::notes;
use crate::office::orders::rule::record::Record;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::{Done, StoredAsIs, once};
use crate::office::shared::rule::records::put_record;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::{
    ErasedKey, NewsKey, NewsSentKey, NotificationKey, OperatorStore, Recorded, TransactionKey,
    TransactionMetadata,
};
use crate::pledges::types::{NotificationService, RetrievedPledgeTransaction, TransactionId};
use serde::{Deserialize, Serialize};

pub(crate) const ERASE: &str = "transactions erase";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    pub id: String,
    /// The transaction's scope.
    #[serde(flatten)]
    pub scope: Scope,
    /// When the transaction was first erased, an RFC 3339 date-time.
    pub at: String,
    /// The time at which an earlier call erased the transaction, an RFC 3339 date-time; `None` if no earlier call did.
    pub before: Option<String>,
}

impl StoredAsIs for Erased {}

/// The record that stops restores from bringing back the personal data of a transaction.
#[derive(Serialize)]
struct ErasedMarker<'t> {
    /// When the transaction was erased, an RFC 3339 date-time.
    erased: &'t str,
}

/// Permanently replaces the recipient and all texts of a transaction, deletes its notes, and removes the hash of the recipient's
/// address. Marks the transaction as erased in its record and in the ledger. The
/// erasure may be repeated.
///
/// The transaction's idempotency key has a replay record, which must be visible everywhere before the
/// erasure. Without that record, a repeated create request would write the texts again.
///
/// # Errors
/// - If the transaction is damaged or too young.
/// - If the replay record was missing, and this call has only now written it.
/// - If the store fails, or the ledger fails after the transaction's record was rewritten.
pub async fn erase(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
) -> Result<Done<Erased>> {
    let work = async |author: &Author<'_, _, _>| erase_now(store, ledger, author, record).await;
    once(ledger, author, (ERASE, &record.id.as_str()), work).await
}

/// Erases a transaction as [`erase`] does, as a part of another operation.
pub(crate) async fn erase_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    record: &Record,
) -> Result<Erased> {
    check_erasable(author.clock, record)?;
    let metadata = record.metadata()?;
    let (value, access) = without_texts(store, record, author.clock.now_ms()).await?;
    author.record(store, ERASE, [record.id.to_string()]).await?;
    if let Some(replay) = replay_key(record, &metadata)? {
        ensure_replay(store, author.clock, record, &replay).await?;
    }
    let at = access.summary.erased.clone().unwrap_or_default();
    put_record(store, &ErasedKey(&record.id), &ErasedMarker { erased: &at }).await?;
    let services = record.services()?;
    for service in &services {
        forget_counts(store, record, (*service, false), author.clock.now_ms()).await?; // needs the address, which is erased below
    }
    forget_counts(store, record, (NotificationService::Email, true), author.clock.now_ms()).await?;
    let row = row_of(&record.id, &value, &access);
    store.put(&TransactionKey(&record.id), value, &access).await?;
    for service in services {
        store.remove(&NotificationKey(&record.id, service)).await?;
    }
    store.remove(&NewsSentKey(&record.id)).await?;
    if let Some(month) = Month::of(&record.transaction()?.created_at) {
        store.remove(&NewsKey { month, id: &record.id }).await?;
    }
    if let Some(row) = row {
        let written = entry::write(ledger, &[row], Origin::Message, author.clock.now_ms()).await;
        written.map_err(|error| left_in_ledger(record, &error))?;
    }
    let forgotten = notes::forget(ledger, record.id()).await;
    forgotten.map_err(|error| left_in_ledger(record, &error))?;
    let Recorded { id, scope, summary } = metadata;
    Ok(Erased { id: id.to_string(), scope, at, before: summary.erased })
}

/// Makes the ledger's row of an erased transaction from the new content of its record. Does not read the
/// record again, because Workers KV may still show the old content.
///
/// Returns `None` if the record lacks data that a row needs. The ledger has no row for such a record.
fn row_of(id: &TransactionId, value: &[u8], metadata: &TransactionMetadata) -> Option<Entry> {
    let transaction: RetrievedPledgeTransaction<'_> = serde_json::from_slice(value).ok()?;
    let impacts = transaction.pledges.iter().map(|pledge| &pledge.impact);
    let recorded = Recorded::new(id.clone(), metadata.clone(), None);
    Entry::of_pledges(&recorded, impacts)
}

fn left_in_ledger(record: &Record, error: &LedgerError) -> OperatorError {
    OperatorError::invalid(format!(
        "the record of {} is erased, but its row in the ledger is not ({error}). Erase the transaction again",
        record.id
    ))
}
