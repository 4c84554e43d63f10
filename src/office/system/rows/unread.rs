//! Reads the records of transactions with so many quantities that their metadata does not have them. Each
//! record is read only once, because a later pass finds that the transaction's row is up to date.

use super::findings::Finding;
use super::receive::entry_of;
use super::reconcile::{Pass, Result};
use super::transactions::{ListedTransaction, damaged};
use crate::office::orders::rows::entry::Entry;
use crate::office::shared::rows::port::{Query, ask};
use crate::pledges::service::Clock;
use crate::pledges::store::{Key as _, MAX_READS, OperatorStore, Recorded, TransactionKey};
use crate::pledges::time::parse_ms;
use serde::Serialize;
use std::collections::BTreeSet;

/// Maximum total size of the records that are read at the same time, in bytes.
const MAX_BYTES_READ: usize = 8 * 1024 * 1024;

impl<S: OperatorStore, C: Clock> Pass<'_, S, C> {
    /// Reads the records of transactions whose metadata lacks the quantities. Skips transactions whose rows
    /// are up to date.
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
        let mut written = Vec::new();
        for some in by_size(&unread) {
            let entries = self.entries_of(some, findings).await?;
            written.extend(self.keep(&entries, findings).await?); // each row can be as large as its record
        }
        Ok(written)
    }

    async fn entries_of(
        &mut self,
        seen: &[ListedTransaction],
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<Entry>> {
        self.calls = self.calls.saturating_sub(1);
        let keys: Vec<_> = seen.iter().map(|seen| TransactionKey(&seen.recorded.id)).collect();
        let values = self.store.get_values(&keys).await?;
        let mut entries = Vec::with_capacity(seen.len());
        for (ListedTransaction { recorded, .. }, value) in seen.iter().zip(values) {
            let Some(value) = value else { continue }; // removed since it was listed
            match entry_of(recorded, &value) {
                Some(entry) => entries.push(entry),
                None => findings.push(damaged(&TransactionKey(&recorded.id).name())),
            }
        }
        Ok(entries)
    }
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

/// Selects the transactions whose row is missing or outdated. A row is outdated if its creation time differs
/// from the record's, or if it does not show the erasure.
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
  OR (t.erased IS NULL AND asked.value ->> '$.is_erased')";
}
