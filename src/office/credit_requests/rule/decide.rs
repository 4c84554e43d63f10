//! Confirms or refuses a request.

use super::request::{Request, last};
use crate::office::audit::rule::{Author, Subject};
use crate::office::credit_requests::rows::limits::LimitedSums;
use crate::office::credit_requests::rows::requests as rows;
use crate::office::credit_requests::rows::requests::{Decision, RequestRow, RequestState};
use crate::office::credits::rule as credits;
use crate::office::credits::rule::{Credit, CreditRequest};
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::ViewOptions;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::refused::RefusalCode;
use crate::office::system::rule::epoch;
use crate::pledges::auth::KeyLevel;
use crate::pledges::scope::Scope;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::date_time;

const REFUSE: &str = "credits refuse";

/// Returns the credit that a request asks for. The person who confirms it may have to state whether it was charged.
///
/// # Errors
/// If the row is damaged.
pub fn wanted(row: &RequestRow, was_charged: Option<bool>) -> Result<CreditRequest> {
    let wanted: CreditRequest = serde_json::from_value(row.content.clone())?;
    Ok(CreditRequest { was_charged, ..wanted })
}

/// Makes the credit of a request, which is decided in the same database transaction. `wanted` is the credit of [`wanted`].
/// A person of a shop can only confirm within the limit of the unit. Otherwise the cost is that of [`credits::add`].
///
/// # Errors
/// - As [`credits::add`].
/// - If the request is already decided.
/// - If the author is a person of a shop and the credit exceeds the limit of the unit, or the person is no longer a manager.
pub async fn confirm(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    row: &RequestRow,
    wanted: &CreditRequest,
) -> Result<Done<Credit>> {
    let decided = decided(row, author, RequestState::Credited);
    let (sender, cents) = (author.sender(), row.amount.cents);
    let sums = sums((&row.id, &row.scope, &row.currency), cents, author.clock.now_ms());
    let sums = sender.is_some().then_some(sums);
    let together = rows::deciding(&decided, sender.as_deref(), sums)?;
    match credits::add_with(store, ledger, author, wanted, &together).await {
        Err(OperatorError::Invalid(refused)) if refused.code == RefusalCode::TryAgain => {
            let now = last(ledger, &row.id).await?;
            check_open(&now, "nothing was credited", author)?;
            Err(OperatorError::Invalid(refused))
        }
        done => done,
    }
}

/// Returns the sums that limit a credit at once.
pub(super) fn sums<'a>(
    (id, scope, currency): (&'a str, &'a Scope, &'a str),
    cents: Option<u64>,
    now_ms: u64,
) -> LimitedSums<'a> {
    let month = Month::at(now_ms).and_then(Month::span_ms);
    LimitedSums { id, scope, currency, cents, since: month.map_or(0, |(begin, _)| begin) }
}

/// Returns the row of a request that the author decides now.
fn decided(
    row: &RequestRow,
    author: &Author<'_, impl Clock, impl Entropy>,
    state: RequestState,
) -> RequestRow {
    let decision = Decision {
        decider: author.by().to_owned(),
        decider_of_shop: u8::from(author.sender().is_some()),
        decided: author.clock.now_ms(),
    };
    RequestRow { state, decision: Some(decision), ..row.clone() }
}

/// Refuses to decide a request that is decided, or that somebody made after the form was opened. `otherwise` says what was
/// not done.
///
/// # Errors
/// If it is such a request.
pub fn check_open(
    row: &RequestRow,
    otherwise: &str,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<()> {
    let Some(Decision { decider, decider_of_shop, decided }) = &row.decision else {
        return check_known(row, otherwise, author);
    };
    let (by, at) = (author.name_of(decider, *decider_of_shop == 1), date_time(*decided));
    let what = row.state.name();
    Err(OperatorError::invalid(format!("{otherwise}: {by} decided this request at {at}: {what}")))
}

/// Refuses the open request of a transaction. A manager of the shop withdraws a request in this way. `answer` says why. Ledger
/// cost: 5 calls, and 1 more for people of shops. KV cost: 3 reads.
///
/// # Errors
/// - If the transaction has no open request.
/// - If the answer is not one line, or names the recipient.
/// - If the author is a person of a shop, and no longer its manager.
pub async fn refuse(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    (id, answer): (&str, &str),
) -> Result<Done<Request>> {
    let work = async |at: &Commit<'_, _, _>| refuse_now(store, at, (id, answer)).await;
    commit(ledger, author, (REFUSE, &(id, answer)), work).await
}

async fn refuse_now(
    store: &impl OperatorStore,
    commit: &Commit<'_, impl Clock, impl Entropy>,
    (id, answer): (&str, &str),
) -> Result<Request> {
    let Commit { author, ledger, .. } = commit;
    epoch::check(store, *ledger).await?;
    let row = last(*ledger, id).await?;
    check_open(&row, NOT_REFUSED, author)?;
    let record = transactions::get(store, id).await?;
    credits::check_reason(&record, &record.show(ViewOptions::default())?.row, answer)?;
    let of = KeyLevel::Unit(row.scope.unit.clone());
    let entry = author.entry(REFUSE, |_| Subject::of(of, [id, answer])).await?;
    let refused = decided(&row, author, RequestState::Refused);
    let refused = RequestRow { answer: Some(answer.to_owned()), ..refused };
    let shown = Request::try_from(refused.clone())?;
    let sender = author.sender();
    let statements = rows::deciding(&refused, sender.as_deref(), None)?;
    if commit.make(&entry, &shown, statements).await? {
        return Ok(shown);
    }
    check_open(&last(*ledger, id).await?, NOT_REFUSED, author)?;
    Err(OperatorError::lost_right())
}

const NOT_REFUSED: &str = "nothing was refused";

fn check_known(
    row: &RequestRow,
    otherwise: &str,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<()> {
    match row.at <= author.wanted_ms().unwrap_or(u64::MAX) {
        true => Ok(()),
        false => Err(OperatorError::invalid(format!(
            "{otherwise}: this credit was requested after you opened the page. Reload the page"
        ))),
    }
}
