use super::credit::{AuditedCredit, Credit, CreditRequest};
use super::plan::plan;
use super::refusal::invalid;
use crate::office::audit::rule::{Author, Subject};
use crate::office::credits::rows as credits;
use crate::office::credits::rows::CreditRow;
use crate::office::shared::rows::port::{Ledger, LedgerError};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::records::put_record;
use crate::office::system::rule::epoch;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::{Cancelled, CancelledKey, Key as _, OperatorStore};
use crate::pledges::types::TransactionId;

const ADD: &str = "credits add";
/// The command in the second audit log entry of a credit. That entry confirms that the credit was made.
pub(super) const DONE: &str = "credits add (done)";

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
    let work = async |author: &Author<'_, _, _>| add_now(store, ledger, author, request).await;
    once(ledger, author, (ADD, request), work).await
}

async fn add_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
) -> Result<Credit> {
    let operation = author.operation_hash().unwrap_or_default();
    if author.earlier.is_some()
        && let Some(made) = credits::credit_of(ledger, &operation).await?
    {
        return confirmed(store, author, request, made).await;
    }
    epoch::begin(store, ledger, author.entropy).await?;
    let (planned, seen) = plan(store, ledger, author, request).await?;
    let recorded = |at: &str| {
        let credit = Credit { at: at.to_owned(), ..Credit::from(planned.clone()) };
        let subject = subject(request, &credit, &[&credit.transaction]);
        let audited = AuditedCredit::new(credit, request.part.is_none());
        Subject { record: serde_json::to_value(audited).ok(), ..subject }
    };
    let entry = author.begin_entry(store, ADD, recorded).await?;
    let row = CreditRow { at: entry.key.time_ms(), change: entry.key.name(), ..planned };
    let credit = async |ledger: &dyn Ledger| match credits::credit(ledger, &row, &seen).await {
        Ok(Some(made)) => Ok(made),
        Ok(None) => Err(invalid(
            "somebody credited the transaction, or marked the month as paid, at the same moment. Check \
             the transaction, and begin again",
        )),
        Err(LedgerError::Refused(_)) => {
            Err(invalid("the credits of the transaction would exceed its charge"))
        }
        Err(unknown) => Err(unknown.into()), // the row may be there: a retry finds out
    };
    let made = author.change((store, ledger), &entry, credit).await?;
    confirmed(store, author, request, made).await
}

/// Completes a credit whose row is in the ledger. First marks the transaction as cancelled if the request
/// asks for this. Then confirms the credit in the audit log. If a step fails, a retry of the request repeats
/// both steps.
async fn confirmed(
    store: &impl OperatorStore,
    author: &Author<'_, impl Clock, impl Entropy>,
    request: &CreditRequest,
    made: CreditRow,
) -> Result<Credit> {
    let change = made.change.clone();
    let credit = Credit::from(made);
    if request.tell_buyer
        && let Some(id) = TransactionId::parse(&credit.transaction)
    {
        put_record(store, &CancelledKey(&id), &Cancelled { at: credit.at.clone() }).await?;
    }
    let subject = subject(request, &credit, &[&change, &credit.transaction]);
    author.record_subject(store, DONE, subject).await?;
    Ok(credit)
}

/// Returns what the audit log records about a credit: `ids`, and the credit in words.
fn subject(request: &CreditRequest, credit: &Credit, ids: &[&str]) -> Subject {
    let words = credit.entry_in_words();
    let told = request.tell_buyer.then_some("the timeline says that the transaction was cancelled");
    let on = ids.iter().copied().chain([&*words]).chain(told);
    Subject::of(KeyLevel::Unit(credit.scope.unit.clone()), on)
}
