//! Makes the credit of a request at once, within the limit of the unit.

use super::decide::{confirm, sums, wanted};
use super::request::{Request, last};
use crate::office::audit::rule::Author;
use crate::office::credit_requests::rows::limits;
use crate::office::credits::rows::Credited;
use crate::office::credits::rule::{Credit, CreditRequest};
use crate::office::payments::rule::due::money;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::{OperatorError, Result};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;

/// Returns whether a credit would be made at once: a person of a shop requests it, and it is within the limit of the unit.
/// Ledger cost: 1 query.
pub async fn is_at_once(
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    credit: &Credit,
) -> Result<bool> {
    let Credit { transaction, scope, currency_code, amount, .. } = credit;
    let cents = Credited::new(&money(amount)).cents;
    let sums = sums((transaction, scope, currency_code), cents, author.clock.now_ms());
    Ok(author.sender().is_some() && limits::is_within(ledger, sums).await?)
}

/// Makes the credit of a request of a person of a shop, if it is within the limit of the unit. Otherwise the request stays
/// open, also if it turns out meanwhile that a person has to decide. May be repeated. Ledger cost: 1 query, and that of
/// [`confirm`].
///
/// # Errors
/// If the author is no longer a manager, or the ledger or the store fails.
pub async fn at_once(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    made: &Request,
) -> Result<Option<Credit>> {
    let row = last(ledger, &made.transaction).await?;
    let is_own = row.request == made.request && author.sender().is_some();
    if !is_own || !(row.is_open() || row.is_at_once()) {
        return Ok(None);
    }
    let wanted = CreditRequest { seen: Some(row.credits), ..wanted(&row, None)? };
    match confirm(store, ledger, &author.of_step("credit"), &row, &wanted).await {
        Err(OperatorError::Invalid(_)) => Ok(None),
        done => done.map(|done| Some(done.outcome)),
    }
}
