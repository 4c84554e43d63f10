//! Makes a request.

use super::request::Request;
use crate::office::audit::rule::{Author, Subject};
use crate::office::credit_requests::rows::requests as rows;
use crate::office::credit_requests::rows::requests::{RequestRow, RequestState};
use crate::office::credits::rows::Credited;
use crate::office::credits::rule as credits;
use crate::office::credits::rule::{Credit, CreditRequest};
use crate::office::payments::rule::due::money;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::Done;
use crate::office::system::rule::epoch;
use crate::pledges::auth::KeyLevel;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

const REQUEST: &str = "credits request";
/// Number of hexadecimal digits in a request's ID.
const ID_DIGITS: usize = 20;

/// Checks that a credit can be requested, without writing anything. Returns the credit as it would be made. The cost is that
/// of [`credits::check`].
///
/// # Errors
/// As [`credits::check`]. Whether the transaction was charged is asked of those who confirm the request.
pub async fn check(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    wanted: &CreditRequest,
) -> Result<Credit> {
    let wanted = CreditRequest { was_charged: Some(true), ..wanted.clone() };
    credits::check(store, ledger, author, &wanted).await
}

/// Requests a credit. Ledger cost: 5 calls, and 1 more for people of shops. KV cost: 5 reads.
///
/// # Errors
/// - As [`check`].
/// - If the transaction already has an open request, or was credited at the same moment.
/// - If the author is a person of a shop, and no longer its manager.
pub async fn make(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    wanted: &CreditRequest,
) -> Result<Done<Request>> {
    let work = async |at: &Commit<'_, _, _>| make_now(store, at, wanted).await;
    commit(ledger, author, (REQUEST, wanted), work).await
}

async fn make_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    wanted: &CreditRequest,
) -> Result<Request> {
    let Commit { author, ledger, .. } = commit;
    epoch::begin(store, *ledger, author.entropy).await?;
    let credit = check(store, *ledger, author, wanted).await?;
    let on = [&*credit.transaction, &*format!("{}: {}", credit.in_words(), wanted.reason)]
        .map(str::to_owned);
    let of = KeyLevel::Unit(credit.scope.unit.clone());
    let entry = author.entry(REQUEST, |_| Subject::of(of, on)).await?;
    let row = row(author, wanted, credit, entry.key.time_ms())?;
    let made = Request::try_from(row.clone())?;
    let sender = author.sender();
    match commit.make(&entry, &made, rows::adding(&row, sender.as_deref())?).await? {
        true => Ok(made),
        false => Err(not_made(*ledger, &row.id).await?),
    }
}

fn row(
    author: &Author<'_, impl Clock, impl Entropy>,
    wanted: &CreditRequest,
    credit: Credit,
    at: u64,
) -> Result<RequestRow> {
    let digits: String =
        author.operation_hash().unwrap_or_default().chars().take(ID_DIGITS).collect();
    Ok(RequestRow {
        request: ["crq_", &digits].concat(),
        id: credit.transaction,
        scope: credit.scope,
        content: serde_json::to_value(wanted)?,
        currency: credit.currency_code,
        amount: Credited::new(&money(&credit.amount)),
        credits: credit.number.saturating_sub(1),
        author: author.by().to_owned(),
        by_shop: u8::from(author.sender().is_some()),
        at,
        state: RequestState::Open,
        decision: None,
        answer: None,
    })
}

async fn not_made(ledger: &dyn Ledger, id: &str) -> Result<OperatorError> {
    let has_open = rows::of(ledger, id).await?.iter().any(RequestRow::is_open);
    Ok(OperatorError::try_again(match has_open {
        true => {
            "nothing was requested: a credit of this transaction is already requested, and not decided yet"
        }
        false => {
            "nothing was requested: the transaction was credited, or your role was changed, at the same moment. Check the \
             transaction, and begin again"
        }
    }))
}
