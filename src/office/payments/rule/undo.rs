//! Marks a month as unpaid again.

use super::{CHANGED, Paid, changed_in_words, look};
use crate::office::audit::rule::Author;
use crate::office::shared::rows::claims::{Claim, Fact, ObservedFact, TargetState};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::claimed_change;
use crate::office::shared::rule::claimed_change::ClaimedChange;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::ids::check_unit;
use crate::office::shared::rule::once::{Done, once};
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::ScopeMonth;
use crate::pledges::store::{OperatorStore, SettlementKey};

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
    let refused = |claim: &Claim| {
        of.not_undone(format_args!("was changed meanwhile: {}", changed_in_words(claim)))
    };
    let facts = [of.fact()];
    claimed_change::refuse_overtaken(ledger, author, (TargetState::Removed, &facts), refused)
        .await?;
    let Some((settlement, change)) = look(store, of).await? else {
        let claim = claimed_change::recent(ledger, &[of.fact()], author.clock).await?.pop();
        let why = claim.map_or_else(String::new, |it| [": ", &changed_in_words(&it)].concat());
        return Err(of.not_undone(format_args!("is not marked as paid{why}")));
    };
    if seen.is_some_and(|seen| seen != settlement.at) {
        return Err(of.not_undone(
            "now has another payment than the one that you saw. Check the month again",
        ));
    }
    let changing =
        ClaimedChange::begin(store, ledger, author, UNDO, |_| of.changed(&settlement)).await?;
    let seen = [ObservedFact { fact: of.fact(), is_there: true, change }];
    let refused = |_: &Fact, claim: Option<&Claim>| match claim {
        Some(claim) => {
            of.not_undone(format_args!("was changed meanwhile: {}", changed_in_words(claim)))
        }
        None => of.not_undone(CHANGED),
    };
    changing.claim_all(TargetState::Removed, &seen, refused).await?;
    let remove = async |_: &Fact| Ok(store.remove(&SettlementKey(of)).await?);
    let unsure = |_: &Fact| format!("that {} is marked as unpaid", of.in_words());
    changing.write(&[of.fact()], remove, unsure).await?;
    Ok(Paid { of: of.clone(), settlement })
}
