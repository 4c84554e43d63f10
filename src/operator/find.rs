//! Transactions by what a caller on the phone knows.

use super::Outcome;
use super::transactions::{Metadata, Record, Row, Wanted, each};
use crate::pledge::RetrievedPledgeTransaction;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Sought {
    #[serde(flatten)]
    wanted: Wanted,
    reference: Option<String>,
    email: Option<String>,
    hashes: Vec<String>,
    records: Vec<Record>,
}

/// `{unit, mode?, reference | email, hashes, records}` → `{rows, unread, damaged}`.
pub(super) fn find(input: &str) -> Outcome {
    let sought: Sought = serde_json::from_str(input)?;
    let mut rows = Vec::new();
    let is_meant = |metadata: &Metadata| sought.wanted.has(metadata);
    let rest = each(&sought.records, is_meant, lacks_hashes, |record, metadata, transaction| {
        if sought.fits(metadata, transaction) {
            rows.push(Row::new(record, metadata, metadata.completed(transaction)));
        }
    });
    Ok(json!({ "rows": rows, "unread": rest.unread, "damaged": rest.damaged }))
}

/// Whether only the record itself says whose it is.
pub(super) fn lacks_hashes(metadata: &Metadata) -> bool {
    metadata.summary.lookup.is_none() && metadata.summary.erased.is_none()
}

impl Sought {
    fn fits(
        &self,
        metadata: &Metadata,
        transaction: Option<&RetrievedPledgeTransaction<'_>>,
    ) -> bool {
        if let Some(hashes) = &metadata.summary.lookup {
            return self.hashes.contains(&hashes.reference) || self.hashes.contains(&hashes.email);
        }
        let Some(transaction) = transaction else { return false };
        let recipient = transaction.pledges.first().map(|pledge| &*pledge.recipient.email);
        let is_email =
            |email: &String| recipient.is_some_and(|own| own.eq_ignore_ascii_case(email));
        self.reference.as_ref().is_some_and(|reference| *reference == transaction.reference)
            || self.email.as_ref().is_some_and(is_email)
    }
}
