use super::dues;
use super::dues::Due;
use super::{CHANGED, CheckedPayment, Paid, Payment, changed_in_words, look, payable};
use crate::office::audit::rule::{Author, Written};
use crate::office::shared::rows::claims::{Claim, Fact, ObservedFact, TargetState};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::claimed_change;
use crate::office::shared::rule::claimed_change::ClaimedChange;
use crate::office::shared::rule::coverage::{Coverage, coverage_of_dues};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::put_record;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::{ScopeMonth, Settlement};
use crate::pledges::store::{OperatorStore, SettlementKey};
use crate::pledges::time::date_time;
use std::slice;

const MARK: &str = "payments mark";

/// Checks that a month can be marked as paid. Writes nothing.
///
/// Ledger cost: 7 queries. 1 more if a charge is above 9 × 10^13, and 1 more if credits of earlier months
/// may be carried into the month. KV cost: 2 reads, and 1 more per 100 of these earlier months.
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
    payable::check_unmarked(store, ledger, author.clock, of).await?;
    payable::check_complete(ledger, of).await?;
    let coverage = coverage_of_dues(store, ledger, Some(slice::from_ref(&of.scope))).await?;
    let due = payable::due(store, ledger, payment, &coverage).await?;
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
    let work = async |author: &Author<'_, _, _>| mark_now(store, ledger, author, payment).await;
    once(ledger, author, (MARK, payment), work).await
}

async fn mark_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    payment: &Payment,
) -> Result<Paid> {
    let of = &payment.of;
    check_unit(&of.scope.unit)?;
    let refused = |claim: &Claim| {
        let words = changed_in_words(claim);
        of.refused(format_args!(
            "was changed after this form was opened ({words}). Check the month, and begin again"
        ))
    };
    let facts = [of.fact()];
    claimed_change::refuse_overtaken(ledger, author, (TargetState::Added, &facts), refused).await?;
    if author.earlier.is_some()
        && let Some((settlement, Some(change))) = look(store, of).await?
        && author.has_made(store, &change).await?
    {
        return Ok(Paid { of: of.clone(), settlement });
    }
    let checked = check(store, ledger, author, payment).await?;
    write(store, ledger, author, of, checked).await
}

async fn write(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    CheckedPayment { paid: Paid { settlement, .. }, coverage, .. }: CheckedPayment,
) -> Result<Paid> {
    let marked = |at: &str| Settlement { at: at.to_owned(), ..settlement.clone() };
    let on = |at: &str| of.changed(&marked(at));
    let changing = ClaimedChange::begin(store, ledger, author, MARK, on).await?;
    let seen = [ObservedFact { fact: of.fact(), is_there: false, change: None }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => of.refused_by(claim),
        None => of.refused(CHANGED),
    };
    changing.claim_all(TargetState::Added, &seen, refused).await?;
    if let Err(error) = check_still_due(store, ledger, of, (&settlement, &coverage)).await {
        return Err(changing.give_up(&[of.fact()], error).await);
    }
    let settlement = marked(&changing.entry().at);
    let written = Written::new(&settlement, changing.entry());
    let record = async |_: &Fact| put_record(store, &SettlementKey(of), &written).await;
    let unsure = |_: &Fact| format!("that {} is marked as paid", of.in_words());
    changing.write(&[of.fact()], record, unsure).await?;
    Ok(Paid { of: of.clone(), settlement })
}

/// Checks a payment again after the month was locked against further credits. Refuses the payment if a credit
/// was booked after the first check, or if the ledger was emptied to be rebuilt. Ledger cost: that of
/// [`dues::dues`], and 1 query.
async fn check_still_due(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    of: &ScopeMonth,
    (settlement, coverage): (&Settlement, &Coverage),
) -> Result<()> {
    let due = dues::unsettled(store, ledger, of, coverage).await?;
    let is_same = due.into_iter().map(Due::into_settled).eq(settlement.sums.iter().cloned());
    is_same.then_some(()).ok_or_else(|| of.refused(CHANGED))?;
    // After the sums: those of a month that is credited whole are 0.00 without its transactions, too.
    payable::check_complete(ledger, of).await
}
