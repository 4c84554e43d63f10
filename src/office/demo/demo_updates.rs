//! Demo data: updates for the pledges of last month, so that timelines on a developer's machine show progress. They
//! must not be written to a deployed namespace.

use crate::office::audit::rule::Author;
use crate::office::shared::rows::port::Ledger;
use crate::office::shared::rule::error::Result;
use crate::office::shared::rule::operation_id::OperationId;
use crate::office::updates::rows::updates::Pledges;
use crate::office::updates::rule as updates;
use crate::office::updates::rule::NewUpdate;
use crate::pledges::scope::Mode;
use crate::pledges::service::{Clock, Entropy};
use crate::pledges::settlement::Month;
use crate::pledges::store::OperatorStore;
use crate::pledges::time::{DAY_MS, date_time, day_of};
use serde::Deserialize;

const BY: &str = "operator@small-hours.example";
/// Number of recent months that must have no updates. Otherwise, the demo's updates are not written.
const MONTHS: usize = 12;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DemoUpdate {
    offering: String,
    days_ago: u64,
    update: NewUpdate,
}

/// Publishes updates for last month's pledges of both modes, unless the last 12 months have updates. Returns whether they
/// were published.
pub async fn seed(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    clock: &impl Clock,
    entropy: &impl Entropy,
) -> Result<bool> {
    let demo: Vec<DemoUpdate> = serde_json::from_str(include_str!("demo_updates.json"))?;
    let months = Month::last(clock.now_ms(), MONTHS);
    let known = updates::list(ledger, None, &months, 1).await?;
    let Some(month) = months.get(1).filter(|_| known.updates.is_empty()) else { return Ok(false) };
    for mode in [Mode::Live, Mode::Test] {
        for DemoUpdate { offering, days_ago, update } in &demo {
            let pledges = Pledges { mode, month: *month, offering: offering.clone() };
            let day = date_time(clock.now_ms().saturating_sub(days_ago * DAY_MS));
            let new = NewUpdate { date: day_of(&day).to_owned(), ..update.clone() };
            publish(store, ledger, (clock, entropy), &pledges, &new).await?;
        }
    }
    Ok(true)
}

async fn publish(
    store: &impl OperatorStore,
    ledger: &dyn Ledger,
    (clock, entropy): (&impl Clock, &impl Entropy),
    pledges: &Pledges,
    new: &NewUpdate,
) -> Result<()> {
    let author = || -> Result<_> {
        let author = Author::new(BY, clock, entropy)?;
        Ok(author.with_operation(OperationId::new(clock, entropy)))
    };
    let added = updates::add(store, ledger, &author()?, (pledges, None), new).await?;
    let row = added.outcome.row;
    updates::publish(store, ledger, &author()?, (&row.id, row.revision)).await?;
    Ok(())
}
