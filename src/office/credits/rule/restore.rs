//! Restores credits from the audit log, for a database that has lost them.

use super::add::DONE;
use super::credit::{AuditedCredit, Credit};
use crate::office::audit::rule as audit;
use crate::office::audit::rule::{Author, Change};
use crate::office::credits::rows as credits;
use crate::office::credits::rows::{Charge, CreditRow, Credited, left_of};
use crate::office::orders::rule as transactions;
use crate::office::payments::rule::due::money;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_values;
use crate::pledges::decimal::Decimal;
use crate::pledges::quantities::Quantities;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{AuditKey, Key as _, OperatorStore, decode};
use crate::pledges::time::parse_ms;
use serde::{Deserialize as _, Serialize};

/// The outcome of [`restore`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RestoredCredits {
    pub restored: u64,
    /// Number of credits that the ledger already had.
    pub known: u64,
    /// Names of the audit log's entries whose credits could not be written.
    pub failed: Vec<String>,
}

/// Restores to the ledger the credits that only the audit log still contains. Restores only confirmed
/// credits. The audit log confirms a credit by a second entry, written after the credit was made.
///
/// KV cost: 1 list per 1,000 entries of the audit log, 1 read per 100 credits, and 3 reads for each
/// transaction that was credited in full. Ledger cost: 1 query for each credit, and 1 more if the credit was
/// in full.
///
/// # Errors
/// If the ledger or the store fails. Some of the credits may already have been
/// written.
pub async fn restore(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<RestoredCredits> {
    author.record(store, "credits restore", [""; 0]).await?;
    let mut restored = RestoredCredits::default();
    for (name, audited) in confirmed(store, &mut restored.failed).await? {
        if credits::credit_of(ledger, &audited.credit.operation).await?.is_some() {
            restored.known += 1;
            continue;
        }
        let row = match row_of(store, ledger, &name, audited).await? {
            Some(row) => credits::restore(ledger, &row).await,
            None => Ok(None),
        };
        match row {
            Ok(Some(_)) => restored.restored += 1,
            Ok(None) | Err(LedgerError::Refused(_)) => restored.failed.push(name),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(restored)
}

/// Returns the confirmed credits of the audit log, each with the name of its entry. They are sorted by
/// transaction, and then by the credit's number. Adds to `unread` the names of entries that cannot be read.
async fn confirmed(
    store: &impl OperatorStore,
    unread: &mut Vec<String>,
) -> Result<Vec<(String, AuditedCredit)>> {
    let notes = audit::notes(store, 0).await?;
    let done = notes.iter().filter(|(_, note)| note.command == DONE);
    let mut keys: Vec<_> = done.filter_map(|(_, note)| AuditKey::parse(&note.on)).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found = Vec::new();
    for (key, value) in keys.iter().zip(read_values(store, &keys).await?) {
        let change = value.and_then(|value| decode::<Change>(AuditKey::KIND, &value).ok());
        let record = change.and_then(|change| change.record);
        match record.and_then(|record| AuditedCredit::deserialize(record).ok()) {
            Some(audited) => found.push((key.name(), audited)),
            None => unread.push(key.name()),
        }
    }
    found.sort_by(|(_, a), (_, b)| {
        (&a.credit.transaction, a.credit.number).cmp(&(&b.credit.transaction, b.credit.number))
    });
    Ok(found)
}

/// Returns the ledger's row of a credit; `None` if the credit's entry in the audit log is damaged.
async fn row_of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    change: &str,
    AuditedCredit { credit, whole }: AuditedCredit,
) -> Result<Option<CreditRow>> {
    let quantities = match whole {
        true => Some(rest_of(store, ledger, &credit).await?),
        false => quantities_of(&credit),
    };
    let (Some(quantities), Some(at)) = (quantities, parse_ms(&credit.at)) else { return Ok(None) };
    Ok(Some(CreditRow {
        operation: credit.operation,
        id: credit.transaction,
        number: credit.number,
        scope: credit.scope,
        order_month: credit.order_month,
        booked_month: credit.booked_month,
        currency: credit.currency_code,
        charge: Charge::new(&money(&credit.charge)),
        amount: Credited::new(&money(&credit.amount)),
        quantities,
        reason: credit.reason,
        change: change.to_owned(),
        author: credit.by,
        at,
    }))
}

/// Returns the quantities of a credit that covers a whole transaction: the pledged quantities less those of
/// earlier credits.
async fn rest_of(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    credit: &Credit,
) -> Result<Quantities> {
    let record = transactions::get(store, &credit.transaction).await?;
    let pledged = transactions::quantities_to_keep(store, &record).await?;
    let mut earlier = credits::credits(ledger, &credit.transaction).await?;
    earlier.retain(|other| other.number < credit.number);
    Ok(left_of(&pledged, &earlier))
}

fn quantities_of(credit: &Credit) -> Option<Quantities> {
    let sums = credit.quantities.iter();
    let sums = sums.map(|it| Some((it.offering.clone(), Decimal::parse_bounded(&it.quantity)?)));
    let sums: Option<Vec<_>> = sums.collect();
    Some(Quantities::of_sums(sums?.into_iter()))
}
