//! Changes what the ledger keeps: sets the first month that is kept, or empties the ledger for a rebuild.

use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::once::{Done, once};
use crate::office::system::rows::check;
use crate::office::system::rows::kept;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;

const KEEP_FROM: &str = "ledger keep-from";
const REBUILD: &str = "ledger rebuild";

/// Makes the ledger keep only transactions from this month on; `None` keeps all. Afterwards, a complete
/// reconciliation pass must run.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn keep_from(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    month: Option<Month>,
) -> Result<Done<()>> {
    let work = async |author: &Author<'_, _, _>| {
        let first = month.map_or_else(|| "all".to_owned(), |month| month.to_string());
        author.record(store, KEEP_FROM, [first]).await?;
        Ok(kept::keep_from(ledger, month).await?)
    };
    once(ledger, author, (KEEP_FROM, &month), work).await
}

/// Empties the ledger. Afterwards, a complete reconciliation pass must run, which writes all rows again.
///
/// # Errors
/// If the ledger or the store fails.
pub async fn rebuild(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
) -> Result<Done<()>> {
    let work = async |author: &Author<'_, _, _>| {
        author.record(store, REBUILD, ["all"]).await?;
        Ok(check::clear(ledger).await?)
    };
    once(ledger, author, (REBUILD, &()), work).await
}
