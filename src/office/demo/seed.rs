use super::clock::PastClock;
use super::data::Demo;
use super::development;
use super::past::Past;
use crate::office::orders::rows::orders::Direction;
use crate::office::orders::rule as transactions;
use crate::office::orders::rule::{SearchKey, TransactionFilter};
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rows::published;
use crate::office::shared::rule::error::Result;
use crate::office::system::rule::adopt::adopt;
use crate::office::system::rule::publish::republish;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::store::OperatorStore;
use crate::pledges::time::DAY_MS;
use std::cell::Cell;

/// Age of the demo's units, teams and first prices, in milliseconds. All of the demo's transactions are
/// younger.
const BEGUN_MS: u64 = 95 * DAY_MS;

/// Writes the demo data, unless the demo's first transaction already exists. Returns whether the data was
/// written. `origin` is the service's origin.
///
/// # Errors
/// If the development data is missing, or the store or the ledger fails.
pub async fn seed(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    now: &impl Clock,
    entropy: &impl Entropy,
    origin: &str,
) -> Result<bool> {
    let demo: Demo = serde_json::from_str(include_str!("demo.json"))?;
    development::seed_people(ledger, now).await?;
    adopt(store, ledger, now.now_ms()).await?; // the units of the development's teams
    for _ in 0..2 {
        republish(store, ledger, now, 10).await?; // what was changed before the last stop: write it, then see it
    }
    if is_there(store, ledger, &demo).await? {
        return Ok(false);
    }
    let clock = PastClock { now_ms: now.now_ms(), ago_ms: Cell::new(BEGUN_MS) };
    let past = Past { store, ledger, clock: &clock, entropy, origin };
    past.begin(&demo).await?;
    let placed = past.place_orders(&demo).await?;
    past.place_earlier(demo.earlier.as_order(), &demo.earlier.shop).await?;
    past.mark_paid(&demo, &placed).await?;
    published::compare_again(ledger).await?;
    Ok(true)
}

async fn is_there(store: &impl OperatorStore, ledger: &dyn Ledger, demo: &Demo) -> Result<bool> {
    let Some(shop) = demo.shops.first() else { return Ok(true) };
    let filter = TransactionFilter::of(&shop.scope);
    let of = (&filter, &SearchKey::Reference(shop.reference(0)));
    let found = transactions::find(store, ledger, of, &Direction::Newest, 1).await?;
    Ok(!found.transactions.is_empty())
}
