//! Compares the copies of price lists and profiles in Workers KV with their rows in the ledger, and writes those again
//! that are missing or old.

use crate::office::audit::rule::change_of;
use crate::office::prices::rule as prices;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published;
use crate::office::shared::rows::published::PublishedRow;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::records::read_value;
use crate::office::shops::rule::units;
use crate::office::system::rows::state::SHOWN_AFTER_MS;
use crate::pledges::service::Clock;
use crate::pledges::store::{Key as _, OperatorStore, PriceListKey, ProfileKey};
use serde::Serialize;

/// What a comparison did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Republished {
    /// Number of copies that Workers KV shows as they are in the ledger.
    pub confirmed: usize,
    /// Number of copies that were written again.
    pub written: usize,
}

/// Compares at most `most` copies that are not confirmed yet, and whose records were changed more than two minutes ago:
/// by then Workers KV shows the copy, if it was written. A copy that was written again is confirmed by the next call. KV
/// cost: 1 read for each copy, and at most 2 writes. Ledger cost: 1 query, and 1 for each copy.
///
/// # Errors
/// If the ledger or the store fails. The next call begins again.
pub async fn republish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    most: usize,
) -> Result<Republished> {
    let before = clock.now_ms().saturating_sub(SHOWN_AFTER_MS);
    let mut done = Republished::default();
    for row in published::unconfirmed(ledger, before, most).await? {
        if is_shown(store, &row).await? {
            published::confirm(ledger, &row).await?;
            done.confirmed += 1;
        } else {
            publish(store, row).await?;
            done.written += 1;
        }
    }
    Ok(done)
}

/// Returns whether Workers KV shows the copy of a record as its last change left it.
async fn is_shown(store: &impl OperatorStore, row: &PublishedRow) -> Result<bool> {
    let copy = match PriceListKey::parse(&row.name) {
        Some(of) => read_value(store, of).await?,
        None => read_value(store, ProfileKey(unit_of(row))).await?,
    };
    Ok(match copy {
        None => row.content.is_none(),
        Some(copy) => {
            row.content.is_some()
                && change_of(&copy).is_some_and(|change| change.name() == row.change)
        }
    })
}

async fn publish(store: &impl OperatorStore, row: PublishedRow) -> Result<()> {
    match PriceListKey::parse(&row.name.clone()) {
        Some(of) => prices::publish(store, of, row).await,
        None => units::publish(store, unit_of(&row.clone()), row).await,
    }
}

fn unit_of(row: &PublishedRow) -> &str {
    row.name.strip_prefix(ProfileKey::PREFIX).unwrap_or_default()
}
