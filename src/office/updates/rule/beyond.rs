//! Compares what buyers are told with what was recorded as done.

use super::checked::NewUpdate;
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

/// Returns a warning if buyers would be told of more than was recorded as done, once an update is published as it is `wanted`;
/// otherwise `None`. Ledger cost: 2 queries, if the update says how much is done.
///
/// # Errors
/// If the ledger fails.
pub async fn beyond(
    ledger: &dyn Ledger,
    UpdateRow { pledges, update, state, .. }: &UpdateRow,
    wanted: &NewUpdate,
) -> Result<Option<String>> {
    let Pledges { mode, month, offering } = pledges;
    let Some(quantity) = quantity_done(wanted) else { return Ok(None) };
    let before = match state {
        UpdateState::Published => quantity_done(&NewUpdate::from(update)).unwrap_or_default(),
        _ => Decimal::default(),
    };
    let (mode, months) = (Some(*mode), [*month]);
    let told = of(offering, &told(ledger, mode, &months, MAX_SEARCHED).await?);
    let done = of(offering, &fulfilments::sums(ledger, mode, &months, MAX_SEARCHED).await?);
    let others = told.minus(&before).unwrap_or_default();
    let told = Decimal::sum([others, quantity].into_iter());
    Ok(done.minus(&told).is_none().then(|| {
        format!(
            "Timelines would then show that {} of {offering} is done for the pledges of {month}, but {} is recorded as done",
            told.to_exact(),
            done.to_exact()
        )
    }))
}

/// Returns the quantity of an update with the stage `done`; `None` if it says none.
fn quantity_done(update: &NewUpdate) -> Option<Decimal> {
    let is_done = update.stage == Stage::Done.name();
    Decimal::parse_bounded(&update.quantity).filter(|_| is_done)
}

fn of(offering: &str, sums: &[OfferingSum]) -> Decimal {
    let own = sums.iter().find(|sum| sum.offering == offering);
    own.and_then(|sum| Decimal::parse(&sum.quantity)).unwrap_or_default()
}
