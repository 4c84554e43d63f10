use super::credit::{Credit, CreditRequest};
use super::plan::plan;
use super::refusal::conflict;
use crate::office::audit::rule::{Author, Subject};
use crate::office::credits::rows as credits;
use crate::office::credits::rows::CreditRow;
use crate::office::shared::rows::port::{Ledger, Statement};
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::records::put_record;
use crate::office::system::rule::epoch;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Cancelled, CancelledKey, Key as _, OperatorStore};
use crate::pledges::types::TransactionId;

const ADD: &str = "credits add";

/// Checks that a credit can be made, without writing anything. Returns the credit as it would be made.
/// Ledger cost: 3 queries. KV cost: 5 reads.
///
/// # Errors
/// - If the transaction does not exist or is damaged, or has nothing left to credit.
/// - If the amount or a quantity is not valid, or exceeds what is left.
/// - If the reason is not valid.
/// - If the ledger or the store fails.
pub async fn check(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Credit> {
    epoch::check(store, ledger).await?;
    plan(store, ledger, author, request).await.map(|(row, _)| Credit::from(row))
}

/// Credits a transaction, or a part of it.
///
/// # Errors
/// - As [`check`], which runs again.
/// - If another credit of the transaction is made at the same moment.
/// - If the month is marked as paid at the same moment.
pub async fn add(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Done<Credit>> {
    add_with(store, ledger, author, request, &[]).await
}

/// Credits a transaction like [`add`], together with other statements, in the same database transaction.
///
/// # Errors
/// As [`add`], and if one of the statements is refused.
pub(crate) async fn add_with(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
    together: &[Statement],
) -> Result<Done<Credit>> {
    let work = async |at: &Commit<'_, _, _>| add_now(store, at, request, together).await;
    let done = commit(ledger, author, (ADD, request), work).await?;
    if request.tell_buyer
        && let Some(id) = TransactionId::parse(&done.outcome.transaction)
    {
        // Again after a repeated request: the first one may have failed here.
        let cancelled = Cancelled { at: done.outcome.at.clone() };
        put_record(store, &CancelledKey(&id), &cancelled).await?;
    }
    Ok(done)
}

async fn add_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
    together: &[Statement],
) -> Result<Credit> {
    let Commit { author, ledger, .. } = commit;
    epoch::begin(store, *ledger, author.entropy).await?;
    let (planned, seen) = plan(store, *ledger, author, request).await?;
    let entry = author.entry(ADD, |_| subject(request, &Credit::from(planned.clone()))).await?;
    let row = CreditRow { at: entry.key.time_ms(), change: entry.key.name(), ..planned };
    let credit = Credit::from(row.clone());
    let statements = credits::crediting(&row, &seen)?.into_iter().chain(together.iter().cloned());
    match commit.make(&entry, &credit, statements).await? {
        true => Ok(credit),
        false => Err(conflict(
            "somebody credited the transaction, or marked the month as paid, at the same moment. Check \
             the transaction, and begin again",
        )),
    }
}

/// Returns what the audit log records about a credit: the transaction, and the credit in words.
fn subject(request: &CreditRequest, credit: &Credit) -> Subject {
    let words = credit.entry_in_words();
    let told = request.tell_buyer.then_some("the timeline says that the transaction was cancelled");
    let on = [&*credit.transaction, &*words].into_iter().chain(told);
    Subject::of(KeyLevel::Unit(credit.scope.unit.clone()), on)
}
