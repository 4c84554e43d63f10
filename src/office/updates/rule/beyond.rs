//! Compares what buyers are told with what was recorded as done.

use crate::buyer::updates::Stage;
use crate::office::fulfilment::rows::fulfilments;
use crate::office::fulfilment::rows::quantities::OfferingSum;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::updates::rows::told::told;
use crate::office::updates::rows::updates::{Pledges, UpdateRow, UpdateState};
use crate::pledges::decimal::Decimal;

/// Maximum number of a month's offerings that are searched.
const MAX_SEARCHED: usize = 10_000;

/// Returns a warning if buyers would be told of more than was recorded as done, once this update is published; otherwise
/// `None`. Ledger cost: 2 queries, if the update says how much is done.
///
/// # Errors
/// If the ledger fails.
pub async fn beyond(ledger: &dyn Ledger, found: &UpdateRow) -> Result<Option<String>> {
    let UpdateRow { pledges: Pledges { mode, month, offering }, update, state, .. } = found;
    let quantity = update.quantity.filter(|_| update.stage == Stage::Done);
    let Some(quantity) = quantity.and_then(|amount| Decimal::shortest(amount.get())) else {
        return Ok(None);
    };
    let (mode, months) = (Some(*mode), [*month]);
    let told = of(offering, &told(ledger, mode, &months, MAX_SEARCHED).await?);
    let done = of(offering, &fulfilments::sums(ledger, mode, &months, MAX_SEARCHED).await?);
    let told = match state {
        UpdateState::Published => told,
        _ => Decimal::sum([told, quantity].into_iter()),
    };
    Ok(done.minus(&told).is_none().then(|| {
        format!(
            "Timelines would then show that {} of {offering} is done for the pledges of {month}, but {} is recorded as done",
            told.to_exact(),
            done.to_exact()
        )
    }))
}

fn of(offering: &str, sums: &[OfferingSum]) -> Decimal {
    let own = sums.iter().find(|sum| sum.offering == offering);
    own.and_then(|sum| Decimal::parse(&sum.quantity)).unwrap_or_default()
}
