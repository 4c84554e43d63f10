use super::dues::Due;
use super::{CheckedPayment, LastChange, Paid, Payment, changed_in_words, last_change, payable};
use crate::office::audit::rule::{Author, Written};
use crate::office::payments::rows::due_versions;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published::changing;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::coverage::coverage_of_dues;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::shared::rule::records::encode;
use crate::office::system::rule::epoch;
use crate::office::system::rule::publish::publish_all;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};
use crate::pledges::time::date_time;
use std::slice;

const MARK: &str = "payments mark";

/// Checks that a month can be marked as paid. Writes nothing.
///
/// Ledger cost: 7 queries. 2 more if a charge is above 9 × 10^13, and 1 more if credits of earlier months
/// may be carried into the month. KV cost: 1 read.
///
/// # Errors
/// - If the month has not ended, or the ledger may lack transactions of it.
/// - If the month is already marked as paid, or the stated amount is not the amount due.
/// - If the month's number of unpriced pledges is not the number that the payment accepts.
/// - If the payment date is in the future, or the invoice number is not one line of 1 to 80 bytes.
/// - If the ledger or the store fails.
pub async fn check(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<CheckedPayment> {
    let Payment { of, paid_at, invoice, .. } = payment;
    payable::check_stated(author.clock, payment)?;
    payable::check_unmarked(ledger, of).await?;
    payable::check_complete(ledger, of).await?;
    let coverage = coverage_of_dues(store, ledger, Some(slice::from_ref(&of.scope))).await?;
    let due = payable::due(ledger, payment, &coverage).await?;
    let settlement = Settlement {
        paid_at: paid_at.clone(),
        sums: due.into_iter().map(Due::into_settled).collect(),
        invoice: invoice.clone(),
        by: author.by.to_owned(),
        at: date_time(author.clock.now_ms()),
    };
    let damaged = coverage.damaged.clone();
    Ok(CheckedPayment { paid: Paid { of: of.clone(), settlement }, damaged, coverage })
}

/// Marks a month as paid.
///
/// # Errors
/// - As [`check`], which runs again.
/// - If somebody else marks the month at the same moment.
/// - If somebody marked the month as unpaid after the operation began.
pub async fn mark(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Done<Paid>> {
    let work = async |at: &Commit<'_, _, _>| mark_now(store, at, payment).await;
    let done = commit(ledger, author, (MARK, payment), work).await?;
    let name = SettlementKey(&payment.of).name();
    let _or_by_the_cron = publish_all(store, ledger, author.clock, &[name]).await;
    Ok(done)
}

async fn mark_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Paid> {
    let (of, Commit { author, ledger, .. }) = (&payment.of, commit);
    check_unit(&of.scope.unit)?;
    let version = due_versions::watch(*ledger, of).await?;
    let last = last_change(*ledger, of).await?;
    if let Some(last) = &last {
        refuse_overtaken(author, of, last)?;
    }
    let seen = last.map(|last| RecordVersion::of(&last.row)).unwrap_or_default();
    let checked = check(store, *ledger, author, payment).await?;
    write(store, commit, of, (seen, version), checked).await
}

/// Refuses a change if somebody marked the month as unpaid after the person had decided to mark it as paid.
fn refuse_overtaken(
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    last: &LastChange,
) -> Result<()> {
    let is_later = author.wanted_ms().is_some_and(|since_ms| last.row.at > since_ms);
    if last.settlement.is_some() || !is_later {
        return Ok(());
    }
    Err(of.refused(format_args!(
        "was changed after this form was opened ({}). Check the month, and begin again",
        changed_in_words(last)
    )))
}

/// Marks the month as paid, if it has the version that was seen, and what is due for it has this version.
async fn write(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    (seen, version): (RecordVersion, u64),
    CheckedPayment { paid: Paid { settlement, .. }, .. }: CheckedPayment,
) -> Result<Paid> {
    let Commit { author, ledger, .. } = commit;
    let marked = |at: &str| Settlement { at: at.to_owned(), ..settlement.clone() };
    epoch::begin(store, *ledger, author.entropy).await?;
    let entry = author.entry(MARK, |at| of.changed(&marked(at))).await?;
    let settlement = marked(entry.at());
    let record = Some(encode(&Written::new(&settlement, &entry))?);
    let mark = Replacement { name: SettlementKey(of).name(), seen, record };
    let versions = published::versions(author, &entry, vec![mark])?;
    let statements = due_versions::still(of, version)?.into_iter().chain(changing(&versions)?);
    let paid = Paid { of: of.clone(), settlement };
    match commit.make(&entry, &paid, statements).await? {
        true => Ok(paid),
        false => Err(of.refused_by(last_change(*ledger, of).await?.as_ref())),
    }
}
