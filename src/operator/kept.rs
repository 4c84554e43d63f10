//! From which month on the ledger keeps transactions.

use super::audit::Author;
use super::{Result, bound};
use crate::handle::{Clock, Entropy};
use crate::ledger::{self, Ledger};
use crate::settlement::Month;
use crate::store::OperatorStore;

/// Keeps transactions from this month on, or all of them. A whole pass of the reconciliation has to follow.
///
/// # Errors
/// If no ledger is bound, or ledger or store fail.
pub async fn keep_from(
    store: &impl OperatorStore,
    ledger: Option<&dyn Ledger>,
    author: &Author<'_, impl Clock, impl Entropy>,
    month: Option<Month>,
) -> Result<()> {
    let ledger = bound(ledger)?;
    let first = month.map_or_else(|| "all".to_owned(), |month| month.to_string());
    author.record(store, "ledger keep-from", [first]).await?;
    Ok(ledger::keep_from(ledger, month).await?)
}
