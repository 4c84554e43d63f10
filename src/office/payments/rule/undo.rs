//! Marks a month as unpaid again.

use super::{CHANGED, LastChange, Paid, changed_in_words, last_change};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published::NewVersion;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, once};
use crate::office::shared::rule::published;
use crate::office::shared::rule::published::{RecordVersion, Replacement};
use crate::office::system::rule::publish::publish_or_leave;
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
    let work = async |author: &Author<'_, _, _>| undo_now(store, ledger, author, of, seen).await;
    once(ledger, author, (UNDO, &(of, seen)), work).await
}

async fn undo_now(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    author: &Author<'_, impl Clock, impl Entropy>,
    of: &ScopeMonth,
    seen: Option<&str>,
) -> Result<Paid> {
    check_unit(&of.scope.unit)?;
    let last = last_change(ledger, of).await?;
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
    let entry = author.begin_entry(store, UNDO, |_| of.changed(&settlement)).await?;
    let name = SettlementKey(of).name();
    let undo = Replacement { name, seen: RecordVersion::of(&row), record: None };
    let lost = async |ledger: &dyn Ledger, _: &[NewVersion]| {
        let why = last_change(ledger, of).await?.as_ref().map(why);
        Ok(of.not_undone(
            why.map_or_else(|| CHANGED.to_owned(), |why| ["was changed meanwhile", &why].concat()),
        ))
    };
    let rows =
        published::replace_with((store, ledger), author, &entry, (vec![undo], &[]), lost).await?;
    publish_or_leave(store, author.clock, &rows).await;
    Ok(Paid { of: of.clone(), settlement })
}
