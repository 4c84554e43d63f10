//! Reads the records of transactions whose metadata does not have all that a ledger row needs. These are
//! transactions of earlier releases, and transactions with many quantities. Each record is read only once,
//! because a later pass finds that the transaction's row is complete.

use super::findings::Finding;
use super::receive::entry_of;
use super::reconcile::{Pass, Result};
use super::transactions::{ListedTransaction, damaged};
use crate::office::orders::rows::entry::Entry;
use crate::office::shared::rows::port::{Query, ask};
use crate::pledges::secret::{NamespaceSecret, SecretRecord};
use crate::pledges::service::Clock;
use crate::pledges::store::{
    Key as _, MAX_READS, OperatorStore, Recorded, SecretKey, StoredValue as _, TransactionKey,
};
use crate::pledges::time::parse_ms;
use crate::pledges::types::RetrievedPledgeTransaction;
use serde::Serialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;

/// Maximum total size of the records that are read at the same time, in bytes.
const MAX_BYTES_READ: usize = 8 * 1024 * 1024;

impl ListedTransaction {
    /// Returns whether the metadata has all that a row needs. An erased transaction needs no hash of the reference.
    pub(crate) fn is_described(&self) -> bool {
        let summary = &self.recorded.summary;
        let lookup = summary.lookup.as_ref();
        summary.quantities.is_some()
            && (summary.erased.is_some() || lookup.is_some_and(|hashes| hashes.order.is_some()))
    }
}

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// Reads the records of transactions whose metadata lacks the quantities or the hash of the reference.
    /// Skips transactions whose rows are up to date.
    pub(crate) async fn read_records(
        &mut self,
        mut unread: Vec<ListedTransaction>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<String>> {
        if unread.is_empty() {
            return Ok(Vec::new());
        }
        self.calls = self.calls.saturating_sub(1);
        let asked = unread.iter().map(|seen| ExpectedRow::new(&seen.recorded)).collect();
        let missing = ask(self.ledger, &Missing { asked }).await?;
        let missing: BTreeSet<&str> = missing.iter().map(String::as_str).collect();
        unread.retain(|seen| missing.contains(seen.recorded.id.as_str()));
        if unread.is_empty() {
            return Ok(Vec::new());
        }
        let secret = self.secret().await?;
        let mut written = Vec::new();
        for some in by_size(&unread) {
            let entries = self.entries_of(some, secret.as_ref(), findings).await?;
            written.extend(self.keep(&entries, findings).await?); // each row can be as large as its record
        }
        Ok(written)
    }

    /// Returns the namespace's secret, which is the key for hashing references. Returns `None` if the
    /// namespace has no secret, or if the secret cannot be read.
    async fn secret(&mut self) -> Result<Option<NamespaceSecret>> {
        self.calls = self.calls.saturating_sub(1);
        let Some(stored) = self.store.get(&SecretKey).await? else { return Ok(None) };
        let record = stored.value.read(SecretKey::READ_MS).await?;
        let record: Option<SecretRecord> = serde_json::from_slice(&record).ok();
        Ok(record.map(|record| record.secret))
    }

    async fn entries_of(
        &mut self,
        seen: &[ListedTransaction],
        secret: Option<&NamespaceSecret>,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<Entry>> {
        self.calls = self.calls.saturating_sub(1);
        let keys: Vec<_> = seen.iter().map(|seen| TransactionKey(&seen.recorded.id)).collect();
        let values = self.store.get_values(&keys).await?;
        let mut entries = Vec::with_capacity(seen.len());
        for (ListedTransaction { recorded, .. }, value) in seen.iter().zip(values) {
            let Some(value) = value else { continue }; // removed since it was listed
            match entry(recorded, &value, secret) {
                Some(entry) => entries.push(entry),
                None => findings.push(damaged(&TransactionKey(&recorded.id).name())),
            }
        }
        Ok(entries)
    }
}

/// Creates a transaction's row from its record. If the record's value cannot be read, uses the metadata
/// alone. In that case, returns `None` if the metadata has no quantities.
fn entry(recorded: &Recorded, value: &[u8], secret: Option<&NamespaceSecret>) -> Option<Entry> {
    let Some(entry) = entry_of(recorded, value) else {
        return Entry::new(recorded, recorded.summary.quantities.clone()?);
    };
    Some(match reference(secret, recorded, value) {
        Some(hash) => entry.with_reference(hash),
        None => entry,
    })
}

/// Returns the hash of the reference that a record's value contains.
fn reference(
    secret: Option<&NamespaceSecret>,
    recorded: &Recorded,
    value: &[u8],
) -> Option<String> {
    let transaction: RetrievedPledgeTransaction<'_, IgnoredAny, IgnoredAny> =
        serde_json::from_slice(value).ok()?;
    Some(secret?.order(&recorded.scope(), &transaction.reference))
}

/// Splits transactions into groups that are small enough for the records of each group to be read together.
fn by_size(seen: &[ListedTransaction]) -> Vec<&[ListedTransaction]> {
    let (mut parts, mut rest) = (Vec::new(), seen);
    while !rest.is_empty() {
        let mut bytes = 0;
        let fits = rest.iter().take(MAX_READS).take_while(|seen| {
            bytes += seen.bytes;
            bytes <= MAX_BYTES_READ
        });
        let (part, others) = rest.split_at(fits.count().clamp(1, rest.len()));
        parts.push(part);
        rest = others;
    }
    parts
}

/// Selects the transactions whose row is missing or outdated. A row is outdated in three
/// cases: its creation time differs from the record's, it does not show the erasure, or it lacks the hash of
/// the reference.
#[derive(Serialize)]
struct Missing {
    asked: Vec<ExpectedRow>,
}

#[derive(Serialize)]
struct ExpectedRow {
    id: String,
    created: Option<u64>,
    is_erased: bool,
}

impl ExpectedRow {
    fn new(recorded: &Recorded) -> Self {
        let is_erased = recorded.summary.erased.is_some();
        ExpectedRow {
            id: recorded.id.to_string(),
            created: recorded.summary.created_at.as_deref().and_then(parse_ms),
            is_erased,
        }
    }
}

impl Query for Missing {
    type Row = String;
    const SQL: &'static str = "SELECT json_quote(asked.value ->> '$.id')
FROM json_each(?1, '$.asked') asked LEFT JOIN transactions t ON t.id = asked.value ->> '$.id'
WHERE t.id IS NULL OR t.created IS NOT asked.value ->> '$.created'
  OR (t.erased IS NULL AND asked.value ->> '$.is_erased')
  OR (t.erased IS NULL AND t.reference IS NULL)";
}
