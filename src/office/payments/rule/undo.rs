//! Marks a month as unpaid again.

use super::{CHANGED, LastChange, Paid, changed_in_words, last_change};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published::changing;
use crate::office::shared::rule::commit::{Commit, commit};
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::Done;
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::system::rule::publish::publish_all;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::{Key as _, OperatorStore, SettlementKey};

const UNDO: &str = "payments undo";

/// Marks a month as unpaid again, by removing its payment. `seen` is the time of the payment that the person
/// saw: a payment with another time is not removed. `None` removes any payment.
///
/// # Errors
/// - If the month is not marked as paid, or its payment does not have the time `seen`.
/// - If somebody else removes the payment at the same moment.
/// - If the ledger or the store fails.
pub async fn undo(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    seen: Option<&str>,
) -> Result<Done<Paid>> {
    let work = async |at: &Commit<'_, _, _>| undo_now(at, of, seen).await;
    let done = commit(ledger, author, (UNDO, of), work).await?;
    let name = SettlementKey(of).name();
    let _or_by_the_cron = publish_all(store, ledger, author.clock, &[name]).await;
    Ok(done)
}

async fn undo_now(
    commit: &Commit<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    seen: Option<&str>,
) -> Result<Paid> {
    let Commit { author, ledger, .. } = commit;
    check_unit(&of.scope.unit)?;
    let last = last_change(*ledger, of).await?;
    let why = |last: &LastChange| format!(": {}", changed_in_words(last));
    let Some(LastChange { settlement: Some(settlement), row }) = last else {
        let why = last.as_ref().map(why).unwrap_or_default();
        return Err(of.not_undone(format_args!("is not marked as paid{why}")));
    };
    let is_later = author.wanted_ms().is_some_and(|since_ms| row.at > since_ms);
    if is_later || seen.is_some_and(|seen| seen != settlement.at) {
        return Err(of.not_undone(
            "now has another payment than the one that you saw. Check the month again",
        ));
    }
    let entry = author.entry(UNDO, |_| of.changed(&settlement)).await?;
    let name = SettlementKey(of).name();
    let undo = Replacement { name, seen: RecordVersion::of(&row), record: None };
    let versions = published::versions(author, &entry, vec![undo])?;
    let paid = Paid { of: of.clone(), settlement };
    if !commit.make(&entry, &paid, changing(&versions)?).await? {
        let why = last_change(*ledger, of).await?.as_ref().map(why);
        return Err(of.not_undone(
            why.map_or_else(|| CHANGED.to_owned(), |why| ["was changed meanwhile", &why].concat()),
        ));
    }
    Ok(paid)
}
